//! Journals that an earlier Phasm wrote are read, shown and driven on (`tests/journals`).
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::{
    collections::BTreeMap,
    fs,
    future::Future,
    num::NonZeroU32,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use phasm::{
    Host, Rerun, Waited,
    engine::{
        outcome::Outcome,
        phase::Phase,
        run::{Run, RunView},
        time::Timestamp,
        value::{Map, Value},
    },
    executor::{Executor, Invocation, Observer},
    journal,
    secrets::Secrets,
    store::{ReadStore, Record, Sqlite},
};
use serde_json::json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("journals")
}

/// The records of a scenario's journal, as a store has them, and the run as it stood after the last.
fn scenario(path: &Path) -> (Vec<Record<Vec<u8>>>, serde_json::Value) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.pop().unwrap();
    let mut first_seq = 0;
    let records = lines.iter().map(|line| {
        let events = u32::try_from(line["events"].as_array().unwrap().len()).unwrap();
        let record = Record {
            first_seq,
            events: NonZeroU32::new(events).unwrap(),
            time: Timestamp(line["time"].as_i64().unwrap()),
            body: serde_json::to_vec(&line["events"]).unwrap(),
            document: None,
            notices: Vec::new(),
        };
        first_seq = record.next_seq();
        record
    });
    (records.collect(), last)
}

/// A view without what was amended since: `retries` of a task that is in a delay, or was cancelled there (R-R6), and
/// doubts about the document, which are recorded since.
fn comparable(mut view: serde_json::Value) -> serde_json::Value {
    view["warnings"].as_array_mut().unwrap().retain(|warning| !is_of_document(warning));
    // What something waits for was not shown then.
    view.as_object_mut().unwrap().remove("waiting");
    for task in view["tasks"].as_array_mut().unwrap() {
        task.as_object_mut().unwrap().remove("waiting");
        if task["finishedAt"].is_null() || task["phase"] == "Cancelled" {
            task["retries"] = json!(null);
            task["metrics"]["retries"] = json!(null);
        }
    }
    view
}

fn is_of_document(warning: &serde_json::Value) -> bool {
    warning["code"].as_str().is_some_and(|code| code.starts_with('W'))
}

fn shown(run: &Run) -> serde_json::Value {
    comparable(serde_json::to_value(RunView::of(run)).unwrap())
}

/// Every prefix is a run that can be gone on with; the whole is the run as it was shown then.
#[test]
fn journals_of_the_first_format_are_replayed() {
    let mut files = 0;
    for entry in fs::read_dir(folder().join("engine")).unwrap() {
        let path = entry.unwrap().path();
        let (records, last) = scenario(&path);
        for length in 1..=records.len() {
            let mut run = journal::replay("run", records.get(..length).unwrap(), |_, _, _, _| {})
                .unwrap_or_else(|error| panic!("{} cut at {length}: {error:?}", path.display()));
            if length == records.len() {
                assert_eq!(shown(&run), comparable(last["view"].clone()), "{}", path.display());
                assert_eq!(json!(run.seq()), last["seq"], "{}", path.display());
                assert_eq!(json!(run.next_wait()), last["nextWait"], "{}", path.display());
            }
            let in_flight = run.in_flight() as usize;
            let step = run.recover(run.now());
            assert!(step.commands.len() >= in_flight, "{} cut at {length}", path.display());
        }
        files += 1;
    }
    assert!(files > 40, "{files} journals");
}

/// What the guests do that the runs were submitted with; what slept succeeds at last.
struct Guests;

impl Executor for Guests {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let outcome = match call.executor_type.as_ref() {
            "suspend" if !call.resumed => Outcome { code: 1, ..Outcome::default() },
            _ => Outcome::default(),
        };
        Box::pin(async move { outcome })
    }
}

/// A copy, so that what was written then stays as it is.
fn stored(dir: &Path) -> Arc<Sqlite> {
    let path = dir.join("store.db");
    fs::copy(folder().join("store.db"), &path).unwrap();
    Arc::new(Sqlite::open(path).unwrap())
}

/// Workflow by run, and what was shown of each.
fn expected() -> BTreeMap<String, serde_json::Value> {
    serde_json::from_str(&fs::read_to_string(folder().join("views.json")).unwrap()).unwrap()
}

#[tokio::test]
async fn a_store_of_the_first_format_is_shown_and_driven_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = stored(dir.path());
    let mut secrets = Secrets::default();
    secrets.insert("api", "token", "hidden-1234");
    let host = Host::builder().store(Arc::clone(&store) as _).secrets(secrets).executor(Arc::new(Guests));
    let host = host.open().unwrap();
    let expected = expected();
    let rows = store.list(phasm::store::Filter::default(), 100).await.unwrap();
    assert_eq!(rows.len(), expected.len());
    for row in &rows {
        let run = host.replay(&row.head.run_id).await.unwrap();
        let then = &expected[row.head.workflow.as_ref()];
        assert_eq!(shown(&run), comparable(then["view"].clone()), "{}", row.head.workflow);
        assert_eq!(json!(run.seq()), then["events"], "{}", row.head.workflow);
    }
    let mut open = Vec::new();
    for (head, handle) in host.recover().await.unwrap() {
        open.push((head, handle.unwrap()));
    }
    open.sort_by(|(a, _), (b, _)| a.workflow.cmp(&b.workflow));
    let names: Vec<&str> = open.iter().map(|(head, _)| head.workflow.as_ref()).collect();
    assert_eq!(names, ["configured", "labels", "mixed-killed", "parked", "wrapper-in-delay"]);
    for (head, handle) in open {
        match head.workflow.as_ref() {
            // Its delay has long been over.
            "wrapper-in-delay" => {}
            "labels" => assert!(handle.resume("main/true", answer()).await.unwrap()),
            _ => assert!(handle.resume("main/ask", answer()).await.unwrap()),
        }
        let view = handle.wait().await.unwrap();
        assert_eq!(view.phase, Phase::Succeeded, "{}: {view:?}", head.workflow);
    }
}

/// R-F1: runs of then that have ended can be run again.
#[tokio::test]
async fn runs_of_the_first_format_are_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = stored(dir.path());
    let host = Host::builder().store(Arc::clone(&store) as _).executor(Arc::new(Guests)).open().unwrap();
    let rows = store.list(phasm::store::Filter::default(), 100).await.unwrap();
    let ended: Vec<_> = rows.iter().filter(|row| row.status.phase.is_terminal()).collect();
    assert!(ended.len() > 3, "{rows:?}");
    for row in ended {
        let from_failed = Rerun { from_failed: true, ..Rerun::default() };
        let run = host.rerun(&row.head.run_id, &from_failed).await.unwrap().start().await.unwrap();
        let (Waited::Ended(view) | Waited::Parked(view)) = run.wait_or_park().await.unwrap();
        assert_eq!(view.rerun_of.as_ref(), Some(&row.head.run_id));
        if row.status.phase == Phase::Succeeded {
            let executed = view.tasks.iter().filter(|task| !task.attempts.is_empty());
            assert_eq!((view.phase, executed.count()), (Phase::Succeeded, 0), "{}", row.head.workflow);
        }
    }
}

fn answer() -> Map {
    [("by".into(), Value::from("Ada"))].into_iter().collect()
}
