//! R-H17, R-H18: retention, and the end of runs that cannot continue.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use phasm::{
    Host, Keep, Map, Outcome, Phase, RecoverError, Retention, RunHandle,
    artifacts::HostArtifacts,
    engine::time::Timestamp,
    executor::{Executor, Invocation, Observer},
    prunable, prune,
    store::{Filter, Memory, Sqlite, Store},
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

fn host(store: &Arc<dyn Store>) -> Host {
    Host::builder().store(Arc::clone(store)).executor(Arc::new(Asking)).open().unwrap()
}

async fn submit(host: &Host, namespace: &str, executor: &str) -> RunHandle {
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w", "namespace": "{namespace}"}},
            "spec": {{"entrypoint": "main", "templates": [{{"dag": {{"name": "main", "tasks": [
                {{"name": "only", "executor": {{"type": "{executor}"}}}}]}}}}]}}}}"#
    );
    let plan = host.plan("w.json", &text).await.unwrap();
    host.submit(&plan, &Map::new()).await.unwrap()
}

async fn ids(store: &dyn Store) -> Vec<Arc<str>> {
    let rows = store.list(Filter::default(), 1000).await.unwrap();
    rows.into_iter().map(|row| Arc::clone(&row.head.run_id)).collect()
}

#[tokio::test]
async fn runs_go_by_age_and_by_number_and_open_ones_stay() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let host = host(&store);
    let open = submit(&host, "a", "ask").await;
    open.wait_or_park().await.unwrap();
    for (namespace, count) in [("a", 5), ("b", 3)] {
        for _ in 0..count {
            submit(&host, namespace, "work").await.wait().await.unwrap();
        }
    }
    let last = ids(&*store).await;
    let keep = |age, count| Keep { age, count };
    let of_a = |keep| Retention { namespaces: [("a".into(), keep)].into(), ..Retention::default() };
    let others = |keep| Retention { others: keep, ..Retention::default() };
    let (past, future) = (Timestamp(0), Timestamp(i64::MAX));
    let rows = [
        (others(keep(None, None)), future, 0),
        (others(keep(Some(1), None)), past, 0),
        (others(keep(Some(1), None)), future, 8),
        (others(keep(None, Some(2))), past, 4),
        (others(keep(Some(1), Some(100))), future, 8),
        (of_a(keep(None, Some(2))), past, 3),
        (Retention { phase: Some(Phase::Failed), ..others(keep(None, Some(0))) }, past, 0),
    ];
    for (retention, now, expected) in rows {
        assert_eq!(prunable(&*store, &retention, now).await.unwrap().0.len(), expected, "{retention:?}");
    }
    let (gone, _) = prunable(&*store, &of_a(keep(None, Some(2))), past).await.unwrap();
    assert_eq!(
        prune(&*store, &of_a(keep(None, Some(2))), past, &HostArtifacts::default()).await.unwrap().deleted,
        3
    );
    let expected: Vec<_> =
        last.into_iter().filter(|id| !gone.iter().any(|head| head.run_id == *id)).collect();
    assert_eq!(ids(&*store).await, expected);
    assert_eq!(
        prune(&*store, &others(keep(Some(1), None)), future, &HostArtifacts::default())
            .await
            .unwrap()
            .deleted,
        5
    );
    assert_eq!(ids(&*store).await, [Arc::clone(open.id())]);
    assert!(open.resume("only", Map::new()).await.unwrap());
    assert_eq!(open.wait().await.unwrap().phase, Phase::Succeeded);
}

/// A host that claims deletes what it keeps no longer; one that does not keeps everything.
#[tokio::test]
async fn a_host_that_claims_forgets_what_is_old() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let retention = Retention { others: Keep { age: None, count: Some(1) }, ..Retention::default() };
    let builder =
        || Host::builder().store(Arc::clone(&store)).executor(Arc::new(Asking)).retention(retention.clone());
    let keeping = builder().open().unwrap();
    for _ in 0..3 {
        submit(&keeping, "a", "work").await.wait().await.unwrap();
    }
    let all = ids(&*store).await;
    assert_eq!(all.len(), 3);
    let _claiming = builder().auto_claim(std::time::Duration::ZERO).open().unwrap();
    while ids(&*store).await.len() > 1 {
        tokio::task::yield_now().await;
    }
    // They may have ended in one millisecond: any of them is the last.
    let left = ids(&*store).await;
    assert!(left.len() == 1 && all.contains(&left[0]), "{left:?} of {all:?}");
}

/// More than are deleted at once; what is only looked at stays.
#[tokio::test]
async fn many_runs_are_deleted_a_few_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(dir.path().join("runs.db")).unwrap());
    let host = host(&store);
    let mut runs = Vec::new();
    for _ in 0..600 {
        runs.push(submit(&host, "a", "work").await);
    }
    for run in &runs {
        run.wait().await.unwrap();
    }
    let retention = Retention { others: Keep { count: Some(10), ..Keep::default() }, ..Retention::default() };
    assert_eq!(prunable(&*store, &retention, Timestamp(0)).await.unwrap().0.len(), 590);
    assert_eq!(
        prune(&*store, &retention, Timestamp(0), &HostArtifacts::default()).await.unwrap().deleted,
        590
    );
    assert_eq!(ids(&*store).await.len(), 10);
}

#[tokio::test]
async fn a_run_that_nobody_can_go_on_with_is_abandoned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path).unwrap());
    let first = host(&store);
    let [sound, broken] = [submit(&first, "a", "ask").await, submit(&first, "a", "ask").await];
    for run in [&sound, &broken] {
        run.wait_or_park().await.unwrap();
        assert!(matches!(first.abandon(run.id(), "no").await, Err(RecoverError::Driven { .. })));
    }
    tokio::task::spawn_blocking(|| first.close()).await.unwrap();
    spoil(&path);

    let host = host(&store);
    assert!(host.abandon(sound.id(), "its plugin is lost").await.unwrap());
    let run = host.replay(sound.id()).await.unwrap();
    assert_eq!(run.phase(), Phase::Error);
    assert!(
        phasm::RunView::of(&run).message.contains("its plugin is lost"),
        "{:?}",
        phasm::RunView::of(&run)
    );
    assert!(!host.abandon(broken.id(), "it cannot be read").await.unwrap());
    for run in [&sound, &broken] {
        let row = store.get(run.id()).await.unwrap().unwrap();
        assert_eq!((row.status.phase, row.status.open, row.owner), (Phase::Error, false, None));
        assert!(matches!(host.abandon(run.id(), "again").await, Err(RecoverError::Ended { .. })));
        assert!(store.delete(run.id()).await.unwrap());
    }
}

/// Flips a bit in the first record of the second run.
fn spoil(path: &Path) {
    let file = rusqlite::Connection::open(path).unwrap();
    let changed = file.execute("UPDATE journal SET time = time + 1 WHERE run = 2 AND first_seq = 0", []);
    assert_eq!(changed.unwrap(), 1);
}
