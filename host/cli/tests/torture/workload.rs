//! Workflows of the tests: a bit of everything, each in a second or so.

use crate::bench::Bench;

/// The answer of every question.
pub(crate) const ANSWER: &str = "{\"by\": \"Ada\"}";

/// Documents by their workflow's name.
pub(crate) const WORKLOADS: [(&str, &str); 7] = [
    (
        "chains",
        "
  templates:
    - dag:
        name: main
        outputs: { parameters: [{ name: n, valueFrom: { path: tasks.e.outputs.parameters.n } }] }
        tasks:
          - { name: a, executor: { type: echo }, inputs: { parameters: [{ name: n, value: 1 }] } }
          - { name: w1, executor: { type: doze }, dependencies: [a] }
          - { name: b, executor: { type: echo }, dependencies: [w1], inputs: { parameters: [{ name: n, value: \"{{ tasks.a.outputs.parameters.n + 1 }}\" }] } }
          - { name: w2, executor: { type: doze }, dependencies: [b] }
          - { name: w3, executor: { type: doze }, dependencies: [w2] }
          - { name: w4, executor: { type: doze }, dependencies: [w3] }
          - { name: w5, executor: { type: doze }, dependencies: [w4] }
          - { name: w6, executor: { type: doze }, dependencies: [w5] }
          - { name: e, executor: { type: echo }, dependencies: [w6], inputs: { parameters: [{ name: n, value: \"{{ tasks.b.outputs.parameters.n + 1 }}\" }] } }
          - { name: beside, executor: { type: doze }, dependencies: [a] }
",
    ),
    (
        "loops",
        "
  parallelism: 3
  templates:
    - dag:
        name: main
        tasks:
          - { name: each, template: each }
          - { name: all, executor: { type: echo }, dependencies: [each], inputs: { parameters: [{ name: got, valueFrom: { path: tasks.each.outputs.parameters.n } }] } }
    - loop: { name: each, body: one, items: [1, 2, 3, 4, 5, 6, 7, 8], aggregate: { strategy: list } }
    - dag:
        name: one
        outputs: { parameters: [{ name: n, valueFrom: { path: tasks.say.outputs.parameters.n } }] }
        tasks:
          - { name: rest, executor: { type: doze } }
          - { name: say, executor: { type: echo }, dependencies: [rest], inputs: { parameters: [{ name: n, value: \"{{ loop.item * 2 }}\" }] } }
",
    ),
    (
        "retries",
        "
  templates:
    - dag:
        name: main
        continueOn: { failed: true, error: true }
        tasks:
          - { name: flaky, executor: { type: code }, inputs: { parameters: [{ name: code, value: 2 }] }, retry: { maxAttempts: 4, delay: 250ms } }
          - { name: wrong, executor: { type: code }, inputs: { parameters: [{ name: code, value: 3 }] }, retry: { limit: 2, delay: 100ms, exponentialBackoff: 2 } }
          - { name: after, executor: { type: doze }, dependencies: [flaky, wrong] }
",
    ),
    (
        "limits",
        "
  templates:
    - dag:
        name: main
        continueOn: { timeout: true }
        tasks:
          - { name: late, executor: { type: sleep }, timeout: 700ms }
          - { name: long, executor: { type: sleep }, maxRuntime: 200ms, retry: { maxAttempts: 2 } }
          - { name: closed, executor: { type: sleep }, deadline: 900ms }
          - { name: after, executor: { type: doze }, dependencies: [late, long, closed] }
",
    ),
    (
        "questions",
        "
  templates:
    - dag:
        name: main
        outputs: { parameters: [{ name: by, valueFrom: { path: tasks.told.outputs.parameters.by } }] }
        tasks:
          - { name: rest, executor: { type: doze } }
          - { name: ask, executor: { type: suspend }, dependencies: [rest], timeout: 1d }
          - { name: told, executor: { type: echo }, dependencies: [ask], inputs: { parameters: [{ name: by, valueFrom: { path: tasks.ask.outputs.parameters.by } }] } }
          - { name: last, executor: { type: doze }, dependencies: [told] }
",
    ),
    (
        "hooks",
        "
  hooks: { onExit: { template: tidy } }
  templates:
    - task: { name: tidy, executor: { type: doze }, timeout: 1d }
    - task: { name: note, executor: { type: echo }, timeout: 1d, inputs: { parameters: [{ name: what }] } }
    - dag:
        name: main
        failFast: false
        tasks:
          - { name: good, executor: { type: doze }, hooks: { onSuccess: { template: note, arguments: &what { parameters: [{ name: what, value: \"{{ hook.type }} {{ hook.task.phase }}\" }] } }, onExit: { template: note, arguments: *what } } }
          - { name: bad, executor: { type: code }, inputs: { parameters: [{ name: code, value: 2 }] }, hooks: { onFailure: { template: note, arguments: *what } } }
          - { name: never, executor: { type: doze }, dependencies: [bad] }
          - { name: rest, executor: { type: doze }, dependencies: [good] }
",
    ),
    (
        "hostile",
        "
  templates:
    - dag:
        name: main
        continueOn: { failed: true, error: true, timeout: true }
        tasks:
          - { name: spins, executor: { type: spin }, maxRuntime: 200ms, retry: { maxAttempts: 2 } }
          - { name: fills, executor: { type: fill }, maxRuntime: 300ms }
          - { name: grows, executor: { type: allocate } }
          - { name: floods, executor: { type: flood } }
          - { name: falls, executor: { type: overflow }, retry: { maxAttempts: 2, delay: 100ms } }
          - { name: exits, executor: { type: exit } }
          - { name: rest, executor: { type: doze }, dependencies: [spins, fills, grows, floods, falls, exits] }
          - { name: after, executor: { type: echo }, dependencies: [rest], inputs: { parameters: [{ name: n, value: 1 }] } }
",
    ),
];

/// Setup of `hostile`, next to what every bench has.
const HOSTILE: [&str; 6] = ["spin", "fill", "allocate", "flood", "overflow", "exit"];

/// Writes all of them. Clocks that are set by an hour or two end none of them.
pub(crate) fn write(bench: &Bench) {
    HOSTILE.iter().for_each(|guest| bench.guest(guest));
    for (name, body) in WORKLOADS {
        let head = format!(
            "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: {name} }}\nspec:\n  timeout: 1d\n  entrypoint: main"
        );
        bench.write(&format!("{name}.yaml"), format!("{head}{body}"));
    }
}
