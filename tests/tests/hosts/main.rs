//! Random runs, and the scenarios, through whole hosts and a store (R-H1 to R-H4, R-H14, R-D2, R-D3): hosts that compete for one
//! run, die at any point, are taken for gone and come back; runs that are given back whenever they wait; letters; wake-ups that
//! come twice, late or for nothing. Whatever is done, a run comes to what it comes to undisturbed, at the same instants.
//!
//! Time is stepped, and each host runs on a runtime that goes on only when it is told to. `PHASM_SIM_SEED=S` runs one seed again
//! and prints what happens (with `--nocapture`); `PHASM_SIM_SEEDS=N` runs N of them.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

#[path = "../simulation/documents.rs"]
mod documents;
mod house;
mod logs;
mod notices;
#[path = "../simulation/random.rs"]
mod random;
mod scenarios;
mod schedules;
mod shaky;
mod stage;

use phasm::{Map, RunRequest};
use serde_json::Value as Json;

use self::{
    house::{House, Trouble},
    random::Random,
    stage::Play,
};

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 200;

/// Slots for everything: in what order attempts are begun is the engine's alone.
const MANY: u32 = 10_000;

/// A document, and what is written to its run when.
struct Case {
    document: Json,
    letters: Vec<(u64, RunRequest)>,
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let mut document = documents::document(&mut random);
    // Jitter follows from the run's id.
    strip(&mut document, &["jitter"]);
    if trouble(seed) == Trouble::Deaths {
        // An attempt that begins again has its whole time again.
        strip(&mut document, &["maxRuntime", "maxInactivity"]);
    }
    let letters = (0..random.below(6)).map(|_| (random.below(400), letter(&mut random))).collect();
    Case { document, letters }
}

fn letter(random: &mut Random) -> RunRequest {
    let task = random.one_of(&["t0", "t1", "t2", "t3", "work", "note"]).to_owned();
    match random.below(10) {
        0 if random.chance(20) => RunRequest::Cancel,
        1 => RunRequest::CancelTask { task },
        _ => RunRequest::Resume { task, payload: Map::from([("n".into(), 1.into())]) },
    }
}

fn strip(value: &mut Json, names: &[&str]) {
    match value {
        Json::Object(members) => {
            members.retain(|name, _| !names.contains(&name.as_str()));
            members.values_mut().for_each(|member| strip(member, names));
        }
        Json::Array(items) => items.iter_mut().for_each(|item| strip(item, names)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Hosts that die, mostly, or such troubles as cost no attempt.
fn trouble(seed: u64) -> Trouble {
    match seed % 5 {
        0 => Trouble::Clocks,
        1 | 2 => Trouble::Naps,
        _ => Trouble::Deaths,
    }
}

fn simulate(seed: u64) -> Result<(), String> {
    let Case { document, letters } = case(seed);
    let house = |trouble| House::new(seed, Play::Seed(seed), MANY, trouble);
    let play = |trouble| house(trouble).play(&document, &Map::new(), &letters);
    compare(&play(Trouble::None)?, &play(trouble(seed))?, trouble(seed))
}

fn compare(undisturbed: &str, disturbed: &str, trouble: Trouble) -> Result<(), String> {
    if undisturbed == disturbed {
        return Ok(());
    }
    let only = |one: &str, other: &str| -> String {
        one.lines()
            .filter(|line| !other.lines().any(|same| same == *line))
            .map(|line| format!("  {line}\n"))
            .collect()
    };
    let (was, is) = (only(undisturbed, disturbed), only(disturbed, undisturbed));
    Err(format!("undisturbed\n{was}{trouble:?} gave\n{is}"))
}

/// R-H2: a run that rests and was taken over meanwhile is left to its new host. The old one once tried for ever to give it back.
#[test]
fn a_run_that_rests_and_is_taken_over_is_left() {
    simulate(5209).unwrap();
}

/// R-D2, R-D6: a hook that a start has fired is recorded at once, though it needed no record to begin. It once waited as a start does,
/// and was fired again, later, where its host died meanwhile.
#[test]
fn what_a_start_has_fired_is_recorded_at_once() {
    simulate(4909).unwrap();
}

#[test]
fn random_runs_come_to_the_same_whatever_befalls_their_hosts() {
    phasm_tests::seeds::try_all(SEEDS, simulate);
}
