//! The cost of a task in the engine alone, and whether it grows with the run: 100, 10 000 and 100 000 tasks, wide, deep
//! and as a loop of loops. Every leaf is granted, started and finished; nothing is stored or executed.
//!
//! `cargo bench --bench engine` prints µs a task and, next to each size, the ratio to 100 tasks.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark is a program for people"
)]

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm_engine::{
    event::{Command, Facts, Fence, Input},
    outcome::Outcome,
    phase::Phase,
    plan::{Draft, Executors, Plan},
    run::{Run, Step, Submission},
    time::Timestamp,
    tree::Tree,
    value::{Map, Value},
};
use serde_json::{Value as Json, json};

/// The templates of a workflow with so many leaves.
type Shape = fn(u32) -> Json;

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [u32; 3] = [100, 10_000, 100_000];

/// Slots of the host: leaves in flight at once.
const SLOTS: u32 = 64;

fn main() {
    // `cargo test --benches` and the like ask for a list or a quick pass; a benchmark has nothing to check.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    println!("{:<16} {:>9} {:>12} {:>12} {:>10}", "engine alone", "tasks", "µs a task", "events", "to 100");
    let shapes: [(&str, Shape); 3] = [("wide", wide), ("deep", deep), ("loop of loops", loops)];
    for (name, shape) in shapes {
        let mut least = None;
        for size in SIZES {
            let (each, events) = measure(&plan(&shape(size)), size);
            let micros = each.as_secs_f64() * 1e6;
            let ratio = micros / *least.get_or_insert(micros);
            println!("{name:<16} {size:>9} {micros:>12.2} {events:>12} {ratio:>9.2}x");
        }
    }
}

/// The least time a task of several passes over as many runs as make 100 000 tasks, and the events of one run.
fn measure(plan: &Arc<Plan>, size: u32) -> (Duration, u64) {
    let runs = (SIZES.into_iter().max().unwrap_or(size) / size).max(1);
    let mut events = 0;
    let pass = || {
        let start = Instant::now();
        for _ in 0..runs {
            events = finish(plan);
        }
        start.elapsed() / (runs * size)
    };
    let least = std::iter::repeat_with(pass).take(5).min().unwrap_or_default();
    (least, events)
}

/// Runs a plan to its end, one input a step; what is asked for happens in order.
fn finish(plan: &Arc<Plan>) -> u64 {
    let submission = Submission {
        run_id: "run".into(),
        parameters: Arc::new(Map::new()),
        doubts: Vec::new(),
        facts: Facts::default(),
        secrets: Vec::new(),
        origin: None,
        trace: None,
        by: None,
    };
    let (mut run, _) = Run::start(Arc::clone(plan), submission, Timestamp(0));
    let mut open: VecDeque<Fence> = VecDeque::new();
    let mut now = 0;
    while !run.is_over() {
        now += 1;
        let free = SLOTS - u32::try_from(open.len()).unwrap_or(SLOTS);
        let wanted = free.min(run.wanted_slots());
        let input = if wanted > 0 {
            Input::Lent(wanted)
        } else {
            let fence = open.pop_front().expect("something is in flight");
            let _started = run.step(Timestamp(now), Input::Started(fence));
            Input::Finished(fence, Outcome::default())
        };
        let Step { commands, .. } = run.step(Timestamp(now), input);
        open.extend(commands.into_iter().map(|command| match command {
            Command::Dispatch(dispatch) => dispatch.fence,
            Command::Abort(fence) => panic!("{fence:?} is stopped"),
        }));
    }
    assert_eq!(run.phase(), Phase::Succeeded);
    run.seq()
}

fn plan(templates: &Json) -> Arc<Plan> {
    let document = json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "bench" },
        "spec": { "entrypoint": "main", "timeout": "none", "templates": templates } });
    let tree = Tree::from(&Value::from(document));
    Arc::new(
        Draft::read(&tree)
            .plan(&Executors::any(), &Value::Null)
            .unwrap_or_else(|problems| panic!("{problems:?}")),
    )
}

fn work() -> Json {
    json!({ "task": { "name": "work", "executor": { "type": "echo" },
        "inputs": { "parameters": [{ "name": "n", "default": 1 }] } } })
}

fn wide(size: u32) -> Json {
    let tasks: Vec<Json> =
        (0..size).map(|n| json!({ "name": format!("t{n}"), "template": "work" })).collect();
    json!([work(), { "dag": { "name": "main", "tasks": tasks } }])
}

fn deep(size: u32) -> Json {
    let task = |n: u32| {
        let before = n.checked_sub(1).map(|before| format!("t{before}"));
        json!({ "name": format!("t{n}"), "template": "work", "dependencies": before.into_iter().collect::<Vec<_>>() })
    };
    json!([work(), { "dag": { "name": "main", "tasks": (0..size).map(task).collect::<Vec<_>>() } }])
}

/// The outer loop has as many iterations as the inner one.
fn loops(size: u32) -> Json {
    let outer = size.isqrt();
    json!([
        work(),
        { "loop": { "name": "main", "body": "inner", "concurrency": 8, "sequence": { "count": outer } } },
        { "loop": { "name": "inner", "body": "work", "sequence": { "count": size / outer },
            "arguments": { "parameters": [{ "name": "n", "value": "{{ loop.index }}" }] } } },
    ])
}
