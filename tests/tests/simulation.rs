//! Seeded simulation: random dags, an executor that does anything, late and doubled inputs. `PHASM_SIM_SEEDS=N` runs more;
//! `PHASM_SIM_SEED=S` runs one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Event, Fence, Input, TaskId},
    outcome::Outcome,
    plan::Plan,
    time::Timestamp,
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay};
use serde_json::{Value as Json, json};

/// Splitmix64: a seed is a whole simulation.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

impl Script for Random {
    fn act(&mut self, _path: &str, _dispatch: &Dispatch) -> Act {
        let code = [0, 0, 0, 1, 2, 3, 4, 99].into_iter().nth(self.below(8) as usize).unwrap_or_default();
        let takes = (!self.chance(10)).then(|| self.below(200));
        Act { start_after: self.below(3) * 10, takes, outcome: Outcome { code, ..Outcome::default() } }
    }
}

fn maybe(
    random: &mut Random,
    percent: u64,
    task: &mut Json,
    key: &str,
    value: impl FnOnce(&mut Random) -> Json,
) {
    if random.chance(percent) {
        let value = value(random);
        task.as_object_mut().unwrap().insert(key.to_owned(), value);
    }
}

fn task(random: &mut Random, index: u64, inner: bool) -> Json {
    let container = inner && random.chance(30);
    let template = if container { "inner" } else { "work" };
    let mut task = json!({ "name": format!("t{index}"), "template": template });
    let dependencies: Vec<String> =
        (0..index).filter(|_| random.chance(25)).map(|i| format!("t{i}")).collect();
    if let Some(upstream) = dependencies.first() {
        let when = format!("tasks.{upstream}.phase != 'Failed'");
        maybe(random, 20, &mut task, "when", |_| json!(when));
        task.as_object_mut().unwrap().insert("dependencies".to_owned(), json!(dependencies));
    }
    maybe(random, 25, &mut task, "timeout", |r| json!(1 + r.below(300)));
    maybe(
        random,
        40,
        &mut task,
        "continueOn",
        |r| json!({ "failed": r.chance(50), "error": r.chance(50), "timeout": r.chance(50) }),
    );
    if !container {
        let bound =
            |r: &mut Random, most| json!({ "timeout": 1 + r.below(most), "errorOnTimeout": r.chance(50) });
        maybe(random, 15, &mut task, "maxRuntime", |r| bound(r, 150));
        maybe(random, 15, &mut task, "deadline", |r| bound(r, 400));
        maybe(random, 50, &mut task, "retry", |r| retry(r, index));
    }
    task
}

fn retry(random: &mut Random, index: u64) -> Json {
    match random.below(4) {
        0 => json!({ "limit": random.below(4), "delay": random.below(50) }),
        1 => json!({ "limit": 2, "expression": format!("tasks.t{index}.code != 0") }),
        2 => json!({ "maxAttempts": random.below(4), "delay": random.below(80), "exponentialBackoff": 2 }),
        _ => json!({ "maxAttempts": -1, "delay": 5, "jitter": 0.5 }),
    }
}

fn dag(random: &mut Random, name: &str, inner: bool) -> Json {
    let count = 1 + random.below(8);
    let tasks: Vec<Json> = (0..count).map(|index| task(random, index, inner)).collect();
    let mut dag = json!({ "name": name, "tasks": tasks });
    maybe(random, 30, &mut dag, "failFast", |_| json!(false));
    maybe(random, 30, &mut dag, "parallelism", |r| json!(1 + r.below(3)));
    maybe(random, 20, &mut dag, "timeout", |r| json!(1 + r.below(500)));
    json!({ "dag": dag })
}

fn plan(random: &mut Random) -> Arc<Plan> {
    let work = json!({ "task": { "name": "work", "executor": { "type": "echo" } } });
    let entrypoint = if random.chance(10) { "work" } else { "main" };
    let templates = json!([work, dag(random, "inner", false), dag(random, "main", true)]);
    let mut spec = json!({ "entrypoint": entrypoint, "timeout": "1m", "templates": templates });
    maybe(random, 20, &mut spec, "timeout", |r| json!(1 + r.below(500)));
    maybe(random, 20, &mut spec, "parallelism", |r| json!(1 + r.below(4)));
    let document =
        json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "sim" }, "spec": spec });
    let tree = Tree::from(&Value::from(document));
    Arc::new(Plan::build(&tree, &()).unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// An input from outside, often one that does not apply.
fn disturbance(random: &mut Random, world: &World<Random>) -> Option<Input> {
    let tasks = u64::try_from(world.run.tasks().len()).unwrap();
    let task = TaskId(u32::try_from(random.below(tasks + 1)).unwrap());
    let fence = world.run.task(task).map_or(Fence { task, attempt: 1, dispatch: 1 }, |task| task.fence());
    Some(match random.below(40) {
        0..6 => Input::Resumed(task, Map::from([("n".into(), 1.into())])),
        6 => Input::TaskCancelled(task),
        7 if random.chance(20) => Input::Cancelled,
        8 => Input::Inactive(fence),
        9 => Input::Interrupted(fence),
        10 => Input::Finished(fence, Outcome::error("late")),
        11 => Input::Started(Fence { dispatch: fence.dispatch.saturating_sub(1), ..fence }),
        _ => return None,
    })
}

fn simulate(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let plan = plan(&mut random);
    let slots = u32::try_from(1 + random.below(6)).unwrap();
    let mut world = World::submit(Arc::clone(&plan), Map::new(), slots, random.clone(), false);
    let mut steps = 0;
    while world.advance() {
        steps += 1;
        if steps > 20_000 {
            return Err("the run does not end".to_owned());
        }
        if let Some(input) = disturbance(&mut random, &world) {
            world.take(input);
        }
    }
    if !world.run.phase().is_terminal() {
        return Err("nothing more will happen, and the run is open".to_owned());
    }
    check_terminal_is_final(&world.journal)?;
    check_replay(&plan, &world)
}

/// No task run leaves a terminal phase, and none is dispatched after one (R-P3).
fn check_terminal_is_final(journal: &[(Timestamp, Vec<Event>)]) -> Result<(), String> {
    let mut ended = std::collections::BTreeSet::new();
    for event in journal.iter().flat_map(|(_, events)| events) {
        if let Event::Phase(change) = event {
            if ended.contains(&change.task) {
                return Err(format!("{change:?} after the end"));
            }
            if change.to.is_terminal() {
                ended.insert(change.task);
            }
        }
    }
    Ok(())
}

#[test]
fn random_runs_end_legally_and_replay_exactly() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds =
        number("PHASM_SIM_SEED").map_or(0..number("PHASM_SIM_SEEDS").unwrap_or(2000), |seed| seed..seed + 1);
    for seed in seeds {
        simulate(seed).unwrap_or_else(|error| panic!("PHASM_SIM_SEED={seed}: {error}"));
    }
}
