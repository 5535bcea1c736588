// HTTP requests. The operator grants each of them; redirects are not followed.
import { HttpError, named } from './http-errors.js';
import { ERROR, FAILED } from './outcome.js';
import { decode, encode } from './utf8.js';
import { send as sendByHost } from './wasi-http.js';

export { Denied, HttpError, Timeout, named } from './http-errors.js';

// Bytes of a body, unless a request sets another limit.
export const MAX_BODY = 4 << 20;
// Seconds of waiting for a connection, for the response, and between its parts, unless a request sets others.
export const TIMEOUT_SECONDS = 30;

// A response whose status is no success; `response` is the response.
export class StatusError extends HttpError {
  constructor(response) {
    const { status, headers } = response;
    const [kind, retryable] = KINDS[status] ?? KINDS[Math.trunc(status / 100)] ?? ['protocol', false];
    super(`${named(response.request)}: status ${status}`, {
      kind,
      retryable,
      code: retryable ? ERROR : FAILED,
      errorCode: status,
      detail: { http: { status, headers } },
    });
    this.response = response;
  }
}

// By status, else by its first digit: the kind of error, and whether another attempt may succeed.
const KINDS = {
  401: ['auth', false],
  403: ['auth', false],
  407: ['auth', false],
  408: ['timeout', true],
  425: ['client_error', true],
  429: ['rate_limit', true],
  501: ['server_error', false],
  505: ['server_error', false],
  3: ['redirect', false],
  4: ['client_error', false],
  5: ['server_error', true],
};

// A response with its body.
export class Response {
  constructor(status, headers = {}, body = new Uint8Array(), request = undefined) {
    this.status = status;
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
    this.body = bytesOf(body);
    this.request = request;
  }

  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  text() {
    return this.#read('UTF-8', () => decode(this.body));
  }

  json() {
    const text = this.text();
    return this.#read('JSON', () => JSON.parse(text));
  }

  // Returns the response, or throws a StatusError unless it is a success.
  orThrow() {
    if (!this.ok) throw new StatusError(this);
    return this;
  }

  #read(form, read) {
    try {
      return read();
    } catch (error) {
      throw new HttpError(`${named(this.request)}: the body is not ${form}: ${error.message}`, {
        kind: 'parse',
        code: FAILED,
        retryable: false,
      });
    }
  }
}

let send = sendByHost;

// Replaces the function that sends requests, and returns the one before: for tests.
export function use(other) {
  const before = send;
  send = other;
  return before;
}

// Sends a request and waits for the whole response, whatever its status.
//
// Throws Denied for a request that is not granted, Timeout, or another HttpError.
export function request(method, url, { headers = {}, body, json, timeout = TIMEOUT_SECONDS, maxBody = MAX_BODY } = {}) {
  if (body !== undefined && json !== undefined) throw new TypeError('a request has one body; expected either `body` or `json`');
  const given = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  if (json !== undefined && !given.some(([name]) => name.toLowerCase() === 'content-type')) {
    given.push(['content-type', 'application/json']);
  }
  const content = bytesOf(json === undefined ? (body ?? '') : JSON.stringify(json));
  const sent = { method: method.toUpperCase(), ...addressOf(url), headers: given, body: content, timeout, maxBody };
  const response = send(sent);
  return new Response(response.status, response.headers, response.body, sent);
}

export const get = (url, options) => request('GET', url, options);
export const post = (url, options) => request('POST', url, options);
export const put = (url, options) => request('PUT', url, options);
const del = (url, options) => request('DELETE', url, options);
export { del as delete };

function bytesOf(body) {
  if (typeof body === 'string') return encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('a body is a text or bytes; expected a string or a Uint8Array');
}

const ADDRESS = /^(https?):\/\/([^/?#@\s\\]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/is;

// The parts of an address, with characters that no address may have written as %XX.
function addressOf(url) {
  const parts = ADDRESS.exec(url);
  if (!parts) {
    const shown = String(url).split('?')[0].slice(0, 200);
    throw new HttpError(`\`${shown}\`: expected http://HOST/PATH or https://HOST/PATH`, { kind: 'input', retryable: false });
  }
  const [, scheme, authority, path = '/', query = ''] = parts;
  const quoted = (text) => text.replace(/[^A-Za-z0-9%/:=&?~+!$,;'@()*[\]._-]/gu, (one) => percents(one));
  const target = quoted(path) + quoted(query);
  return { url: `${scheme.toLowerCase()}://${authority}${target}`, scheme: scheme.toLowerCase(), authority, target };
}

function percents(character) {
  return [...encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
