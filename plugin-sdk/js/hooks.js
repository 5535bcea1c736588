// Hooks of Node.js's loader: functions of the host are those of the double, and TypeScript loses its types.
import { readFile } from 'node:fs/promises';
import * as modules from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const DOUBLE = new URL('./host-double.js', import.meta.url).href;
const NO_HTTP = new URL('./http-double.js', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier.startsWith('phasm:executor/host@')) return { url: DOUBLE, shortCircuit: true };
  if (specifier.startsWith('wasi:http/')) return { url: NO_HTTP, shortCircuit: true };
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !/\.m?ts$/.test(url)) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  return { format: 'module', shortCircuit: true, source: await withoutTypes(source, url) };
}

async function withoutTypes(source, url) {
  const path = projectsEsbuild(url);
  if (path) {
    const { default: esbuild } = await import(pathToFileURL(path));
    const { code } = await esbuild.transform(source, { loader: 'ts', sourcemap: 'inline', sourcefile: fileURLToPath(url) });
    return code;
  }
  if (modules.stripTypeScriptTypes) return modules.stripTypeScriptTypes(source);
  throw new Error('Node.js runs TypeScript from version 22.13 on; run `npm install`, or add the package esbuild to `devDependencies`');
}

function projectsEsbuild(url) {
  try {
    return modules.createRequire(url).resolve('esbuild');
  } catch {
    return null;
  }
}
