//! Names that other engines use for the parts of a workflow: hints for authors who come from Argo Workflows and similar engines.

type Counterparts = &'static [(&'static str, &'static str)];

const EXECUTOR: &str = "write `executor: {type: …}`; its work is done by a plugin of that type";
const DEPENDENCIES: &str = "write `dependencies: [a, b]`; `continueOn` of the tasks before and `when` say which ends of theirs will do";
const RETRY: &str = "write `retry: {limit: 3, delay: 10s}`";
const TIMEOUT: &str = "write `timeout: 30s` for all attempts together, `maxRuntime: 30s` for each";
const ITEMS: &str = "call a loop template: `loop: {name: …, body: …, items: […]}`; its body sees `item`";
const TIMES: &str =
    "call a loop template: `loop: {name: …, body: …, sequence: {count: 3}}`; its body sees `item`";
const HOOKS: &str = "write `hooks: {onExit: {template: …}}`";
const STEPS: &str =
    "write a `dag`, whose tasks list their `dependencies`, or a `pipeline`, whose tasks run in order";
const ARGUMENTS: &str = "write `arguments: {parameters: [{name: …, value: …}]}`";

/// Foreign names for fields of tasks, wherever the task is written.
pub(super) const TASK: Counterparts = &[
    ("activeDeadlineSeconds", TIMEOUT),
    ("args", "give them to the executor as `inputs`"),
    ("command", EXECUTOR),
    ("container", EXECUTOR),
    ("containerSet", EXECUTOR),
    ("count", TIMES),
    ("depends", DEPENDENCIES),
    ("dependsOn", DEPENDENCIES),
    ("depends_on", DEPENDENCIES),
    ("foreach", ITEMS),
    ("http", EXECUTOR),
    ("if", "write `when`, an expression"),
    ("image", EXECUTOR),
    ("loop", TIMES),
    ("needs", DEPENDENCIES),
    ("onExit", HOOKS),
    ("parameters", ARGUMENTS),
    ("repeat", TIMES),
    ("retries", RETRY),
    ("retryStrategy", RETRY),
    ("run", EXECUTOR),
    ("script", EXECUTOR),
    ("steps", STEPS),
    ("templateRef", "write `template`, with the name of a template in the same file"),
    ("times", TIMES),
    ("uses", EXECUTOR),
    ("with", ARGUMENTS),
    ("withItems", ITEMS),
    ("withParam", "call a loop template: `loop: {name: …, body: …, itemsFrom: …}`; its body sees `item`"),
    ("withSequence", TIMES),
];

const COUNTED: &str = "write `sequence: {count: 3}`; the body sees `item`";

/// Foreign names for fields of loops.
pub(super) const LOOPS: Counterparts = &[
    ("count", COUNTED),
    ("do", "write `body`, with the name of a template"),
    ("for", ITEMS_HERE),
    ("foreach", ITEMS_HERE),
    ("in", ITEMS_HERE),
    ("iterations", COUNTED),
    ("over", ITEMS_HERE),
    ("parallelism", "write `concurrency: 3`"),
    ("range", COUNTED),
    ("repeat", COUNTED),
    ("steps", "write `body`, with the name of a template"),
    ("task", "write `body`, with the name of a template"),
    ("tasks", "write `body`, with the name of a template"),
    ("template", "write `body`, with the name of a template"),
    ("times", COUNTED),
    ("until", WHILE),
    ("while", WHILE),
    ("withItems", ITEMS_HERE),
    ("withParam", "write `itemsFrom`, an expression that gives a list"),
    ("withSequence", COUNTED),
];

const ITEMS_HERE: &str = "write `items: […]`, or `itemsFrom` with an expression; the body sees `item`";
const WHILE: &str = "write `repeatCondition`, which is true for another iteration, with `maxIterations`";

const INSIDE: &str =
    "a template is exactly one of `task`, `dag`, `loop` and `pipeline`, and this belongs into it";
const CONTAINER: &str =
    "write `task: {name: …, executor: {type: …}}`; the work is done by a plugin of that type";

/// Foreign names for fields of templates.
pub(super) const TEMPLATE: Counterparts = &[
    ("activeDeadlineSeconds", INSIDE),
    ("container", CONTAINER),
    ("containerSet", CONTAINER),
    ("data", CONTAINER),
    ("executor", INSIDE),
    ("http", CONTAINER),
    ("inputs", INSIDE),
    ("name", INSIDE),
    ("outputs", INSIDE),
    ("plugin", CONTAINER),
    ("resource", CONTAINER),
    ("retryStrategy", INSIDE),
    ("script", CONTAINER),
    ("steps", STEPS),
    ("suspend", "write a `task` whose executor suspends, such as one that asks for approval"),
    ("tasks", "write `dag: {name: …, tasks: […]}`"),
];

/// Foreign names for fields of dags and pipelines.
pub(super) const CONTAINERS: Counterparts = &[
    ("activeDeadlineSeconds", "write `timeout: 30s`"),
    ("steps", "write `tasks`"),
    ("target", "write `entrypoints`: the tasks to begin with"),
];

/// Foreign names for fields of `spec`.
pub(super) const SPEC: Counterparts = &[
    ("activeDeadlineSeconds", "write `timeout: 30s`"),
    ("dag", "write it as one of `templates`, and its name as `entrypoint`"),
    ("inputs", "write `arguments: {parameters: [{name: …, default: …}]}`"),
    ("onExit", HOOKS),
    ("parameters", "write `arguments: {parameters: [{name: …, default: …}]}`"),
    ("retryStrategy", "write `retry: {limit: 3, delay: 10s}` on the tasks"),
    ("steps", STEPS),
    ("tasks", "write `templates: [{dag: {name: main, tasks: […]}}]`, and `entrypoint: main`"),
];

const IN_SPEC: &str = "it belongs into `spec`";

/// Foreign names for fields of the document itself.
pub(super) const WORKFLOW: Counterparts = &[
    ("arguments", IN_SPEC),
    ("entrypoint", IN_SPEC),
    ("hooks", IN_SPEC),
    ("jobs", "write `spec: {entrypoint: main, templates: [{dag: {name: main, tasks: […]}}]}`"),
    ("name", "write `metadata: {name: …}`"),
    ("steps", "write `spec: {entrypoint: main, templates: [{pipeline: {name: main, tasks: […]}}]}`"),
    ("tasks", "write `spec: {entrypoint: main, templates: [{dag: {name: main, tasks: […]}}]}`"),
    ("templates", IN_SPEC),
];

/// Foreign names for fields of `metadata`.
pub(super) const METADATA: Counterparts = &[("generateName", "write `name`; every run has an id of its own")];

/// Foreign names for fields of `retry`.
pub(super) const RETRIES: Counterparts = &[(
    "retryPolicy",
    "write `when`, in `aether/v1` `expression`; without one Error and Timeout are tried again, and Failed is not",
)];
