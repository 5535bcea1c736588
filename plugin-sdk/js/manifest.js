#!/usr/bin/env node
// Prints the manifest of an executor as JSON: `phasm-manifest src/greet.js`. Name and version are those of package.json beside or above it.
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import './register.js';

const source = resolve(process.argv[2] ?? 'index.js');
const { execute } = await import(pathToFileURL(source));
if (typeof execute !== 'function') {
  console.error(`${source} exports no \`execute\`; expected \`export const execute = executor(…)\``);
  process.exit(1);
}
const { name, version, description } = await packageOf(dirname(source));
console.log(JSON.stringify({ name, version, description, ...execute.manifest }, null, 2));

async function packageOf(folder) {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null);
  if (text) return JSON.parse(text);
  const above = dirname(folder);
  return above === folder ? {} : packageOf(above);
}
