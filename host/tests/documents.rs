//! R-H15: many runs of one document share it, in their store and in memory.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use phasm::{
    Host, Map, Outcome, Phase, RecoverError, RunHandle,
    engine::event::Event,
    executor::{Executor, Invocation, Observer},
    journal,
    store::{Memory, ReadStore, Sqlite, Store},
};

/// Suspends what asks.
struct Asking;

impl Executor for Asking {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = i32::from(&*call.executor_type == "ask" && !call.resumed);
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }
}

fn host(store: Arc<dyn Store>) -> Host {
    Host::builder().store(store).executor(Arc::new(Asking)).open().unwrap()
}

/// Suspended once it is submitted; with `tasks` of them that wait behind.
async fn parked(host: &Host, tasks: usize) -> RunHandle {
    let behind = (0..tasks).map(|number| {
        format!(r#", {{"name": "t{number}", "dependencies": ["ask"], "executor": {{"type": "work"}}}}"#)
    });
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [
                {{"name": "ask", "executor": {{"type": "ask"}}}}{}]}}}}]}}}}"#,
        behind.collect::<String>()
    );
    let plan = host.plan("w.json", &text).await.unwrap();
    let run = host.submit(&plan, &Map::new()).await.unwrap();
    run.wait_or_park().await.unwrap();
    run
}

#[tokio::test]
async fn runs_of_one_document_share_a_plan() {
    let store = Arc::new(Memory::default());
    let submitting = host(Arc::clone(&store) as _);
    let (one, two, other) =
        (parked(&submitting, 3).await, parked(&submitting, 3).await, parked(&submitting, 4).await);
    drop(submitting);
    let host = host(Arc::clone(&store) as _);
    let plan = async |run: &RunHandle| Arc::clone(host.replay(run.id()).await.unwrap().plan());
    let shared = plan(&one).await;
    assert!(Arc::ptr_eq(&shared, &plan(&two).await));
    assert!(!Arc::ptr_eq(&shared, &plan(&other).await));

    // The journal has the plan that was submitted, and shows it.
    let records = store.load(one.id()).await.unwrap();
    let mut basis = None;
    let run = journal::replay(one.id(), &records, |_, _, _, events| {
        if let Some(Event::Submitted(first)) = events.first() {
            basis = Some(first.document.clone());
        }
    });
    assert_eq!(run.unwrap().plan().document, shared.document);
    assert_eq!(basis.as_ref(), Some(&shared.document));
    assert!(!String::from_utf8_lossy(&records.first().unwrap().body).contains("\"t2\""));
}

/// A file with another document than it was given is not accepted, and keeps no other run from continuing.
#[tokio::test]
async fn a_document_that_was_changed_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let submitting = host(Arc::new(Sqlite::open(&path).unwrap()));
    let (run, sound) = (parked(&submitting, 3).await, parked(&submitting, 4).await);
    close(submitting).await;
    let flipped = "UPDATE documents SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"t1\"', '\"t9\"') AS BLOB) WHERE id = 1";
    for (changed, says) in
        [(flipped, "its digest differs"), ("DELETE FROM documents WHERE id = 1", "is not kept")]
    {
        change(&path, changed);
        let host = host(Arc::new(Sqlite::open(&path).unwrap()));
        let refused = host.recover_run(run.id()).await;
        assert!(
            matches!(&refused, Err(RecoverError::Unreadable { seq: 0, source, .. }) if source.to_string().contains(says)),
            "{refused:?}"
        );
        host.recover_run(sound.id()).await.unwrap();
        close(host).await;
    }
    let host = host(Arc::new(Sqlite::open(&path).unwrap()));
    let handle = host.recover_run(sound.id()).await.unwrap();
    assert!(handle.resume("ask", Map::new()).await.unwrap());
    assert_eq!(handle.wait().await.unwrap().phase, Phase::Succeeded);
}

async fn close(host: Host) {
    tokio::task::spawn_blocking(move || host.close()).await.unwrap();
}

fn change(path: &Path, sql: &str) {
    assert_eq!(rusqlite::Connection::open(path).unwrap().execute(sql, []).unwrap(), 1);
}
