// Calls an executor in tests, without a component: `node --import phasm-sdk/register --test`.
import { recorder } from './host-double.js';
import { Denied, named, use } from './http.js';

// Calls `execute` with inputs, and returns its outcome: `code`, `message`, `outputs`, `detail`, and the `log`, `progress` and HTTP
// `requests` that it made. `http` is a function from requests to responses; without one, each is denied.
export async function call(execute, inputs = {}, { config = {}, http = denied, ...others } = {}) {
  recorder.begin();
  const requests = [];
  const before = use((request) => {
    requests.push(request);
    return http(request);
  });
  const invocation = {
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
    ...others,
    config: JSON.stringify(config),
    inputs: Object.entries(inputs).map(([name, value]) => ({ name, value: JSON.stringify(value) })),
  };
  let returned;
  try {
    returned = await execute(invocation);
  } finally {
    use(before);
  }
  return {
    code: returned.code,
    message: returned.message,
    outputs: Object.fromEntries(returned.outputs.map(({ name, value }) => [name, JSON.parse(value)])),
    detail: returned.detail === undefined ? undefined : JSON.parse(returned.detail),
    requests,
    ...recorder.taken(),
  };
}

function denied(request) {
  throw new Denied(`${named(request)}: not sent; in a test, set \`http\`: call(execute, inputs, { http })`);
}
