import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Failure, Outcome, any, boolean, executor, integer, list, map, number, object, oneOf, string } from '../index.js';
import { call } from '../testing.js';

const greet = executor(
  { description: 'Greets', inputs: { name: string('Who.'), times: integer('How often.', { minimum: 0 }).optional(1) }, outputs: { greeting: string() } },
  ({ inputs, log, progress }) => {
    log(`greeting ${inputs.name}`);
    progress(0.5, 'half way');
    return { greeting: Array(inputs.times).fill(`Hello, ${inputs.name}!`).join(' ') };
  },
);

test('outputs are what the function returns', async () => {
  const found = await call(greet, { name: 'Ada', times: 2 });
  assert.deepEqual(found.outputs, { greeting: 'Hello, Ada! Hello, Ada!' });
  assert.deepEqual([found.code, found.log, found.progress], [0, [{ level: 'info', text: 'greeting Ada' }], [{ fraction: 0.5, text: 'half way' }]]);
});

test('an input that the task does not give is looked up in the configuration', async () => {
  assert.equal((await call(greet, {}, { config: { name: 'Bob', other: 1 } })).outputs.greeting, 'Hello, Bob!');
});

test('all inputs that do not fit are named, and nothing is run', async () => {
  const found = await call(greet, { name: 1, times: -1, nmae: 'x' });
  assert.equal(found.code, 3);
  assert.deepEqual(found.detail, { error: { kind: 'input', retryable: false } });
  assert.equal(
    found.message,
    'input `nmae`: there is no such field; expected name, times; input `name`: expected a string, got number 1; ' +
      'input `times`: expected a whole number, at least 0, got number -1',
  );
  assert.deepEqual(found.log, []);
});

test('numbers that JavaScript would round are refused', async () => {
  const count = executor({ inputs: { n: integer() } }, ({ inputs }) => ({ n: inputs.n }));
  assert.equal((await call(count, { n: 2 ** 53 })).code, 3);
  assert.equal((await call(count, { n: 1.5 })).code, 3);
  assert.equal((await call(count, { n: 2 ** 53 - 1 })).code, 0);
});

test('types have schemas, and read what is inside', async () => {
  const inputs = {
    urls: list(string()),
    method: oneOf(['GET', 'POST']).optional('GET'),
    headers: map(string()).optional(),
    proxy: object({ host: string(), port: integer().optional(8080) }).optional(),
    ratio: number('', { maximum: 1 }).optional(),
    strict: boolean().optional(),
    rest: any(),
  };
  const echo = executor({ inputs }, (one) => ({ ...one.inputs }));
  assert.deepEqual(echo.manifest.inputs.required, ['urls', 'rest']);
  assert.deepEqual(echo.manifest.inputs.properties.method, { enum: ['GET', 'POST', null], default: 'GET' });
  assert.deepEqual(echo.manifest.inputs.properties.headers, { type: ['object', 'null'], additionalProperties: { type: 'string' } });
  const found = await call(echo, { urls: ['a'], proxy: { host: 'h' }, rest: 1 });
  assert.deepEqual(found.outputs, { urls: ['a'], method: 'GET', headers: null, proxy: { host: 'h', port: 8080 }, ratio: null, strict: null, rest: 1 });
  const wrong = await call(echo, { urls: [1], method: 'PUT', headers: { a: 1 }, proxy: { port: 'x' }, ratio: 2, strict: 'no', rest: 1 });
  const parts = ['input `urls`[0]', 'input `method`: expected "GET" or "POST"', 'input `headers`.a', 'input `proxy`.host: expected a string, got nothing'];
  for (const part of [...parts, 'input `proxy`.port', 'input `ratio`: expected a number, at most 1', 'input `strict`']) {
    assert.ok(wrong.message.includes(part), `${part}: ${wrong.message}`);
  }
});

test('exceptions are code 3 with their class, failures code 2, and the trace is in the log', async () => {
  const broken = executor({}, () => null.field);
  const found = await call(broken);
  assert.equal(found.code, 3);
  assert.equal(found.detail.error.kind, 'TypeError');
  assert.equal(found.log[0].level, 'warn');
  const failing = executor({}, () => {
    throw new Failure('2 of 3 tests failed', { kind: 'tests', outputs: { failed: 2 } });
  });
  const failed = await call(failing);
  assert.deepEqual([failed.code, failed.message, failed.outputs], [2, '2 of 3 tests failed', { failed: 2 }]);
  assert.deepEqual(failed.detail, { error: { kind: 'tests' } });
});

test('an attempt suspends itself and is resumed', async () => {
  const ask = executor({}, ({ resumed, inputs }) => (resumed ? { said: inputs.answer } : Outcome.suspended('well?', { asked: true })));
  const first = await call(ask);
  assert.deepEqual([first.code, first.message, first.outputs], [1, 'well?', { asked: true }]);
  assert.deepEqual((await call(ask, { answer: 'yes' }, { resumed: true })).outputs, { said: 'yes' });
});

test('promises are refused, as a component waits for none', async () => {
  assert.throws(() => executor({}, async () => ({})), /expected a function that is not async/);
  const late = await call(executor({}, () => Promise.resolve({ done: true })));
  assert.deepEqual([late.code, late.detail.error.kind], [3, 'output']);
  assert.match(late.message, /returned a promise/);
});

test('what is no object of outputs is an error, and undefined outputs are left out', async () => {
  assert.equal((await call(executor({}, () => 5))).detail.error.kind, 'output');
  assert.deepEqual((await call(executor({}, () => ({ a: undefined, b: null })))).outputs, { b: null });
});

test('the time that is left is a number of milliseconds', async () => {
  const left = executor({}, ({ remaining, attempt, idempotencyKey }) => ({ remaining, attempt, idempotencyKey }));
  assert.deepEqual((await call(left, {}, { remainingMs: 1500n, attempt: 2 })).outputs, { remaining: 1500, attempt: 2, idempotencyKey: 'key' });
  assert.equal((await call(left)).outputs.remaining, null);
});

test('a trace has lines of the author’s files, and no frames of the SDK', async () => {
  globalThis.phasmLines = { files: ['', 'greet.ts'], parts: [[1, 0, 1], [100, 1, 20]] };
  const error = new TypeError('no');
  error.stack = '    at greet (/bundle.mjs:103:9)\n    at guarded (/bundle.mjs:50:1)\n    at native\n';
  const found = await call(executor({}, () => { throw error; }));
  delete globalThis.phasmLines;
  assert.deepEqual(found.log, [{ level: 'warn', text: 'TypeError: no\n    at greet (greet.ts:23)\n    at native' }]);
});

test('a manifest has the grants and policies that the declaration names', () => {
  const { manifest } = executor({ wants: { http: ['GET https://h/*'] }, retry: { attempts: 3 }, other: 1 }, () => {});
  assert.deepEqual(manifest, { wants: { http: ['GET https://h/*'] }, retry: { attempts: 3 } });
});

test('console of the engine writes to the log, once there is a host', async () => {
  const { beginCalls, console } = await import('../console.js');
  console.log('while the component is made');
  const found = await call(executor({}, () => {
    beginCalls();
    console.warn('a', { b: 1 }, new RangeError('no'), undefined);
  }));
  assert.deepEqual(found.log, [{ level: 'warn', text: 'a {"b":1} RangeError: no undefined' }]);
});
