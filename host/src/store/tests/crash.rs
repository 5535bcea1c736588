//! Killed at any moment, a store holds all it acknowledged, and every record is whole.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use super::{super::AttemptLog, *};

const RUNS: u64 = 12;
const ROUNDS: u64 = 15;
const STORE: &str = "PHASM_TEST_CRASHING_STORE";

/// Derives the number of events from where a record begins, so that both processes know it.
fn events(first_seq: u64) -> u32 {
    1 + u32::try_from(first_seq % 3).unwrap()
}

fn body(run: u64, first_seq: u64) -> Vec<u8> {
    let size = usize::try_from((first_seq * 977 + run * 131) % 9000).unwrap();
    format!("run {run} from {first_seq} ").into_bytes().into_iter().cycle().take(size).collect()
}

/// The log of an attempt that a record ends.
fn log(first_seq: u64) -> AttemptLog {
    let attempt = u32::try_from(first_seq).unwrap();
    AttemptLog { task: 0, attempt, dispatch: 1, cut: 0, text: vec![b'l'; 100], damaged: false }
}

fn status(next_seq: u64) -> RunStatus {
    let index = usize::try_from(next_seq % 10).unwrap();
    RunStatus { phase: Phase::ALL[index], finished_at: None, open: index != 4, rest: None }
}

/// Advances one run until killed, printing each sequence number that was acknowledged.
async fn advance(store: &dyn Store, run: u64) {
    let run_id = run.to_string();
    let mut seq = store.get(&run_id).await.unwrap().map_or(0, |row| row.seq);
    loop {
        let written = record(seq, events(seq), Arc::new(body(run, seq)) as Arc<dyn Encode>);
        let written = Record { logs: vec![log(seq)], ..written };
        seq = written.next_seq();
        store.put(head(&run_id), status(seq), written).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {run} {seq}").and_then(|()| out.flush()).unwrap();
    }
}

#[tokio::test]
#[ignore = "the process that the test below kills"]
async fn appends_until_killed() {
    let Some(path) = env::var_os(STORE) else { return };
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(path).unwrap());
    let drivers: Vec<_> = (0..RUNS)
        .map(|run| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { advance(&*store, run).await })
        })
        .collect();
    for driver in drivers {
        driver.await.unwrap();
    }
}

fn start(path: &Path) -> Child {
    let name = "store::tests::crash::appends_until_killed";
    Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture"])
        .env(STORE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the process after it acknowledged `acks` more records, and returns what it acknowledged.
fn kill_after(mut child: Child, acks: u64) -> Vec<(u64, u64)> {
    let mut acknowledged = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        if words.next() == Some("ack") {
            // The last line may have been cut.
            let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
            if let [run, seq] = numbers[..] {
                acknowledged.push((run, seq));
            }
        }
        if acknowledged.len() as u64 == acks {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

async fn check(store: &dyn Store, run: u64, acknowledged: u64) {
    let run_id = run.to_string();
    let Some(row) = store.get(&run_id).await.unwrap() else {
        assert_eq!(acknowledged, 0, "run {run} is lost");
        return;
    };
    assert!(row.seq >= acknowledged, "run {run} has {} events, {acknowledged} were acknowledged", row.seq);
    assert_eq!(row.status, status(row.seq), "run {run}: the row is that of the last record");
    let (mut seq, mut logs) = (0, Vec::new());
    for found in store.load(&run_id).await.unwrap() {
        assert_eq!(found, record(seq, events(seq), body(run, seq)));
        logs.push(log(seq));
        seq = found.next_seq();
    }
    assert_eq!(seq, row.seq);
    assert_eq!(
        store.logs(&run_id, None).await.unwrap(),
        logs,
        "each record has its log, and no log is without its record"
    );
}

/// R-D2, R-L15.
#[tokio::test]
async fn whatever_was_acknowledged_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut last = vec![0; usize::try_from(RUNS).unwrap()];
    for round in 0..ROUNDS {
        // From a kill at the very first record to one in the middle of the log being folded into the file.
        let acks = 1 + round * round * 13;
        for (run, seq) in kill_after(start(&path), acks) {
            // A line cut short by the kill shows a number that is too small.
            let known = &mut last[usize::try_from(run).unwrap()];
            *known = seq.max(*known);
        }
        // The dead process holds no lock; everything it acknowledged is there, now and after each later kill.
        let store = Sqlite::open(&path).unwrap();
        for (run, acknowledged) in (0..).zip(&last) {
            check(&store, run, *acknowledged).await;
        }
    }
    assert!(last.iter().all(|seq| *seq > 0), "{last:?}");
}
