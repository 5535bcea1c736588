//! Runs of a file, whose one process is struck again and again.

use std::sync::Arc;

use phasm::store::SqliteReader;

use crate::{
    digest::Digest,
    process::Process,
    random::Random,
    round::{Expected, Round, undisturbed},
    strikes,
    workload::ANSWER,
};

/// Strikes of one store.
const A_ROUND: u32 = 14;

fn read(round: &mut Round) -> Vec<Digest> {
    let store = SqliteReader::open(round.bench.path("runs.db"));
    round.runs(store.map(|store| Arc::new(store) as _).map_err(|error| error.to_string()))
}

/// Somebody answers a question, or goes on with everything.
fn next(round: &mut Round, runs: &[Digest]) -> Process {
    let asking = runs.iter().find(|run| !run.asks.is_empty());
    match asking.filter(|_| round.left == 0 || round.random.chance(40)) {
        Some(run) => round.start(&["resume", &run.row.head.run_id, "ask", ANSWER, "--grace", "50ms"]),
        None => round.start(&["recover", "--grace", "50ms"]),
    }
}

fn round(random: &mut Random, expected: &Expected, strikes: u32) {
    let mut round = Round::new(random, "runs.db", strikes);
    round.submit_all();
    loop {
        let runs = read(&mut round);
        if runs.iter().all(|run| !run.row.status.open) {
            return round.check(&runs, expected);
        }
        let mut process = next(&mut round, &runs);
        round.suffer(&mut process, 900);
    }
}

/// R-D2, R-D3, R-L6, R-R8: whatever is done to the processes.
#[test]
fn runs_of_a_file_survive_those_who_drive_them() {
    let expected = undisturbed();
    let mut random = Random::new(1);
    let mut left = strikes() / 2;
    while left > 0 {
        let now = left.min(A_ROUND);
        round(&mut random, &expected, now);
        left -= now;
    }
}
