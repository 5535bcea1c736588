// Sends requests by `wasi:http`, in a component.
import handler from 'wasi:http/outgoing-handler@0.2.0';
import types from 'wasi:http/types@0.2.0';

import { Denied, HttpError, Timeout, named } from './http-errors.js';
import { decode, encode } from './utf8.js';

// Bytes that are read, and written, at once.
const READ = 64 << 10;
const WRITTEN = 4096;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

// Codes of errors by what they mean; the words are those of the executor `http`.
const TIMEOUTS = {
  'DNS-timeout': 'timeout of asking for the address of {}',
  'connection-timeout': 'timeout of connecting to {}',
  'connection-read-timeout': 'timeout of waiting for the response of {}',
  'connection-write-timeout': 'timeout of sending to {}',
  'HTTP-response-timeout': 'timeout of the whole request to {}',
};
const CONNECTIONS = {
  'DNS-error': 'the name in {} is not known',
  'destination-not-found': 'the name in {} is not known',
  'destination-unavailable': 'no connection to {}: it cannot be reached',
  'destination-IP-unroutable': 'no connection to {}: there is no route to its address',
  'connection-refused': '{} refused the connection',
  'connection-terminated': '{} closed the connection before it responded',
  'HTTP-response-incomplete': 'the response of {} broke off',
};
const TLS = {
  'TLS-protocol-error': 'no TLS connection to {}: it speaks none, or no version that is spoken here',
  'TLS-certificate-error': 'the certificate is not trusted that {} shows',
  'TLS-alert-received': '{} refused the TLS connection',
};
const GRANTS = {
  'HTTP-request-denied': 'not sent',
  'destination-IP-prohibited': 'not sent: the address of {} is not granted',
  'connection-limit-reached': 'not sent: too many connections at once',
  'configuration-error': "not sent: the host's configuration does not allow it",
  'HTTP-request-body-size': 'more to send than this host allows',
  'HTTP-request-header-section-size': 'more to send than this host allows',
  'HTTP-response-body-size': 'more to read than this host allows',
  'HTTP-response-header-section-size': 'more to read than this host allows',
};

// A resource belongs to the host, which wants those that came from another one back before it.
function using(resource, work) {
  try {
    return work(resource);
  } finally {
    resource[Symbol.dispose]();
  }
}

// Sends a request and reads the response.
export function send(request) {
  const outgoing = outgoingOf(request);
  const body = outgoing.body();
  // The request belongs to the host from now on.
  const future = hostError(request, () => handler.handle(outgoing, optionsOf(request.timeout)));
  return using(future, () => {
    write(body, request.body);
    using(future.subscribe(), (ready) => ready.block());
    const response = hostError(request, () => unwrapped(future.get()));
    return using(response, () => read(request, response));
  });
}

function outgoingOf(request) {
  const { method, scheme, authority, target, body } = request;
  const hasLength = request.headers.some(([name]) => name.toLowerCase() === 'content-length');
  const headers = body.length && !hasLength ? [...request.headers, ['content-length', String(body.length)]] : request.headers;
  const refused = (what) => () => {
    throw new HttpError(`${named(request)}: ${what} cannot be sent`, { kind: 'input', retryable: false });
  };
  const names = headers.map(([name]) => `\`${name}\``).join(', ');
  const entries = headers.map(([name, value]) => [name, encode(value)]);
  const fields = attempt(() => types.Fields.fromList(entries), refused(`one of its headers ${names}`));
  const outgoing = new types.OutgoingRequest(fields);
  const known = METHODS.includes(method);
  attempt(() => {
    outgoing.setMethod(known ? { tag: method.toLowerCase() } : { tag: 'other', val: method });
    outgoing.setScheme({ tag: scheme.toUpperCase() });
    outgoing.setAuthority(authority);
    outgoing.setPathWithQuery(target);
  }, refused('its method or its address'));
  return outgoing;
}

function attempt(work, otherwise) {
  try {
    return work();
  } catch (error) {
    return otherwise(error);
  }
}

function optionsOf(seconds) {
  const options = new types.RequestOptions();
  const nanos = Math.min(Math.max(0, Math.round(seconds * 1e9)), Number.MAX_SAFE_INTEGER);
  for (const limit of ['setConnectTimeout', 'setFirstByteTimeout', 'setBetweenBytesTimeout']) {
    // A host that takes no timeouts has its own.
    attempt(() => options[limit](nanos), () => {});
  }
  return options;
}

// Sends the body. The response reports its errors.
function write(body, content) {
  attempt(
    () => {
      if (content.length) {
        using(body.write(), (stream) => {
          for (let at = 0; at < content.length; at += WRITTEN) {
            stream.blockingWriteAndFlush(content.subarray(at, at + WRITTEN));
          }
        });
      }
      types.OutgoingBody.finish(body, null);
    },
    () => {},
  );
}

function read(request, response) {
  const headers = {};
  using(response.headers(), (fields) => {
    for (const [given, value] of fields.entries()) {
      const name = given.toLowerCase();
      const text = attempt(() => decode(value), () => String.fromCharCode(...value));
      headers[name] = name in headers ? `${headers[name]}, ${text}` : text;
    }
  });
  const body = using(response.consume(), (incoming) => using(incoming.stream(), (stream) => readAll(request, stream)));
  return { status: response.status(), headers, body };
}

function readAll(request, stream) {
  const parts = [];
  let length = 0;
  for (;;) {
    const part = attempt(() => stream.blockingRead(READ), (error) => ended(request, error));
    if (!part) return joined(parts, length);
    parts.push(part);
    length += part.length;
    if (length > request.maxBody) {
      const what = `the body is larger than ${request.maxBody} bytes; \`maxBody\` sets the limit`;
      throw new HttpError(`${named(request)}: ${what}`, { kind: 'too_large', code: 2, retryable: false });
    }
  }
}

// Returns null at the end of a stream, and throws where it broke off.
function ended(request, thrown) {
  const error = valueOf(thrown);
  if (error?.tag === 'closed') return null;
  const cause = error?.val;
  const code = cause && types.httpErrorCode(cause);
  const why = cause ? cause.toDebugString() : String(thrown);
  cause?.[Symbol.dispose]();
  throw code ? errorOf(request, code) : new HttpError(`${named(request)}: the body broke off: ${why}`, { kind: 'connection' });
}

function joined(parts, length) {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// The error of a WIT function is thrown: as it stands, or as the payload of an exception.
const valueOf = (thrown) => thrown?.payload ?? thrown;

// The value of nested results; the error of one is thrown.
function unwrapped(result) {
  if (result?.tag === 'err') throw result.val;
  return result?.tag === 'ok' ? unwrapped(result.val) : result;
}

function hostError(request, work) {
  return attempt(work, (thrown) => {
    throw errorOf(request, valueOf(thrown));
  });
}

function errorOf(request, code) {
  const tag = code?.tag ?? String(code);
  const said = (words) => `${named(request)}: ${words.replace('{}', request.authority)}`;
  if (tag in CONNECTIONS) return new HttpError(said(CONNECTIONS[tag]), { kind: 'connection' });
  if (tag in TLS) return new HttpError(said(TLS[tag]), { kind: 'tls', retryable: false });
  if (tag in TIMEOUTS) return new Timeout(said(TIMEOUTS[tag]));
  if (tag in GRANTS) return new Denied(said(GRANTS[tag]));
  if (tag === 'HTTP-request-method-invalid' || tag === 'HTTP-request-URI-invalid') {
    return new HttpError(said('its method or its address cannot be sent'), { kind: 'input', retryable: false });
  }
  const more = typeof code?.val === 'string' ? `: ${code.val}` : '';
  return new HttpError(said(`${tag}${more}`), { kind: 'protocol' });
}
