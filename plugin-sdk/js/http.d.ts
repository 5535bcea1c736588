// HTTP requests. The operator grants each of them; redirects are not followed.

export const MAX_BODY: number;
export const TIMEOUT_SECONDS: number;

export interface RequestOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array | ArrayBuffer;
  /** A value that is sent as JSON, instead of `body`. */
  json?: unknown;
  /** Seconds of waiting for a connection, for the response, and between its parts; 30 by default. */
  timeout?: number;
  /** Bytes of the response's body; 4 MiB by default. */
  maxBody?: number;
}

/** A request as it is sent. */
export interface Request {
  readonly method: string;
  readonly url: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: [name: string, value: string][];
  readonly body: Uint8Array;
  readonly timeout: number;
  readonly maxBody: number;
}

/** A response with its body. */
export class Response {
  constructor(status: number, headers?: Record<string, string>, body?: string | Uint8Array);
  readonly status: number;
  /** Names are in lower case; several values of a name are joined by a comma. */
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  readonly request?: Request;
  /** Whether the status is a success, 200 to 299. */
  readonly ok: boolean;
  text(): string;
  json(): any;
  /** Returns the response, or throws a `StatusError` unless it is a success. */
  orThrow(): this;
}

/** A request without a usable response. If it is not caught, it is the attempt's outcome. */
export class HttpError extends Error {}
/** A request that the operator has not granted, or one beyond a limit of the host; it was not sent. */
export class Denied extends HttpError {}
/** A request that took too long. */
export class Timeout extends HttpError {}
/** A response whose status is no success. */
export class StatusError extends HttpError {
  readonly response: Response;
}

/** Sends a request and waits for the whole response, whatever its status. */
export function request(method: string, url: string, options?: RequestOptions): Response;
export function get(url: string, options?: RequestOptions): Response;
export function post(url: string, options?: RequestOptions): Response;
export function put(url: string, options?: RequestOptions): Response;
declare function del(url: string, options?: RequestOptions): Response;
export { del as delete };
