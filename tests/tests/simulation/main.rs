//! Seeded simulation (R-S7, R-P3, R-R11, R-D3): random documents, an executor that does anything, inputs that are late,
//! doubled, of another dispatch or out of order, and crashes at any point.
//!
//! `PHASM_SIM_SEED=S` runs one seed again; `PHASM_SIM_SEEDS=N` runs N of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod documents;
mod invariants;
mod random;

use std::sync::Arc;

use phasm_engine::{
    event::{Fence, Input, TaskId},
    outcome::Outcome,
    phase::Phase,
    plan::{Draft, Executors, Plan},
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{World, check_cut};

use self::{invariants::Watch, random::Random};

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 10_000;

/// Steps after which a run is taken for endless.
const MOST_STEPS: u32 = 40_000;

fn plan(random: &mut Random) -> Arc<Plan> {
    let document = documents::document(random);
    let tree = Tree::from(&Value::from(document.clone()));
    Arc::new(Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap_or_else(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{document:#}\n{}", problems.join("\n"))
    }))
}

/// An input from outside, often one that does not apply.
fn disturbance(random: &mut Random, world: &World<Random>) -> Option<Input> {
    let tasks = u64::try_from(world.run.tasks().len()).unwrap();
    let any = TaskId(u32::try_from(random.below(tasks + 1)).unwrap());
    let suspended = world.run.tasks().iter().find(|task| task.phase == Phase::Suspended);
    let task = suspended.filter(|_| random.chance(50)).map_or(any, |task| task.id);
    let fence = world.run.task(task).map_or(Fence { task, attempt: 1, dispatch: 1 }, |task| task.fence());
    Some(match random.below(60) {
        0..6 => Input::Resumed(task, Map::from([("n".into(), 1.into())]), None),
        6 if random.chance(30) => Input::TaskCancelled(task, None),
        7 if random.chance(10) => Input::Cancelled(None),
        8 => Input::Inactive(fence),
        9 => Input::Interrupted(fence),
        10 => Input::Finished(fence, Outcome::error("late")),
        11 => Input::Started(Fence { dispatch: fence.dispatch.saturating_sub(1), ..fence }),
        12 => Input::Finished(Fence { attempt: fence.attempt + 1, ..fence }, Outcome::default()),
        13 => Input::Started(fence),
        _ => return None,
    })
}

fn simulate(seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let plan = plan(&mut random);
    let slots = u32::try_from(1 + random.below(6)).unwrap();
    let mut world = World::submit(Arc::clone(&plan), Map::new(), slots, random.clone(), false);
    play(&mut random, &mut world)?;
    if random.chance(30) {
        let mut again = World::rerun(&world.run, Map::new(), slots, random.clone(), false);
        play(&mut random, &mut again)?;
    }
    Ok(())
}

fn play(random: &mut Random, world: &mut World<Random>) -> Result<(), String> {
    let plan = Arc::clone(world.run.plan());
    let mut watch = Watch::default();
    watch.look(world)?;
    let crashes = random.chance(40);
    let mut steps = 0;
    while world.advance() {
        watch.look(world)?;
        steps += 1;
        if steps > MOST_STEPS {
            return Err("the run does not end".to_owned());
        }
        if let Some(input) = disturbance(random, world) {
            world.take(input);
            watch.look(world)?;
        }
        if crashes && random.chance(3) {
            check_cut(&plan, world, world.journal.len())?;
            let later = world.run.now().after(random.below(30));
            world.crash(later)?;
            watch.look(world)?;
        }
    }
    invariants::at_the_end(&world.run)?;
    check_cut(&plan, world, world.journal.len())
}

#[test]
fn random_runs_keep_every_invariant() {
    phasm_tests::seeds::try_all(SEEDS, simulate);
}
