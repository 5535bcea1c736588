import assert from 'node:assert/strict';
import { test } from 'node:test';

import { executor, http, string } from '../index.js';
import { call } from '../testing.js';
import { decode, encode } from '../utf8.js';

const fetchText = executor({ inputs: { url: string() } }, ({ inputs }) => {
  const response = http.get(inputs.url, { headers: { accept: 'text/plain' } }).orThrow();
  return { text: response.text(), type: response.headers['content-type'] };
});

const answer = (status, body = '', headers = {}) => ({ http: () => new http.Response(status, headers, body) });

test('a request has its parts, and a response its text', async () => {
  const found = await call(fetchText, { url: 'HTTPS://example.org:8443/a b/ü?q=ä&x=%20#part' }, answer(200, 'gr\u00fc\u00df 🐘', { 'Content-Type': 'text/plain' }));
  assert.deepEqual(found.outputs, { text: 'grüß 🐘', type: 'text/plain' });
  const [{ method, url, scheme, authority, target, headers, timeout }] = found.requests;
  assert.deepEqual([method, scheme, authority], ['GET', 'https', 'example.org:8443']);
  assert.equal(target, '/a%20b/%C3%BC?q=%C3%A4&x=%20');
  assert.equal(url, `https://example.org:8443${target}`);
  assert.deepEqual([headers, timeout], [[['accept', 'text/plain']], 30]);
});

test('a body is sent as JSON, text or bytes', async () => {
  const send = executor({}, () => {
    http.post('http://h/x', { json: { a: 'ü' } });
    http.put('http://h/', { body: 'text', headers: { 'Content-Type': 'text/csv' } });
    http.request('patch', 'http://h', { body: Uint8Array.of(0, 255) });
    http.delete('http://h/y');
  });
  const { requests, code } = await call(send, {}, answer(204));
  assert.equal(code, 0);
  assert.deepEqual(requests.map(({ method, target }) => `${method} ${target}`), ['POST /x', 'PUT /', 'PATCH /', 'DELETE /y']);
  assert.deepEqual([decode(requests[0].body), requests[0].headers], ['{"a":"ü"}', [['content-type', 'application/json']]]);
  assert.deepEqual([decode(requests[1].body), requests[1].headers], ['text', [['Content-Type', 'text/csv']]]);
  assert.deepEqual([...requests[2].body], [0, 255]);
});

test('errors are outcomes: a request that is not granted, a status, a body that is none', async () => {
  const denied = await call(fetchText, { url: 'http://h/x?secret=1' });
  assert.deepEqual([denied.code, denied.detail.error], [3, { kind: 'grant', retryable: false }]);
  assert.ok(denied.message.startsWith('GET http://h/x: not sent') && !denied.message.includes('secret'));
  const rows = [
    [404, 2, { kind: 'client_error', retryable: false, code: 404 }],
    [429, 3, { kind: 'rate_limit', retryable: true, code: 429 }],
    [503, 3, { kind: 'server_error', retryable: true, code: 503 }],
    [302, 2, { kind: 'redirect', retryable: false, code: 302 }],
  ];
  for (const [status, code, error] of rows) {
    const found = await call(fetchText, { url: 'http://h/' }, answer(status, '', { 'Retry-After': '1' }));
    assert.deepEqual([found.code, found.message, found.detail.error], [code, `GET http://h/: status ${status}`, error]);
    assert.deepEqual(found.detail.http, { status, headers: { 'retry-after': '1' } });
  }
  const binary = await call(fetchText, { url: 'http://h/' }, answer(200, Uint8Array.of(65, 0xff)));
  assert.deepEqual([binary.code, binary.message], [2, 'GET http://h/: the body is not UTF-8: not UTF-8 at byte 1']);
  const json = executor({}, () => ({ a: http.get('http://h/').json() }));
  assert.equal((await call(json, {}, answer(200, '{'))).detail.error.kind, 'parse');
  for (const url of ['ftp://h/', 'http://user@h/', '/x', '']) {
    assert.equal((await call(fetchText, { url }, answer(200))).detail.error.kind, 'input', url);
  }
});

test('an exception of the author’s own may be caught', async () => {
  const lenient = executor({}, () => {
    try {
      http.get('http://h/').orThrow();
    } catch (error) {
      return { status: error.response.status, is: error instanceof http.HttpError && error instanceof http.StatusError };
    }
  });
  assert.deepEqual((await call(lenient, {}, answer(500))).outputs, { status: 500, is: true });
});

test('UTF-8 is that of Node.js', () => {
  for (const text of ['', 'a', 'ü€🐘', '\u0000\u07ff\u0800\uffff\u{10000}\u{10ffff}', 'x🐘'.repeat(5000)]) {
    assert.deepEqual([...encode(text)], [...new TextEncoder().encode(text)]);
    assert.equal(decode(encode(text)), text);
  }
  assert.deepEqual([...encode('\ud800x')], [...new TextEncoder().encode('\ud800x')]);
  const broken = [[0x80], [0xc1, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3], [0xe2, 0x82]];
  for (const bytes of broken) assert.throws(() => decode(Uint8Array.from([65, ...bytes])), /byte 1/, String(bytes));
});
