//! Random documents: nested dags, loops, pipelines and wrappers, with every kind of policy on them.

use serde_json::{Value as Json, json};

use super::random::Random;

/// A valid document.
pub(crate) fn document(random: &mut Random) -> Json {
    let mut writer = Writer { random, templates: Vec::new(), hooks: true };
    writer.templates.push(json!({ "task": { "name": "work", "executor": { "type": "echo" } } }));
    writer.templates.push(json!({ "task": { "name": "note", "executor": { "type": "echo" },
        "inputs": { "parameters": [{ "name": "what" }] }, "timeout": "300ms", "retry": { "limit": 1 } } }));
    writer.hooks = writer.random.chance(40);
    let entrypoint = if writer.random.chance(6) { "work".to_owned() } else { writer.callee(4) };
    let Writer { random, templates, hooks } = writer;
    let mut spec = json!({
        "entrypoint": entrypoint, "timeout": "10s", "maxNestedDepth": 10, "templates": templates,
    });
    random.maybe(10, &mut spec, "timeout", |r| json!(1 + r.below(900)));
    random.maybe(20, &mut spec, "parallelism", |r| json!(1 + r.below(4)));
    if hooks {
        random.maybe(50, &mut spec, "hooks", written_hooks);
    }
    json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "sim" }, "spec": spec })
}

struct Writer<'r> {
    random: &'r mut Random,
    templates: Vec<Json>,
    hooks: bool,
}

/// The callee decides which fields a call may carry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callee {
    Leaf,
    Wrapper,
    Container,
}

impl Writer<'_> {
    /// A template to call: containers while there are levels left.
    fn callee(&mut self, levels: u64) -> String {
        self.template(levels).0
    }

    fn template(&mut self, levels: u64) -> (String, Callee) {
        if levels == 0 || (levels < 4 && self.random.chance(35 + 10 * (3 - levels))) {
            return ("work".to_owned(), Callee::Leaf);
        }
        match self.random.below(10) {
            0..4 => (self.dag(levels - 1), Callee::Container),
            4..7 => (self.loop_(levels - 1), Callee::Container),
            7..9 => (self.pipeline(levels - 1), Callee::Container),
            _ => (self.wrapper(levels - 1), Callee::Wrapper),
        }
    }

    fn add(&mut self, kind: &str, mut body: Json) -> String {
        let name = format!("{kind}-{}", self.templates.len());
        if let Some(body) = body.as_object_mut() {
            body.insert("name".to_owned(), json!(name));
        }
        self.templates.push(json!({ kind: body }));
        name
    }

    fn dag(&mut self, levels: u64) -> String {
        let count = 2 + self.random.below(5);
        let tasks: Vec<Json> = (0..count).map(|index| self.node(index, levels)).collect();
        let mut dag = json!({ "tasks": tasks });
        self.random.maybe(30, &mut dag, "failFast", |_| json!(false));
        self.random.maybe(30, &mut dag, "parallelism", |r| json!(1 + r.below(3)));
        self.random.maybe(8, &mut dag, "timeout", |r| json!(1 + r.below(900)));
        self.random.maybe(20, &mut dag, "continueOn", tolerance);
        self.random.maybe(
            20,
            &mut dag,
            "outputs",
            |_| json!({ "parameters": [{ "name": "n", "valueFrom": { "path": "tasks.t0.phase" } }] }),
        );
        self.random.maybe(
            10,
            &mut dag,
            "phaseConditions",
            |_| json!({ "succeeded": "children.failed == 1" }),
        );
        self.add("dag", dag)
    }

    fn node(&mut self, index: u64, levels: u64) -> Json {
        let (template, callee) = self.template(levels);
        let random = &mut *self.random;
        let mut task = json!({ "name": format!("t{index}"), "template": template });
        let dependencies: Vec<String> =
            (0..index).filter(|_| random.chance(30)).map(|i| format!("t{i}")).collect();
        if let Some(upstream) = dependencies.first() {
            let when = format!("tasks.{upstream}.phase != 'Failed'");
            random.maybe(20, &mut task, "when", |_| json!(when));
            random.maybe(100, &mut task, "dependencies", |_| json!(dependencies));
        }
        random.maybe(40, &mut task, "continueOn", tolerance);
        self.settings(&mut task, &format!("t{index}"), callee, &[]);
        task
    }

    /// Whatever may surround a call; `labels` are those of the pipeline it stands in.
    fn settings(&mut self, task: &mut Json, name: &str, callee: Callee, labels: &[String]) {
        let random = &mut *self.random;
        let bound =
            |r: &mut Random, most| json!({ "timeout": 1 + r.below(most), "errorOnTimeout": r.chance(50) });
        random.maybe(12, task, "timeout", |r| json!(1 + r.below(600)));
        random.maybe(8, task, "phaseConditions", |_| {
            json!({ "succeeded": if callee == Callee::Container { "false" } else { "code == 2" }, "failed": "phase == 'Timeout'" })
        });
        if self.hooks {
            random.maybe(25, task, "hooks", written_hooks);
        }
        if callee == Callee::Container {
            return;
        }
        random.maybe(10, task, "maxRuntime", |r| bound(r, 150));
        random.maybe(10, task, "deadline", |r| bound(r, 700));
        if callee == Callee::Leaf {
            random.maybe(10, task, "maxInactivity", |r| bound(r, 100));
        }
        match random.below(10) {
            0..4 => random.maybe(100, task, "retry", |r| retry(r, name, callee)),
            4..7 => random.maybe(100, task, "policy", |r| policy(r, labels)),
            _ => {}
        }
    }

    fn loop_(&mut self, levels: u64) -> String {
        let (body, callee) = self.template(levels);
        let random = &mut *self.random;
        let mut each = json!({ "body": body });
        match random.below(5) {
            0 => random.maybe(100, &mut each, "items", |r| {
                json!((0..r.below(5)).map(|n| json!({ "n": n })).collect::<Vec<_>>())
            }),
            1 => random.maybe(100, &mut each, "itemsFrom", |r| {
                json!(r.one_of(&[
                    "[1, 2, 3]",
                    "[[], {'n': 3}]",
                    "null",
                    "'[{\"x\": 1}]'",
                    "'[4, null]'",
                    "7"
                ]))
            }),
            2 => random.maybe(100, &mut each, "sequence", |r| json!({ "start": 3, "end": r.below(6) })),
            _ => {
                random.maybe(100, &mut each, "maxIterations", |r| json!(1 + r.below(4)));
                random.maybe(100, &mut each, "repeatCondition", |r| {
                    let phase = format!("tasks.{body}.phase != 'Succeeded'");
                    json!(r.one_of(&[
                        "true",
                        "loop.index < 2",
                        "loop.index < 3",
                        phase.as_str(),
                        phase.as_str(),
                        "[1] + 2"
                    ]))
                });
            }
        }
        if each.get("repeatCondition").is_none() {
            random.maybe(40, &mut each, "concurrency", |r| json!(r.below(3)));
            random.maybe(20, &mut each, "maxIterations", |r| json!(1 + r.below(4)));
        }
        random.maybe(40, &mut each, "continueOn", tolerance);
        random.maybe(15, &mut each, "timeout", |r| json!(1 + r.below(800)));
        random.maybe(
            60,
            &mut each,
            "aggregate",
            |r| json!({ "strategy": r.one_of(&["first", "last", "list"]) }),
        );
        if callee == Callee::Leaf {
            random.maybe(
                30,
                &mut each,
                "arguments",
                |_| json!({ "parameters": [{ "name": "i", "value": "{{ loop.index }}/{{ loop.item }}" }] }),
            );
        }
        self.add("loop", each)
    }

    fn pipeline(&mut self, levels: u64) -> String {
        let labels: Vec<String> = (0..2 + self.random.below(4)).map(|index| format!("p{index}")).collect();
        let mut tasks = Vec::new();
        for label in &labels {
            let (template, callee) = self.template(levels);
            let mut task = json!({ "name": label, "template": template });
            self.settings(&mut task, label, callee, &labels);
            self.random.maybe(10, &mut task, "when", |_| json!("ctx.n == null or iter.n != 2"));
            tasks.push(task);
        }
        let mut pipeline = json!({ "tasks": tasks, "maxJumps": self.random.below(6) });
        self.random.maybe(15, &mut pipeline, "timeout", |r| json!(1 + r.below(900)));
        self.random.maybe(
            20,
            &mut pipeline,
            "outputs",
            |_| json!({ "parameters": [{ "name": "n", "valueFrom": { "expression": "tasks.p0.phase" } }] }),
        );
        self.add("pipeline", pipeline)
    }

    fn wrapper(&mut self, levels: u64) -> String {
        let container = match self.random.below(3) {
            0 => self.dag(levels),
            1 => self.loop_(levels),
            _ => self.pipeline(levels),
        };
        self.add("task", json!({ "template": container }))
    }
}

fn tolerance(random: &mut Random) -> Json {
    json!({ "failed": random.chance(50), "error": random.chance(50), "timeout": random.chance(50) })
}

fn retry(random: &mut Random, name: &str, callee: Callee) -> Json {
    match random.below(4) {
        0 => json!({ "limit": random.below(4), "delay": random.below(50) }),
        1 => json!({ "limit": 2, "expression": format!("tasks.{name}.code != 0") }),
        2 => json!({ "maxAttempts": random.below(4), "delay": random.below(80), "exponentialBackoff": 2 }),
        // Tasks left behind by an endless wrapper would be endless too.
        _ if callee == Callee::Wrapper => json!({ "maxAttempts": 3, "delay": 1, "jitter": 1 }),
        _ => json!({ "maxAttempts": -1, "delay": 5, "jitter": 0.5 }),
    }
}

fn policy(random: &mut Random, labels: &[String]) -> Json {
    let mut rules = Vec::new();
    for _ in 0..random.below(3) {
        let when = random.one_of(&[
            "{{ outcome.status == 'error' and outcome.http.status in [429, 503] }}",
            "outcome.status == 'error'",
            "outcome.result.n > 1",
            "outcome.error.retryable",
            "_attempt < 3",
            "outcome.code + null",
        ]);
        rules.push(json!({ "when": when, "then": action(random, labels) }));
    }
    random.chance(60).then(|| rules.push(json!({ "else": { "then": action(random, labels) } })));
    let mut policy = json!({ "rules": rules });
    random.maybe(30, &mut policy, "onUnmatched", |r| json!(r.one_of(&["fail", "continue"])));
    policy
}

fn action(random: &mut Random, labels: &[String]) -> Json {
    let jumps = !labels.is_empty();
    let mut then = match random.below(if jumps { 7 } else { 4 }) {
        0 | 1 => json!({ "do": "continue" }),
        2 => json!({ "do": "retry", "attempts": 1 + random.below(4), "delay": 0.02,
            "backoff": random.one_of(&["none", "linear", "exponential"]) }),
        3 => json!({ "do": "fail" }),
        4 | 5 => {
            let to = labels.get(usize::try_from(random.below(labels.len() as u64)).unwrap_or(0));
            json!({ "do": "jump", "to": to })
        }
        _ => json!({ "do": "break" }),
    };
    if jumps {
        random.maybe(30, &mut then, "set_iter", |_| json!({ "n": "{{ (iter.n | default(0)) + 1 }}" }));
        random.maybe(30, &mut then, "set_ctx", |_| json!({ "n": "{{ outcome.result.n }}" }));
    }
    then
}

fn written_hooks(random: &mut Random) -> Json {
    let kinds = [
        "onStart",
        "onSuccess",
        "onFailure",
        "onError",
        "onTimeout",
        "onSuspend",
        "onResume",
        "onCancel",
        "onExit",
    ];
    let mut hooks = json!({});
    for kind in kinds {
        random.maybe(25, &mut hooks, kind, |r| {
            let mut hook = json!({ "template": "note", "arguments": { "parameters": [
                { "name": "what", "value": "{{ hook.type }} {{ hook.task.phase }}" }] } });
            r.maybe(20, &mut hook, "when", |r| json!(r.one_of(&["hook.task.code != 2", "[] + 1"])));
            hook
        });
    }
    hooks
}
