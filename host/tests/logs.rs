//! R-L15: what attempts write is kept with their run, through the embedding API.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use phasm::{
    Host, HostBuilder, Map, Notice, Outcome, RunHandle, WaitOutcome,
    executor::{Executor, Invocation, Level, Observer},
    secrets::Secrets,
    store::{AttemptLog, Memory, Sqlite, Store},
};

/// Writes what its type says: `say` a few lines and a secret, `ask` a line each time it is called until it is resumed,
/// `fail` the number of its attempt, `hang` a line before it stops for ever, `mute` nothing.
struct Writer;

impl Executor for Writer {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move {
            let code = match call.executor_type.as_ref() {
                "say" => {
                    observer.log(Level::Info, "one\ntwo hunter2");
                    observer.log(Level::Error, "three");
                    0
                }
                "ask" => {
                    observer.log(Level::Info, if call.resumed { "thanks" } else { "may I?" });
                    i32::from(!call.resumed)
                }
                "fail" => {
                    observer.log(Level::Warn, &format!("attempt {}", call.attempt));
                    2
                }
                "hang" => {
                    observer.log(Level::Debug, "waiting");
                    observer.progress(None, "waiting");
                    std::future::pending().await
                }
                _ => 0,
            };
            Outcome { code, ..Outcome::default() }
        })
    }
}

fn document(tasks: &str) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "failFast": false, "tasks": [{tasks}]}}}}]}}}}"#
    )
}

const MIXED: &str = r#"{"name": "say", "executor": {"type": "say"}}, {"name": "mute", "executor": {"type": "mute"}},
    {"name": "ask", "executor": {"type": "ask"}},
    {"name": "fail", "executor": {"type": "fail"}, "retry": {"maxAttempts": 2, "delay": "0s"}}"#;

fn builder(store: &Arc<dyn Store>) -> HostBuilder {
    let mut secrets = Secrets::default();
    secrets.insert("db", "password", "hunter2");
    Host::builder().store(Arc::clone(store)).executor(Arc::new(Writer)).secrets(secrets)
}

async fn submit(host: &Host, tasks: &str) -> RunHandle {
    let plan = host.plan("w.json", &document(tasks)).await.unwrap();
    host.submit(&plan, &Map::new()).await.unwrap()
}

/// (task, attempt, dispatch, cut, text).
type Kept = (u32, u32, u32, u64, String);

async fn kept(host: &Host, run: &RunHandle) -> Vec<Kept> {
    let logs = host.store().logs(run.id(), None).await.unwrap();
    let text = |text| String::from_utf8(text).unwrap();
    let kept = |AttemptLog { task, attempt, dispatch, cut, text: bytes, damaged: _ }| {
        (task, attempt, dispatch, cut, text(bytes))
    };
    logs.into_iter().map(kept).collect()
}

fn stores(dir: &Path) -> [Arc<dyn Store>; 2] {
    [Arc::new(Memory::default()), Arc::new(Sqlite::open(dir.join("runs.db")).unwrap())]
}

fn log(task: u32, attempt: u32, dispatch: u32, text: &str) -> Kept {
    (task, attempt, dispatch, 0, text.to_owned())
}

/// A caller that learns of a run's end finds its logs; an attempt that wrote nothing leaves none.
#[tokio::test]
async fn what_has_ended_has_its_log() {
    let dir = tempfile::tempdir().unwrap();
    for store in stores(dir.path()) {
        let host = builder(&store).open().unwrap();
        let run = submit(&host, MIXED).await;
        assert!(matches!(run.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
        let say = log(1, 1, 1, "info one\ninfo two •••\nerror three\n");
        let fail = [log(4, 1, 1, "warn attempt 1\n"), log(4, 2, 2, "warn attempt 2\n")];
        let mut expected = vec![say, log(3, 1, 1, "info may I?\n")];
        expected.extend(fail);
        assert_eq!(kept(&host, &run).await, expected);
        assert!(run.resume("ask", Map::new()).await.unwrap());
        run.wait().await.unwrap();
        expected.insert(2, log(3, 1, 2, "info thanks\n"));
        assert_eq!(kept(&host, &run).await, expected);
    }
}

/// Logs of stopped attempts, too: up to the decision to stop.
#[tokio::test]
async fn what_was_cancelled_has_its_log() {
    let dir = tempfile::tempdir().unwrap();
    for store in stores(dir.path()) {
        let host = builder(&store).open().unwrap();
        let plan =
            host.plan("w.json", &document(r#"{"name": "a", "executor": {"type": "hang"}}"#)).await.unwrap();
        let new = host.new_run(&plan, &Map::new()).await.unwrap();
        let mut notices = new.watch();
        let run = new.start().await.unwrap();
        while !matches!(notices.next().await.unwrap(), Some(Notice::Progress(_))) {}
        assert_eq!(kept(&host, &run).await, []);
        run.cancel().await.unwrap();
        assert_eq!(kept(&host, &run).await, [log(1, 1, 1, "debug waiting\n")]);
        run.wait().await.unwrap();
        assert_eq!(kept(&host, &run).await, [log(1, 1, 1, "debug waiting\n")]);
    }
}

#[tokio::test]
async fn as_much_is_kept_as_is_configured() {
    let tasks = r#"{"name": "say", "executor": {"type": "say"}}"#;
    let store = || Arc::new(Memory::default()) as Arc<dyn Store>;
    let none: Vec<Kept> = Vec::new();
    let rows = [
        (builder(&store()).log_retention_bytes(12), vec![(1, 1, 1, 23, "error three\n".to_owned())]),
        (builder(&store()).log_retention_bytes(0), none.clone()),
        (Host::builder().executor(Arc::new(Writer)), none),
    ];
    for (builder, expected) in rows {
        let host = builder.open().unwrap();
        let run = submit(&host, tasks).await;
        run.wait().await.unwrap();
        assert_eq!(kept(&host, &run).await, expected);
    }
    // A host on a store in memory of its own keeps none; on a store that it is opened on it does.
    let planner = Host::builder().executor(Arc::new(Writer)).log_retention_bytes(12).planner().unwrap();
    let host = Host::open(planner, store()).unwrap();
    let run = submit(&host, tasks).await;
    run.wait().await.unwrap();
    assert_eq!(kept(&host, &run).await.len(), 1);
}
