//! Pure attempts do not wait for a disk (R-D6): nothing outside can tell that they have begun.
#![expect(clippy::unwrap_used, reason = "tests")]

mod failing;

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Poll,
};

use phasm::{
    Host, Map, Outcome, Phase, RunHandle, RunView, SubmitError,
    engine::plan::Plan,
    executor::{Executor, Invocation, Observer},
    store::{ReadStore as _, Store},
};
use tokio::sync::oneshot;

use self::failing::Failing;

/// Counts its calls by task. Type `pure` is pure; `last` makes the next record wait.
struct Counting {
    store: Arc<Failing>,
    calls: Mutex<BTreeMap<String, u32>>,
    opens: Mutex<Option<oneshot::Sender<()>>>,
    /// Whether the record on its way will be refused.
    refuses: AtomicBool,
}

impl Counting {
    fn calls(&self, task: &str) -> u32 {
        self.calls.lock().unwrap().get(task).copied().unwrap_or(0)
    }

    /// From now on the next record is on its way.
    fn hold(&self) {
        let (opens, gate) = oneshot::channel();
        *self.store.gate.lock().unwrap() = Some(gate);
        *self.opens.lock().unwrap() = Some(opens);
        self.store.fails.store(self.refuses.load(SeqCst), SeqCst);
    }

    /// The record that is on its way is there.
    fn open(&self) {
        self.opens.lock().unwrap().take().unwrap().send(()).unwrap();
    }
}

impl Executor for Counting {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        *self.calls.lock().unwrap().entry(call.task.to_string()).or_default() += 1;
        if &*call.executor_type == "last" && self.calls(&call.task) == 1 {
            self.hold();
        }
        let code = i32::from(&*call.executor_type == "ask" && !call.resumed);
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }

    fn is_pure(&self, _: &Arc<str>, executor_type: &str) -> bool {
        executor_type == "pure"
    }
}

fn open() -> (Arc<Failing>, Arc<Counting>, Host) {
    let store = Arc::new(Failing::new());
    let executor = Arc::new(Counting {
        store: Arc::clone(&store),
        calls: Mutex::default(),
        opens: Mutex::default(),
        refuses: AtomicBool::new(false),
    });
    let host =
        Host::builder().store(Arc::clone(&store) as Arc<dyn Store>).executor(Arc::clone(&executor) as _);
    (store, executor, host.open().unwrap())
}

async fn submit(host: &Host, chain: &[(&str, &str)], key: Option<&str>) -> Result<RunHandle, SubmitError> {
    host.new_run(&plan(host, chain).await, &Map::new()).await?.key(key).start().await
}

/// Tasks that follow each other: `name` and executor type.
async fn plan(host: &Host, chain: &[(&str, &str)]) -> Arc<Plan> {
    let mut before = String::new();
    let tasks: Vec<_> = chain
        .iter()
        .map(|(name, executor)| {
            let task = format!(
                r#"{{"name": {name:?}, "dependencies": [{before}], "executor": {{"type": {executor:?}}}}}"#
            );
            before = format!("{name:?}");
            task
        })
        .collect();
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{}]}}}}]}}}}"#,
        tasks.join(", ")
    );
    host.plan("w.json", &text).await.unwrap()
}

async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

/// Whatever can happen without the record that is on its way has happened.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

async fn is_pending<T>(future: &mut Pin<Box<impl Future<Output = T>>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

fn phases(view: &RunView) -> Vec<Phase> {
    view.tasks.iter().map(|task| task.phase).collect()
}

const CHAIN: [(&str, &str); 5] = [("a", "last"), ("b", "pure"), ("c", "pure"), ("d", "other"), ("e", "pure")];

/// R-D6, R-D2, R-H20.
#[tokio::test]
async fn pure_attempts_run_ahead_of_the_record_and_all_else_waits() {
    let (store, executor, host) = open();
    let new = host.new_run(&plan(&host, &CHAIN).await, &Map::new()).await.unwrap();
    let mut watch = new.watch();
    let run = new.start().await.unwrap();
    until(|| executor.calls("c") == 1).await;
    settle().await;
    assert_eq!((executor.calls("b"), executor.calls("d")), (1, 0), "d could be told");
    // Nothing of b and c is shown, which have ended.
    while watch.try_next().unwrap().is_some() {}
    let shown = watch.run().unwrap();
    assert!(shown.tasks().iter().skip(2).all(|task| !task.phase.is_terminal()));
    let mut view = Box::pin(run.view());
    assert!(is_pending(&mut view).await);
    executor.open();
    view.await.unwrap();
    let ended = run.wait().await.unwrap();
    assert_eq!((ended.phase, phases(&ended)), (Phase::Succeeded, vec![Phase::Succeeded; 6]));
    assert_eq!(CHAIN.map(|(name, _)| executor.calls(name)), [1; 5]);
    // The submission; a starts; a ends; b and c start and end; d starts; d ends; e starts; e ends. The starts that a watcher is
    // told of have records of their own.
    let records = store.load(run.id()).await.unwrap();
    assert!(records.len() <= 8, "{} records", records.len());
}

/// R-D6, R-H7: a record that is refused takes with it what has gone on before it, which happens again.
#[tokio::test]
async fn attempts_ahead_of_a_refused_record_are_executed_again() {
    let (store, executor, host) = open();
    executor.refuses.store(true, SeqCst);
    let new = host.new_run(&plan(&host, &CHAIN).await, &Map::new()).await.unwrap();
    let _watch = new.watch();
    let run = new.start().await.unwrap();
    until(|| executor.calls("c") == 1).await;
    store.fails.store(false, SeqCst);
    executor.open();
    let ended = run.wait().await;
    let ended = match ended {
        Ok(ended) => ended,
        Err(_) => host.recover_run(run.id()).await.unwrap().wait().await.unwrap(),
    };
    assert_eq!((ended.phase, phases(&ended)), (Phase::Succeeded, vec![Phase::Succeeded; 6]));
    assert_eq!(CHAIN.map(|(name, _)| executor.calls(name)), [2, 2, 2, 1, 1]);
    until(|| host.metrics().slots.lent == 0).await;
}

/// R-D6: what began for a run that is refused has its slots given back.
#[tokio::test]
async fn a_run_that_is_refused_leaves_nothing() {
    let (_, executor, host) = open();
    let asks = submit(&host, &[("ask", "ask")], Some("k")).await.unwrap();
    asks.wait_or_park().await.unwrap();
    executor.hold();
    let mut again = Box::pin(submit(&host, &[("one", "pure"), ("two", "pure")], Some("k")));
    while executor.calls("two") == 0 {
        assert!(is_pending(&mut again).await);
        tokio::task::yield_now().await;
    }
    executor.open();
    assert!(matches!(again.await, Err(SubmitError::KeyUsed { .. })));
    until(|| host.metrics().slots.lent == 0).await;
    assert!(asks.resume("ask", Map::new()).await.unwrap());
    assert_eq!(asks.wait().await.unwrap().phase, Phase::Succeeded);
}

/// R-D2: slots of attempts that wait for the first record are given back if it is refused.
#[tokio::test]
async fn attempts_that_wait_for_a_refused_first_record_hold_no_slot() {
    let (_, executor, host) = open();
    let asks = submit(&host, &[("ask", "ask")], Some("k")).await.unwrap();
    asks.wait_or_park().await.unwrap();
    let again = submit(&host, &[("one", "other")], Some("k")).await;
    assert!(matches!(again, Err(SubmitError::KeyUsed { .. })));
    assert_eq!((executor.calls("one"), host.metrics().slots.lent), (0, 0));
}
