// The SDK of executors in JavaScript and TypeScript.
import * as host from 'phasm:executor/host@0.1.0';

import { isObject, readFields, schemaOf } from './types.js';

export { any, boolean, integer, list, map, number, object, oneOf, string } from './types.js';

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

function withError(detail, error) {
  const known = Object.fromEntries(Object.entries(error).filter(([, value]) => value !== undefined));
  return Object.keys(known).length ? { ...detail, error: { ...known, ...detail?.error } } : detail;
}

// Returns the `execute` that a component exports: `run` gets the call, and returns outputs, an outcome, or a promise of one.
//
// `about` has `description`, `inputs` and `outputs`: fields by name. Without `inputs` any are taken. They are the manifest.
export function executor(about, run) {
  const { inputs, outputs, description } = about;
  const isAsync = run.constructor.name === 'AsyncFunction';
  const begin = (invocation) => {
    const call = callOf(invocation);
    const problems = [];
    if (inputs) call.inputs = readFields(inputs, taken(inputs, call), (name) => `input \u0060${name}\u0060`, problems);
    return problems.length ? { refused: Outcome.error(problems.join('; '), { kind: 'input', retryable: false }) } : { call };
  };
  const result = (invocation) => {
    const { refused, call } = begin(invocation);
    return refused ?? run(call);
  };
  const now = (invocation) => {
    try {
      return written(result(invocation));
    } catch (error) {
      return written(outcomeOf(error));
    }
  };
  const later = (invocation) => Promise.resolve(invocation).then(result).then(written).catch((error) => written(outcomeOf(error)));
  const execute = isAsync ? later : now;
  execute.manifest = {
    ...(description ? { description } : {}),
    ...(inputs ? { inputs: schemaOf(inputs) } : {}),
    ...(outputs ? { outputs: schemaOf(outputs) } : {}),
  };
  return execute;
}

// Inputs, and what `executor.config` has of those that the task does not give. Settings that are no inputs stay there.
function taken(inputs, { inputs: given, config }) {
  const settings = Object.entries(config).filter(([name]) => Object.hasOwn(inputs, name));
  return { ...Object.fromEntries(settings), ...given };
}

function callOf(invocation) {
  const { inputs, config, remainingMs, ...others } = invocation;
  return {
    ...others,
    // An engine gives a bigint or a number.
    remaining: remainingMs === undefined || remainingMs === null ? null : Number(remainingMs),
    config: JSON.parse(config),
    inputs: Object.fromEntries(inputs.map(({ name, value }) => [name, JSON.parse(value)])),
    log: (text, level = 'info') => host.log(level, String(text)),
    progress: (fraction, text = '') => host.progress(fraction ?? undefined, text),
    heartbeat: () => host.heartbeat(),
  };
}

// The outcome of an exception. Its trace goes to the log.
function outcomeOf(error) {
  if (error instanceof Failure) return error.outcome;
  const name = error?.name ?? 'Error';
  const message = error?.message ?? String(error);
  if (error?.stack) host.log('warn', `${name}: ${message}\n${error.stack}`);
  return Outcome.error(`${name}: ${message}`, { kind: name });
}

function written(returned) {
  const outcome = returned instanceof Outcome ? returned : Outcome.succeeded(returned ?? {});
  if (!isObject(outcome.outputs)) {
    return written(Outcome.error('the executor returned no object of outputs', { kind: 'output', retryable: false }));
  }
  const outputs = Object.entries(outcome.outputs).filter(([, value]) => value !== undefined);
  return {
    code: outcome.code,
    message: outcome.message,
    outputs: outputs.map(([name, value]) => ({ name, value: JSON.stringify(value) })),
    detail: outcome.detail && JSON.stringify(outcome.detail),
  };
}
