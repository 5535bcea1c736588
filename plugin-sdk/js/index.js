// The SDK of executors in JavaScript and TypeScript.
import * as host from 'phasm:executor/host@0.1.0';

import { beginCalls, console } from './console.js';
import { Failure, Outcome } from './outcome.js';
import { isObject, readFields, schemaOf } from './types.js';

export * as http from './http.js';
export { ERROR, FAILED, Failure, Outcome, SUCCEEDED, SUSPENDED, TIMEOUT } from './outcome.js';
export { any, boolean, integer, list, map, number, object, oneOf, string } from './types.js';

// The engine has none; packages expect one.
globalThis.console ??= console;

// Returns the `execute` that a component exports: `run` gets the call, and returns outputs or an outcome.
//
// `about` has `description`, `inputs` and `outputs`: fields by name. Without `inputs` any are taken. They are the manifest, with the
// members of POLICIES as they stand.
export function executor(about, run) {
  const { inputs, outputs, description } = about;
  // The engine runs no jobs after a call: what is awaited would never come.
  if (run.constructor.name === 'AsyncFunction') throw new TypeError(`executor: expected a function that is not async; ${WITHOUT_PROMISES}`);
  const begin = (invocation) => {
    const call = callOf(invocation);
    const problems = [];
    if (inputs) call.inputs = readFields(inputs, taken(inputs, call), (name) => `input \u0060${name}\u0060`, problems);
    return problems.length ? { refused: Outcome.error(problems.join('; '), { kind: 'input', retryable: false }) } : { call };
  };
  const execute = (invocation) => {
    beginCalls();
    try {
      const { refused, call } = begin(invocation);
      return written(refused ?? run(call));
    } catch (error) {
      return written(outcomeOf(error));
    }
  };
  execute.manifest = {
    ...(description ? { description } : {}),
    ...(inputs ? { inputs: schemaOf(inputs) } : {}),
    ...(outputs ? { outputs: schemaOf(outputs) } : {}),
    ...Object.fromEntries(POLICIES.filter((name) => about[name] !== undefined).map((name) => [name, about[name]])),
  };
  return execute;
}

const WITHOUT_PROMISES = 'a component waits for no promise, and requests of `http` return their response';

// The grants that an executor asks for, policies of tasks that have none of their own, as in a workflow, and what its tests need.
const POLICIES = ['wants', 'retry', 'maxRuntime', 'maxInactivity', 'deadline', 'limits', 'suspends', 'codes', 'deterministic', 'examples'];

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

// The outcome of an exception. The trace of one that nothing expected goes to the log.
function outcomeOf(error) {
  if (error?.outcome instanceof Outcome) return error.outcome;
  const name = error?.name ?? 'Error';
  const message = error?.message ?? String(error);
  host.log('warn', [`${name}: ${message}`, ...framesOf(error?.stack)].join('\n'));
  return Outcome.error(`${name}: ${message}`, { kind: name });
}

// The frames of a trace, with lines of the author's files: the builder leaves in the component which lines of the bundle these are.
function framesOf(stack) {
  const frames = String(stack ?? '').split('\n').filter((line) => /^\s*at /.test(line));
  const placed = frames.map((line) => line.replace(/\/bundle\.mjs:(\d+)(:\d+)?/, (_, line) => placeOf(Number(line))));
  return placed.filter((line) => !line.includes(SDK_PLACE));
}

const SDK_PLACE = '[phasm-sdk]';

function placeOf(line) {
  const { files = [], parts = [] } = globalThis.phasmLines ?? {};
  const part = parts.findLast(([first]) => first <= line);
  // Lines of the SDK have no file.
  return part && files[part[1]] ? `${files[part[1]]}:${part[2] + line - part[0]}` : SDK_PLACE;
}

function written(returned) {
  if (typeof returned?.then === 'function') {
    return written(Outcome.error(`the executor returned a promise; ${WITHOUT_PROMISES}`, { kind: 'output', retryable: false }));
  }
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
