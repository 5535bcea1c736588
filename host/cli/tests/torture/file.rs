//! Runs of a file, whose one process is struck again and again.

use std::sync::Arc;

use phasm::store::SqliteReader;

use crate::{
    digest::Digest,
    kills,
    process::{LONGEST, Process},
    random::Random,
    round::{Expectations, Round, undisturbed},
    tally::{KILLS, Tally},
    workload::ANSWER,
};

/// Kills of one store.
const A_ROUND: u32 = 10;

fn read(round: &mut Round) -> Vec<Digest> {
    let store = SqliteReader::open(round.bench.path("runs.db"));
    round.runs(store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string()))
}

/// Answers a suspended task, or recovers all runs.
fn next(round: &mut Round, runs: &[Digest]) -> Process {
    let asking = runs.iter().find(|run| !run.asks.is_empty());
    match asking.filter(|_| round.left == 0 || round.random.chance(40)) {
        Some(run) => round.start(&["resume", &run.row.head.run_id, "ask", ANSWER, "--grace", "50ms"]),
        None => round.start(&["recover", "--grace", "50ms"]),
    }
}

fn round(random: &mut Random, expected: &Expectations, kills: u32) -> Tally {
    let mut round = Round::new(random, "runs.db", kills);
    round.submit_all();
    loop {
        let runs = read(&mut round);
        if runs.iter().all(|run| !run.row.status.open) {
            round.check(&runs, expected);
            return round.tally;
        }
        let mut process = next(&mut round, &runs);
        round.suffer(&mut process, 900);
    }
}

/// R-T11: set forward under a process, its runs follow; and so the clocks that others set are those that it goes by.
#[test]
fn a_clock_that_is_set_is_gone_by() {
    let mut random = Random::new(6);
    let mut round = Round::new(&mut random, "runs.db", 0);
    let mut process = round.start(&["run", "chains.yaml", "--events"]);
    let Some(clock) = process.clock.take() else { return };
    process.find(LONGEST, |line| line.contains("run.submitted").then_some(()));
    clock.set(3600);
    round.end(&mut process, &[0]);
    let run = read(&mut round).remove(0).row;
    let took = run.status.finished_at.unwrap().since(run.head.submitted_at);
    assert!((3_600_000..7_200_000).contains(&took), "{took} ms");
}

/// R-D2, R-D3, R-L6, R-R8, R-T11: whatever is done to the processes, and to what they take for the time.
#[test]
fn runs_of_a_file_survive_those_who_drive_them() {
    let expected = undisturbed();
    let mut random = Random::new(1);
    let (wanted, mut tally) = (kills().div_ceil(2), Tally::default());
    while tally.of(KILLS) < wanted {
        tally.add(round(&mut random, &expected, A_ROUND.min(wanted - tally.of(KILLS))));
    }
    tally.say("runs of a file");
}
