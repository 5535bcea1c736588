import { log, progress } from 'phasm:executor/host@0.1.0';

export function execute(call) {
  const inputs = Object.fromEntries(call.inputs.map(({ name, value }) => [name, JSON.parse(value)]));
  const { name, times = 1 } = { ...JSON.parse(call.config), ...inputs };
  if (typeof name !== 'string') {
    return outcome(3, 'input `name`: expected a string', {}, { error: { kind: 'input', retryable: false } });
  }
  log('info', `greeting ${name}`);
  progress(0.5, 'half way');
  return outcome(0, '', { greeting: Array(times).fill(`Hello, ${name}!`).join(' ') });
}

function outcome(code, message, outputs, detail) {
  return {
    code,
    message,
    outputs: Object.entries(outputs).map(([name, value]) => ({ name, value: JSON.stringify(value) })),
    detail: detail && JSON.stringify(detail),
  };
}
