// Calls an executor in tests, without a component: `node --import phasm-sdk/register --test`.
import { recorder } from './host-double.js';

// Calls `execute` with inputs, and returns its outcome: `code`, `message`, `outputs`, `detail`, and the `log` and `progress` that it wrote.
export async function call(execute, inputs = {}, { config = {}, ...invocation } = {}) {
  recorder.begin();
  const returned = await execute({
    runId: 'run',
    workflow: 'test',
    namespace: 'default',
    taskRunId: 'run-1',
    task: 'test',
    attempt: 1,
    dispatch: 1,
    resumed: false,
    remainingMs: undefined,
    idempotencyKey: 'key',
    ...invocation,
    config: JSON.stringify(config),
    inputs: Object.entries(inputs).map(([name, value]) => ({ name, value: JSON.stringify(value) })),
  });
  return {
    code: returned.code,
    message: returned.message,
    outputs: Object.fromEntries(returned.outputs.map(({ name, value }) => [name, JSON.parse(value)])),
    detail: returned.detail === undefined ? undefined : JSON.parse(returned.detail),
    ...recorder.taken(),
  };
}
