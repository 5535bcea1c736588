// `console` for scripts and packages that expect one: lines of the task's log.
import * as host from 'phasm:executor/host@0.1.0';

function shown(value) {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

// While the component is made there is no host yet.
let hasHost = false;

export function beginCalls() {
  hasHost = true;
}

const write =
  (level) =>
  (...values) => {
    if (hasHost) host.log(level, values.map(shown).join(' '));
  };

export const console = {
  debug: write('debug'),
  error: write('error'),
  info: write('info'),
  log: write('info'),
  trace: write('trace'),
  warn: write('warn'),
};
