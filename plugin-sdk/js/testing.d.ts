import type { Request } from './http.js';
import type { Executor, Level } from './index.js';

export interface Result {
  code: number;
  message: string;
  outputs: Record<string, any>;
  detail?: Record<string, any>;
  /** HTTP requests, in order. */
  requests: Request[];
  log: { level: Level; text: string }[];
  progress: { fraction: number | null; text: string }[];
  heartbeats: number;
}
export interface CallOptions {
  config?: Record<string, unknown>;
  attempt?: number;
  dispatch?: number;
  resumed?: boolean;
  remainingMs?: number;
  idempotencyKey?: string;
  /** Responds to HTTP requests; without it, each is denied. */
  http?: (request: Request) => { status: number; headers?: Record<string, string>; body?: string | Uint8Array };
}
/** Calls an executor without a component: `node --import phasm-sdk/register --test`. */
export function call(execute: Executor, inputs?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
