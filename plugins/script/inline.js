import { Failure, Outcome, any, executor, http, map, string } from 'phasm-sdk';

/** Names that are no parameters of a function. */
const NO_NAME = /[^\p{ID_Continue}$]|^\p{Nd}/u;

export const execute = executor(
  {
    description: 'Runs JavaScript code',
    inputs: {
      code: string('JavaScript code: the body of a function, whose `return` is the result.'),
      args: map(any(), 'Variables of the code.').optional({}),
    },
    outputs: { result: any('Value that the code returns; null if it returns none.').optional() },
    codes: [
      { code: 2, meaning: 'The code threw an exception.' },
      { code: 3, meaning: 'The inputs are wrong, or the result has no JSON form.' },
    ],
    examples: [
      {
        name: 'calculates with its arguments',
        inputs: { args: { rows: [{ n: 1 }, { n: 2 }] }, code: 'return rows.map(row => row.n * 10);' },
        outputs: { result: [10, 20] },
      },
      {
        name: 'fails by an exception',
        inputs: { code: 'const rows = null;\nreturn rows.length;' },
        code: 2,
        message: 'TypeError: ',
      },
      { name: 'names a syntax error', inputs: { code: 'return (' }, code: 2, message: 'SyntaxError: ' },
      { name: 'needs names', inputs: { args: { 'a b': 1 }, code: 'return 1' }, code: 3, message: '`a b`' },
    ],
  },
  ({ inputs: { code, args } }) => {
    const wrong = Object.keys(args).find((name) => !name || NO_NAME.test(name));
    if (wrong !== undefined) {
      const message = `input \`args\`: expected names of variables, got \`${wrong}\``;
      return Outcome.error(message, { kind: 'input', retryable: false });
    }
    try {
      const run = new Function('http', ...Object.keys(args), code);
      return { result: run(http, ...Object.values(args)) ?? null };
    } catch (raised) {
      // A failure or an HTTP error of the SDK has an outcome of its own.
      throw raised?.outcome instanceof Outcome ? raised : failure(raised);
    }
  },
);

/** The outcome of an exception: its class and its text; the log has the trace. */
function failure(raised) {
  if (!(raised instanceof Error)) {
    return new Failure(`the code threw ${describe(raised)}`, { kind: 'exception' });
  }
  if (raised.stack) {
    console.error(raised.stack.trimEnd());
  }
  return new Failure(raised.message ? `${raised.name}: ${raised.message}` : raised.name, { kind: raised.name });
}

function describe(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'a value without JSON form';
  }
}
