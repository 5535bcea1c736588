//! Steps that no record can hold (R-H8): they end the task that is too large, and nothing else.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Event, Input, PhaseData, TaskId},
    outcome::Outcome,
    phase::Phase,
    plan::Plan,
    run::{MAX_STEP_BYTES, Run, TaskRun},
    value::Map,
    weight::Weight,
};
use phasm_tests::{
    small::{plan, work},
    world::{Act, Script, World, replay},
};
use serde_json::{Value as Json, json};

const MIB: usize = 1 << 20;

/// Answers with as many MiB as the input `mib` says, no two the same; the second attempt with nothing.
struct Returns;

impl Script for Returns {
    fn act(&mut self, _: &str, dispatch: &Dispatch) -> Act {
        let mib = dispatch.inputs.iter().find(|binding| &*binding.name == "mib");
        let mib = mib.map_or(0, |binding| binding.value.visible().to_json().parse().unwrap());
        let size = if dispatch.fence.attempt == 1 { mib * MIB } else { 0 };
        let outcome = Outcome::default().output("text", "x".repeat(size));
        Act { start_after: 0, takes: Some(10), outcome }
    }
}

fn run(templates: &[Json]) -> (Arc<Plan>, World<Returns>) {
    let plan = plan(templates).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut world = World::submit(Arc::clone(&plan), Map::new(), u32::MAX, Returns, false);
    world.finish();
    (plan, world)
}

fn echo(name: &str, mib: usize) -> Json {
    json!({ "name": name, "template": "work", "arguments": { "parameters": [{ "name": "mib", "value": mib }] } })
}

/// A task with more fields.
fn with(mut task: Json, more: &Json) -> Json {
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    task
}

fn text(of: &str) -> Json {
    json!({ "name": of, "valueFrom": { "path": format!("tasks.{of}.outputs.parameters.text") } })
}

/// Checks that the message says the size and the limit.
fn is_too_large(task: &TaskRun) {
    assert_eq!(task.phase, Phase::Error, "{}", task.message);
    let size: usize = task.message.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert!(size > MAX_STEP_BYTES, "{}", task.message);
    assert!(task.message.contains(&MAX_STEP_BYTES.to_string()), "{}", task.message);
}

/// Nothing in the journal is larger than it may be, and it is read as it was written.
fn check(plan: &Arc<Plan>, world: &World<Returns>) {
    for (_, events) in &world.journal {
        let mut weight = Weight::default();
        for event in events {
            if let Event::AttemptEnded(ended) = event {
                ended.outputs.iter().for_each(|output| weight.add(&output.value));
            }
        }
        assert!(weight.bytes() <= MAX_STEP_BYTES);
    }
    let replayed = replay(plan, &world.journal, world.journal.len()).unwrap();
    let ends =
        |run: &Run| run.tasks().iter().map(|task| (task.phase, task.message.clone())).collect::<Vec<_>>();
    assert_eq!(ends(&replayed), ends(&world.run));
}

/// An attempt's result that is too large is an Error: retried, tolerated and seen by conditions as any.
#[test]
fn an_outcome_that_is_too_large_is_an_error() {
    let tasks = json!([
        echo("ends", 129),
        with(echo("again", 129), &json!({ "retry": { "limit": 1, "delay": "1s" } })),
        with(echo("next", 1), &json!({ "dependencies": ["ends", "again"] })),
        with(echo("forgiven", 129), &json!({ "phaseConditions": { "skipped": "{{ result.code == 3 }}" } })),
    ]);
    let main = json!({ "dag": { "name": "main", "continueOn": { "error": true }, "tasks": tasks } });
    let (plan, world) = run(&[work(), main]);
    is_too_large(world.task("ends").unwrap());
    let again = world.task("again").unwrap();
    assert_eq!((again.phase, again.attempts.len()), (Phase::Succeeded, 2));
    assert_eq!(again.attempts.first().map(|first| first.phase), Some(Phase::Error));
    assert_eq!(world.task("next").unwrap().phase, Phase::Succeeded);
    assert_eq!(world.run.phase(), Phase::Succeeded);
    check(&plan, &world);
}

/// So does a loop whose gathered outputs are too large, though each of them is not.
#[test]
fn gathered_outputs_that_are_too_large_end_their_loop() {
    let body = with(echo("one", 20), &json!({ "name": "one" }));
    let each = json!({ "loop": { "name": "each", "body": "one", "items": [1, 2, 3, 4, 5, 6, 7], "aggregate": { "strategy": "list" } } });
    let one =
        json!({ "dag": { "name": "one", "tasks": [body], "outputs": { "parameters": [text("one")] } } });
    let tasks = json!([
        { "name": "all", "template": "each", "continueOn": { "error": true } },
        with(echo("next", 1), &json!({ "dependencies": ["all"] })),
    ]);
    let (plan, world) = run(&[work(), one, each, json!({ "dag": { "name": "main", "tasks": tasks } })]);
    is_too_large(world.task("main/all").unwrap());
    assert!(world.task("main/all").unwrap().outputs.is_empty());
    assert_eq!(world.task("next").unwrap().phase, Phase::Succeeded);
    check(&plan, &world);
}

/// Ten tasks that return 15 MiB each, their names, and inputs that are all of it.
fn tens() -> (Vec<Json>, Vec<String>, Json) {
    let names: Vec<String> = (0..10).map(|number| format!("t{number}")).collect();
    let tasks = names.iter().map(|name| echo(name, 15)).collect();
    let inputs: Vec<Json> = names.iter().map(|name| text(name)).collect();
    (tasks, names, json!({ "parameters": inputs }))
}

/// A task whose inputs are too large ends, whether it is a leaf or a container, and so does a loop with such items.
#[test]
fn inputs_and_items_that_are_too_large_end_their_task() {
    let (mut tasks, names, input) = tens();
    tasks.push(json!({ "name": "leaf", "template": "work", "dependencies": names, "arguments": input }));
    tasks.push(json!({ "name": "inner", "template": "inner", "dependencies": names, "arguments": input }));
    tasks.push(json!({ "name": "each", "template": "each", "dependencies": names, "arguments": { "parameters": [text("t0")] } }));
    tasks.push(echo("beside", 1));
    let main = json!({ "dag": { "name": "main", "failFast": false, "tasks": tasks } });
    let declared: Vec<Json> = names.iter().map(|name| json!({ "name": name })).collect();
    let items: Vec<String> =
        (0..10).map(|number| format!("{number} {{{{ inputs.parameters.t0 }}}}")).collect();
    let parameters = json!({ "parameters": declared });
    let inner = json!({ "dag": { "name": "inner", "inputs": parameters, "tasks": [echo("never", 1)] } });
    let each = json!({ "loop": { "name": "each", "inputs": { "parameters": [{ "name": "t0" }] }, "body": "work", "items": items } });
    let (plan, world) = run(&[work(), inner, each, main]);
    for name in ["main/leaf", "main/inner", "main/each"] {
        is_too_large(world.task(name).unwrap());
        assert_eq!(world.task(name).unwrap().attempt, 0);
    }
    assert_eq!(world.task("beside").unwrap().phase, Phase::Succeeded);
    assert_eq!(world.run.phase(), Phase::Error);
    check(&plan, &world);
}

/// A value within its own limit is not refused because others are large at the same time: they are dispatched one after the
/// other.
#[test]
fn tasks_with_large_inputs_are_dispatched_in_several_steps() {
    let (mut tasks, names, _) = tens();
    for number in 0..20 {
        let value = format!("{number} {{{{ tasks.t{}.outputs.parameters.text }}}}", number % 10);
        let input = json!({ "parameters": [{ "name": "text", "value": value }] });
        tasks.push(json!({ "name": format!("u{number}"), "template": "work", "dependencies": names, "arguments": input }));
    }
    let (_, world) = run(&[work(), json!({ "dag": { "name": "main", "tasks": tasks } })]);
    assert_eq!(world.run.phase(), Phase::Succeeded);
    let inputs = |events: &Vec<Event>| {
        let mut weight = Weight::default();
        for event in events {
            if let Event::Phase(change) = event
                && let Some(PhaseData::Bound { inputs, .. }) = change.with.as_deref()
            {
                inputs.iter().for_each(|binding| weight.add(&binding.value.visible()));
            }
        }
        weight.bytes()
    };
    let most = world.journal.iter().map(|(_, events)| inputs(events)).max().unwrap();
    assert!((15 * MIB..40 * MIB).contains(&most), "{most}");
}

/// Tasks that share a value share its room.
#[test]
fn what_is_shared_counts_once() {
    let share = |number: usize| json!({ "name": format!("s{number}"), "template": "inner", "dependencies": ["t"], "arguments": { "parameters": [text("t")] } });
    let mut tasks = vec![echo("t", 100)];
    tasks.extend((0..30).map(share));
    let inner = json!({ "dag": { "name": "inner", "inputs": { "parameters": [{ "name": "t" }] }, "tasks": [echo("one", 0)] } });
    let (plan, world) = run(&[work(), inner, json!({ "dag": { "name": "main", "tasks": tasks } })]);
    assert_eq!(world.run.phase(), Phase::Succeeded);
    check(&plan, &world);
}

/// A hook is not fired with what is too large, and a run that is cancelled is Cancelled in any case.
#[test]
fn what_cannot_be_an_error_is_left_out() {
    let (mut tasks, names, all) = tens();
    let hooks = json!({ "onExit": { "template": "work", "arguments": all } });
    tasks.push(json!({ "name": "last", "template": "work", "dependencies": names, "hooks": hooks }));
    let main = json!({ "dag": { "name": "main", "tasks": tasks } });
    let (_, world) = run(&[work(), main]);
    assert_eq!(world.run.phase(), Phase::Succeeded);
    assert!(
        world
            .run
            .warnings()
            .iter()
            .any(|warning| &*warning.code == "hook" && warning.message.contains("too large"))
    );

    tasks.push(json!({ "name": "slow", "template": "work", "dependencies": ["last"] }));
    let main = json!({ "dag": { "name": "main", "outputs": all, "tasks": tasks } });
    let plan = plan(&[work(), main]).unwrap();
    let mut world = World::submit(plan, Map::new(), u32::MAX, Returns, false);
    while world.task("last").unwrap().phase != Phase::Succeeded {
        assert!(world.advance());
    }
    world.take(Input::Cancelled(None));
    let root = world.run.task(TaskId::ROOT).unwrap();
    assert_eq!((root.phase, root.outputs.len()), (Phase::Cancelled, 0));
    assert!(root.message.contains("too large"), "{}", root.message);
}
