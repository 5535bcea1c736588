//! Files that say something else than what was written: single bits, and blocks that were torn or lost.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use phasm::store::{ReadStore, SqliteReader};
use rustix::process::Signal;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    digest::{self, Digest},
    kills,
    random::Random,
    round::Round,
    workload::WORKLOADS,
};

/// Written events by run.
type Written = HashMap<Arc<str>, Vec<Value>>;

/// A file, and the log beside it, with runs that have ended and runs that have not.
struct Original {
    dir: PathBuf,
    written: Written,
}

const FILES: [&str; 2] = ["runs.db", "runs.db-wal"];

fn original(round: &mut Round) -> Original {
    for (name, _) in WORKLOADS {
        let mut process = round.start(&["run", &format!("{name}.yaml")]);
        round.end(&mut process, &[0, 1, 3, 4, 5, 6]);
    }
    for name in ["chains", "loops", "retries"] {
        killed_amid(round, name);
    }
    // A process that ends before it is killed removes the log.
    while !round.bench.path("runs.db-wal").exists() {
        killed_amid(round, "chains");
    }
    let dir = round.bench.path("");
    // A reader could remove the log.
    copy(&dir, &round.bench.path("read"));
    let runs = read(&round.bench.path("read")).unwrap_or_else(|error| round.fail(&error));
    assert!(runs.iter().any(|run| run.row.status.open));
    let written = runs.into_iter().map(|run| (Arc::clone(&run.row.head.run_id), run.events));
    Original { dir, written: written.collect() }
}

/// Runs a workload, and kills its process once the first of its tasks has ended.
fn killed_amid(round: &mut Round, name: &str) {
    let mut process = round.start(&["run", &format!("{name}.yaml")]);
    process.find(Duration::from_secs(60), |line| line.contains("Succeeded").then_some(()));
    process.signal(Signal::KILL);
    process.end();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    // Shared state of readers says nothing about another copy.
    let _may_not_be_there = fs::remove_file(to.join("runs.db-shm"));
    for name in FILES {
        let _log_may_be_gone = fs::remove_file(to.join(name));
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Returns what can be read; an error if nothing can.
fn read(dir: &Path) -> Result<Vec<Digest>, String> {
    let store = SqliteReader::open(dir.join("runs.db")).map_err(|error| error.to_string())?;
    let runtime = Runtime::new().unwrap();
    let rows = runtime.block_on(digest::rows(&store))?;
    let readable =
        rows.into_iter().filter_map(|row| runtime.block_on(digest::of(&store as &dyn ReadStore, row)).ok());
    Ok(readable.collect())
}

/// Does something to a copy, and says what.
fn damage(random: &mut Random, dir: &Path) -> String {
    let name = *random.pick(&FILES);
    let path = dir.join(name);
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len() as u64;
    let at = usize::try_from(random.below(length)).unwrap();
    let what = match random.below(10) {
        0..7 => {
            let bit = random.below(8);
            *bytes.get_mut(at).unwrap() ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        7 | 8 => {
            let from = at - at % 512;
            let block = bytes.iter_mut().skip(from).take(512);
            block.for_each(|byte| *byte = 0);
            format!("512 bytes from {from} are gone")
        }
        _ => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
    };
    fs::write(&path, bytes).unwrap();
    format!("{name} of {length} bytes: {what}")
}

/// Every event that is read was written, and a run that is reported as ended has the end among its read events.
fn is_true(run: &Digest, written: &Written) -> Result<(), String> {
    let id = &run.row.head.run_id;
    let all = written.get(id).ok_or_else(|| format!("run {id} was never written"))?;
    if !all.starts_with(&run.events) {
        return Err(format!("run {id} is read as it was not written"));
    }
    if run.row.status.open == run.is_over {
        return Err(format!("run {id} is said to be open: {}, over: {}", run.row.status.open, run.is_over));
    }
    Ok(())
}

/// R-H5: what a disk changes is detected, or harmless; nothing else is believed.
#[test]
fn what_a_disk_changes_is_not_believed() {
    let mut random = Random::new(3);
    let count = kills() * 6;
    let mut round = Round::new(&mut random, "runs.db", 0);
    let Original { dir, written } = original(&mut round);
    let copied = round.bench.path("copy");
    let mut believed = Vec::new();
    for _ in 0..count {
        copy(&dir, &copied);
        let what = damage(round.random, &copied);
        for run in read(&copied).unwrap_or_default() {
            if let Err(error) = is_true(&run, &written) {
                believed.push(format!("{what}: {error}"));
            }
        }
    }
    if !believed.is_empty() {
        round.fail(&believed.join("\n"));
    }
}
