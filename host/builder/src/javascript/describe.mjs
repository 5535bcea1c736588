// Imports a bundle as Node.js does, with a double of the host: `node describe.mjs BUNDLE SDK MANIFEST LINES`.
// Writes the manifest that the executor declares, and which lines of the bundle come from which files.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { register, SourceMap } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const DOUBLE = 'data:text/javascript,export const log=()=>{},progress=log,heartbeat=log;export default {};';
const HOOK = `export const resolve = (specifier, context, next) =>
  /^(phasm|wasi):/.test(specifier) ? { url: ${JSON.stringify(DOUBLE)}, shortCircuit: true } : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

const [bundle, sdk, manifest, lines] = process.argv.slice(2);
writeFileSync(lines, JSON.stringify(linesOf(bundle, realpathSync(sdk) + sep)));
const { execute } = await import(pathToFileURL(resolve(bundle)));
if (typeof execute !== 'function') {
  console.error('it exports no `execute`; expected `export const execute = executor({ inputs, outputs }, ({ inputs }) => …)`');
  process.exit(1);
}
writeFileSync(manifest, JSON.stringify(execute.manifest ?? {}));
// A timer or a connection that the module has opened keeps nothing waiting.
process.exit(0);

// The first line of each part of the bundle with its file and its line there: within a part, lines follow each other.
// Lines of the SDK have no file.
function linesOf(bundle, sdk) {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  const count = readFileSync(bundle, 'utf8').split('\n').length;
  const files = [];
  const parts = [];
  let last = {};
  for (let line = 0; line < count; line += 1) {
    const entry = map.findEntry(line, Number.MAX_SAFE_INTEGER);
    if (entry.generatedLine !== line || !entry.originalSource) continue;
    const path = resolve(dirname(realpathSync(bundle)), entry.originalSource);
    const file = path.startsWith(sdk) ? '' : relative(realpathSync('.'), path).replaceAll('\\', '/');
    const ahead = file ? entry.originalLine - line : 0;
    if (file !== last.file || ahead !== last.ahead) {
      if (!files.includes(file)) files.push(file);
      parts.push([line + 1, files.indexOf(file), entry.originalLine + 1]);
      last = { file, ahead };
    }
  }
  return { files, parts };
}
