//! Input that comes late, twice or in any order: fences, terminal phases, and one end for each scope.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Event, Fence, Input, TaskId},
    outcome::{Outcome, code},
    phase::Phase,
    plan::{Draft, Executors, Plan},
    time::Timestamp,
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay, state};
use serde_json::{Value as Json, json};

/// An executor that never answers: the test does.
struct Silent;

impl Script for Silent {
    fn act(&mut self, _path: &str, _dispatch: &Dispatch) -> Act {
        Act { start_after: 1_000_000, ..Act::default() }
    }
}

/// A run of the dag `main` at instant 0; everything that can be is dispatched.
fn submit(main: &Json) -> (Arc<Plan>, World<Silent>) {
    let work = json!({ "task": { "name": "work", "executor": { "type": "echo" } } });
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "test" },
        "spec": { "entrypoint": "main", "timeout": "10m", "templates": [work, { "dag": main }] },
    });
    let plan = Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null);
    let plan = Arc::new(plan.unwrap_or_else(|problems| panic!("{problems:?}")));
    (Arc::clone(&plan), World::submit(plan, Map::new(), 100, Silent, true))
}

fn code(code: i32) -> Outcome {
    Outcome { code, ..Outcome::default() }
}

/// Everything that the executor's side and the user may say of one dispatch.
fn all_inputs(fence: Fence) -> [Input; 6] {
    [
        Input::Started(fence),
        Input::Finished(fence, code(code::SUCCEEDED)),
        Input::Interrupted(fence),
        Input::Inactive(fence),
        Input::Resumed(fence.task, Map::new(), None),
        Input::TaskCancelled(fence.task, None),
    ]
}

/// Gives the run an input that must change nothing but the counter.
fn is_dropped(world: &mut World<Silent>, input: &Input) {
    let (before, dropped) = (state(&world.run), world.run.dropped_inputs());
    world.take(input.clone());
    assert_eq!(state(&world.run), before, "{input:?}");
    assert_eq!(world.run.dropped_inputs(), dropped + 1, "{input:?}");
}

/// R-R11: what comes back under another number than the current dispatch's is dropped and counted.
#[test]
fn results_of_another_dispatch_are_dropped() {
    let task = json!({ "name": "a", "template": "work", "retry": { "limit": 2 } });
    let (_, mut world) = submit(&json!({ "name": "main", "tasks": [task] }));
    let first = Fence { task: TaskId(1), attempt: 1, dispatch: 1 };
    world.take(Input::Finished(first, code(code::SUSPENDED)));
    is_dropped(&mut world, &Input::Finished(first, code(code::SUCCEEDED)));
    world.take(Input::Resumed(first.task, Map::new(), None));
    let resumed = Fence { dispatch: 2, ..first };
    is_dropped(&mut world, &Input::Finished(first, code(code::SUCCEEDED)));
    world.take(Input::Finished(resumed, code(code::ERROR)));
    let retried = Fence { attempt: 2, dispatch: 3, ..first };
    let numbers: Vec<Fence> = world.dispatched.iter().map(|dispatch| dispatch.fence).collect();
    assert_eq!(numbers, [first, resumed, retried]);
    for stale in [first, resumed, Fence { dispatch: 4, ..retried }, Fence { attempt: 1, ..retried }] {
        is_dropped(&mut world, &Input::Started(stale));
        is_dropped(&mut world, &Input::Finished(stale, code(code::SUCCEEDED)));
        is_dropped(&mut world, &Input::Interrupted(stale));
        is_dropped(&mut world, &Input::Inactive(stale));
    }
    world.take(Input::Finished(retried, code(code::SUCCEEDED)));
    assert_eq!(world.run.phase(), Phase::Succeeded);
}

/// R-P3: nothing changes a task run that has ended, however it did.
#[test]
fn a_terminal_phase_hears_nothing() {
    let open = json!({ "name": "open", "template": "work" });
    let ended = json!({ "name": "ended", "template": "work", "continueOn": { "failed": true, "error": true, "timeout": true } });
    let ends =
        [code::SUCCEEDED, code::FAILED, code::ERROR, code::TIMEOUT].map(Some).into_iter().chain([None]);
    for end in ends {
        let (_, mut world) = submit(&json!({ "name": "main", "failFast": false, "tasks": [open, ended] }));
        let fence = Fence { task: TaskId(2), attempt: 1, dispatch: 1 };
        world.take(match end {
            Some(end) => Input::Finished(fence, code(end)),
            None => Input::TaskCancelled(fence.task, None),
        });
        assert!(world.run.task(fence.task).unwrap().phase.is_terminal());
        for late in all_inputs(fence) {
            is_dropped(&mut world, &late);
        }
    }
}

/// R-T8: an attempt is told the earliest of all clocks around it.
#[test]
fn the_earliest_clock_is_handed_down() {
    let task = |name: &str, more: Json| {
        let mut task = json!({ "name": name, "template": "work" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task
    };
    let tasks = [
        task("none", json!({})),
        task("timeout", json!({ "timeout": "1m" })),
        task("deadline", json!({ "timeout": "1m", "deadline": "30s" })),
        task("later", json!({ "timeout": "9m", "deadline": "8m" })),
    ];
    let deadlines = |main: &Json| -> Vec<_> {
        let (_, world) = submit(main);
        world.dispatched.iter().map(|dispatch| dispatch.deadline.unwrap().0).collect()
    };
    let minute = 60_000;
    let spec = json!({ "name": "main", "tasks": tasks });
    assert_eq!(deadlines(&spec), [10 * minute, minute, minute / 2, 8 * minute]);
    let container = json!({ "name": "main", "timeout": "5m", "tasks": tasks });
    assert_eq!(deadlines(&container), [5 * minute, minute, minute / 2, 5 * minute]);
}

/// Every order of `items`.
fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let mut rest = items.to_vec();
        let item = rest.remove(at);
        permutations(&rest).into_iter().map(move |mut order| {
            order.insert(0, item.clone());
            order
        })
    };
    (0..items.len()).flat_map(first).collect()
}

/// R-S7: whatever the order of five ends, the dag ends once, with its last child, in the same phase.
#[test]
fn a_scope_ends_once_in_any_order() {
    let names = ["good", "failed", "error", "suspends", "cancelled"];
    let tasks: Vec<Json> = names.iter().map(|name| json!({ "name": name, "template": "work" })).collect();
    let fence = |task| Fence { task: TaskId(task), attempt: 1, dispatch: 1 };
    let inputs = [
        vec![Input::Finished(fence(1), code(code::SUCCEEDED))],
        vec![Input::Finished(fence(2), code(code::FAILED))],
        vec![Input::Finished(fence(3), code(code::ERROR))],
        vec![
            Input::Finished(fence(4), code(code::SUSPENDED)),
            Input::Resumed(TaskId(4), Map::new(), None),
            Input::Finished(Fence { dispatch: 2, ..fence(4) }, code(code::SUCCEEDED)),
        ],
        vec![Input::TaskCancelled(TaskId(5), None)],
    ];
    for order in permutations(&inputs) {
        let (plan, mut world) = submit(&json!({ "name": "main", "tasks": tasks }));
        for input in order.iter().flatten() {
            assert!(!world.run.phase().is_terminal(), "{order:?}");
            world.take(input.clone());
            world.take(input.clone());
        }
        let ends: Vec<Phase> =
            world.journal.iter().flat_map(|(_, events)| events).filter_map(end_of_root).collect();
        assert_eq!(ends, [Phase::Error], "{order:?}");
        check_replay(&plan, &world).unwrap();
        assert_eq!(world.run.now(), Timestamp(0));
    }
}

fn end_of_root(event: &Event) -> Option<Phase> {
    if let Event::Phase(change) = event
        && change.task == TaskId::ROOT
        && change.to.is_terminal()
    {
        return Some(change.to);
    }
    None
}

/// R-S5: a do-while loop whose iterations have nothing to dispatch makes so many at one instant, and ends as Error.
#[test]
fn a_loop_with_nothing_to_do_ends() {
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "idle" },
        "spec": { "entrypoint": "again", "templates": [
            { "loop": { "name": "again", "body": "nothing", "repeatCondition": "true", "maxIterations": 4_000_000_000_u32 } },
            { "dag": { "name": "nothing", "tasks": [{ "name": "a", "executor": { "type": "echo" }, "when": "false" }] } },
        ] },
    });
    let plan =
        Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null).unwrap();
    let world = World::submit(Arc::new(plan), Map::new(), 1, Silent, false);
    let root = world.run.task(TaskId::ROOT).unwrap();
    assert_eq!(root.phase, Phase::Error);
    assert!(root.message.contains("had nothing to do"), "{}", root.message);
    assert!(world.run.tasks().len() < 30_000);
}
