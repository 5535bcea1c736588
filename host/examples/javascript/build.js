import { readFile, writeFile } from 'node:fs/promises';
import { componentize } from '@bytecodealliance/componentize-js';

const { component } = await componentize(await readFile('greet.js', 'utf8'), {
  witPath: 'sdk/wit',
  worldName: 'executor',
  disableFeatures: ['http', 'fetch-event'],
});
await writeFile('greet.wasm', component);
