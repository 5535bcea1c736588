// Results of attempts.

// Codes of outcomes.
export const SUCCEEDED = 0;
export const SUSPENDED = 1;
export const FAILED = 2;
export const ERROR = 3;
export const TIMEOUT = 4;

// The result of an attempt. Functions return one, or an object of outputs, or nothing.
export class Outcome {
  constructor(code, message = '', outputs = {}, detail = undefined) {
    Object.assign(this, { code, message, outputs, detail });
  }

  static succeeded(outputs = {}, message = '') {
    return new Outcome(SUCCEEDED, message, outputs);
  }

  // Waits for a response; the attempt is then called again with the response among its inputs, and `call.resumed`.
  static suspended(message = '', outputs = {}) {
    return new Outcome(SUSPENDED, message, outputs);
  }

  // The work was done, and its result is a failure: `retry` without a condition does not try again.
  static failed(message, { kind, detail, outputs } = {}) {
    return new Outcome(FAILED, message, outputs, withError(detail, { kind }));
  }

  // The work could not be done.
  static error(message, { kind = 'error', retryable, detail, outputs } = {}) {
    return new Outcome(ERROR, message, outputs, withError(detail, { kind, retryable }));
  }
}

// An exception that ends the attempt with an outcome.
export class Failure extends Error {
  constructor(message, options = {}) {
    super(message);
    this.name = 'Failure';
    this.outcome = Outcome.failed(message, options);
  }
}

export function withError(detail, error) {
  const known = Object.fromEntries(Object.entries(error).filter(([, value]) => value !== undefined));
  return Object.keys(known).length ? { ...detail, error: { ...known, ...detail?.error } } : detail;
}
