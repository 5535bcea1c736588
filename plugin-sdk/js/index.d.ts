// Types of the SDK. The types of inputs are those that their declaration says.
export * as http from './http.js';

declare global {
  /** Writes lines of the task's log. */
  interface Console {
    debug(...values: any[]): void;
    error(...values: any[]): void;
    info(...values: any[]): void;
    log(...values: any[]): void;
    trace(...values: any[]): void;
    warn(...values: any[]): void;
  }
  var console: Console;
}

/** A type of an input or output. */
export interface Type<T> {
  readonly schema: object;
  /** The type of a value that may be absent: it is then `value`, or null. */
  optional(): OptionalType<T | null>;
  optional(value: T): OptionalType<T>;
}
export interface OptionalType<T> extends Type<T> {
  readonly isOptional: true;
}
export type Fields = Record<string, Type<any>>;
/** The value of a type. */
export type Value<T> = T extends Type<infer V> ? V : never;
/** The values of fields. */
export type Values<F extends Fields> = { [K in keyof F]: Value<F[K]> };

export interface Bounds {
  minimum?: number;
  maximum?: number;
}
export function string(description?: string): Type<string>;
export function boolean(description?: string): Type<boolean>;
export function number(description?: string, bounds?: Bounds): Type<number>;
/** A whole number up to 2^53; others are refused, never rounded. */
export function integer(description?: string, bounds?: Bounds): Type<number>;
export function any(description?: string): Type<unknown>;
export function oneOf<const V extends readonly (string | number | boolean)[]>(values: V, description?: string): Type<V[number]>;
export function list<T>(of: Type<T>, description?: string): Type<T[]>;
export function map<T>(of: Type<T>, description?: string): Type<Record<string, T>>;
export function object<F extends Fields>(fields: F, description?: string): Type<Values<F>>;

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** One dispatch of one attempt of a task. */
export interface Call<I> {
  inputs: I;
  /** `executor.config` of the task. */
  config: Record<string, unknown>;
  runId: string;
  workflow: string;
  namespace: string;
  taskRunId: string;
  task: string;
  /** Counts attempts, from 1; a resumed attempt keeps its number. */
  attempt: number;
  /** Counts dispatches, from 1; a resume is a new one. */
  dispatch: number;
  /** Whether this attempt was suspended and is called again. */
  resumed: boolean;
  /** Milliseconds until the earliest deadline; null where nothing bounds it. */
  remaining: number | null;
  /** The same for every execution of this dispatch, also after a crash. */
  idempotencyKey: string;
  log(text: string, level?: Level): void;
  /** A fraction from 0 to 1, or null where it is not known. */
  progress(fraction: number | null, text?: string): void;
  /** Says that the work continues. */
  heartbeat(): void;
}

export interface FailureOptions {
  /** A word that rules compare: `error.kind`. */
  kind?: string;
  detail?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}
export interface ErrorOptions extends FailureOptions {
  retryable?: boolean;
}

export const SUCCEEDED: 0;
export const SUSPENDED: 1;
export const FAILED: 2;
export const ERROR: 3;
export const TIMEOUT: 4;

/** The result of an attempt. */
export class Outcome {
  constructor(code: number, message?: string, outputs?: Record<string, unknown>, detail?: Record<string, unknown>);
  readonly code: number;
  readonly message: string;
  readonly outputs: Record<string, unknown>;
  readonly detail?: Record<string, unknown>;
  static succeeded(outputs?: Record<string, unknown>, message?: string): Outcome;
  /** Waits for a response; the attempt is then called again with the response among its inputs, and `call.resumed`. */
  static suspended(message?: string, outputs?: Record<string, unknown>): Outcome;
  /** The work was done, and its result is a failure. */
  static failed(message: string, options?: FailureOptions): Outcome;
  /** The work could not be done. */
  static error(message: string, options?: ErrorOptions): Outcome;
}

/** An exception that ends the attempt with code 2. */
export class Failure extends Error {
  constructor(message: string, options?: FailureOptions);
  readonly outcome: Outcome;
}

export interface About<I extends Fields, O extends Fields> {
  description?: string;
  /** Without them any are taken. */
  inputs?: I;
  outputs?: O;
  /** The grants that it asks for. */
  wants?: { http?: string[]; [grant: string]: unknown };
  /** Policies of tasks that have none of their own, as in a workflow. */
  retry?: Record<string, unknown>;
  maxRuntime?: string | number;
  maxInactivity?: string | number;
  deadline?: Record<string, unknown>;
  limits?: Record<string, unknown>;
  /** Whether its attempts may wait for people. */
  suspends?: boolean;
  /** The codes that it returns, with their meanings. */
  codes?: { code: number; meaning: string }[];
  /** Whether the same inputs always have the same outcome. */
  deterministic?: boolean;
  /** Calls that `phasm plugin test` makes. */
  examples?: Example[];
}

/** A call, and what has to come of it. */
export interface Example {
  name?: string;
  inputs?: Record<string, unknown>;
  settings?: Record<string, unknown>;
  /** The response, if the attempt suspends itself. */
  response?: Record<string, unknown>;
  /** 0 without it. */
  code?: number;
  /** Outputs that it has to have, among others. */
  outputs?: Record<string, unknown>;
  /** A part of its message. */
  message?: string;
}
type Returned<O extends Fields> = Values<O> | Outcome | void;
export interface Executor {
  (invocation: unknown): unknown;
  readonly manifest: { description?: string; inputs?: object; outputs?: object };
}
/** Returns the `execute` that a component exports. */
export function executor<I extends Fields = Record<string, Type<any>>, O extends Fields = Record<string, Type<any>>>(
  about: About<I, O>,
  run: (call: Call<Values<I>>) => Returned<O>,
): Executor;
