// Errors of HTTP requests.
import { ERROR, Outcome, TIMEOUT, withError } from './outcome.js';

// A request without a usable response. If it is not caught, it is the attempt's outcome.
export class HttpError extends Error {
  constructor(message, { kind, code = ERROR, retryable = true, detail, errorCode } = {}) {
    super(message);
    this.name = new.target.name;
    this.outcome = new Outcome(code, message, {}, withError(detail, { kind, retryable, code: errorCode }));
  }
}

// A request that the operator has not granted, or one beyond a limit of the host; it was not sent.
export class Denied extends HttpError {
  constructor(message) {
    super(message, { kind: 'grant', retryable: false });
  }
}

// A request that took too long.
export class Timeout extends HttpError {
  constructor(message) {
    super(message, { kind: 'timeout', code: TIMEOUT });
  }
}

// The method and the address, without a query, which may have secrets.
export function named(request) {
  return request ? `${request.method} ${request.url.split('?')[0]}` : 'response';
}
