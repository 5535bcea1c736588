//! Hosts whose wall clock is set while they drive runs (R-T11).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use phasm::{
    Host, Map, Notice, Outcome, Phase, RunHandle, Watch,
    clock::TimeSource,
    engine::{outcome::code, time::Millis},
    executor::{Executor, Invocation, Observer},
    store::{Memory, Store},
};
use phasm_tests::stepped::Stepped;

const HOUR: i64 = 3_600_000;

/// `ask` suspends, another fails twice; notes how much had elapsed at each call.
struct Notes {
    time: Arc<Stepped>,
    called: Mutex<Vec<Millis>>,
}

impl Executor for Notes {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        self.called.lock().unwrap().push(self.time.elapsed());
        let suspends = call.task.as_ref() == "ask" && !call.resumed;
        let code = if suspends {
            code::SUSPENDED
        } else if call.attempt < 3 {
            code::ERROR
        } else {
            code::SUCCEEDED
        };
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }
}

/// A host at 10 h.
struct Bench {
    time: Arc<Stepped>,
    notes: Arc<Notes>,
    host: Host,
}

impl Bench {
    fn on(store: Arc<dyn Store>) -> Self {
        let time = Arc::new(Stepped::default());
        time.set(10 * HOUR);
        let notes = Arc::new(Notes { time: Arc::clone(&time), called: Mutex::default() });
        let host =
            Host::builder().store(store).executor(Arc::clone(&notes) as _).time(Arc::clone(&time) as _);
        Self { time, notes, host: host.open().unwrap() }
    }

    fn new() -> Self {
        Self::on(Arc::new(Memory::default()))
    }

    /// A run of one task, once this has happened to it.
    async fn run(&self, task: &str, until: &str) -> (RunHandle, Watch) {
        let document = format!(
            "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: w}}\nspec:\n  entrypoint: main\n  templates:\n    - dag: \
             {{name: main, tasks: [{{executor: {{type: any}}, {task}}}]}}\n"
        );
        let plan = self.host.plan("w.yaml", &document).await.unwrap();
        let new = self.host.new_run(&plan, &Map::new()).await.unwrap();
        let mut notices = new.watch();
        let run = new.start().await.unwrap();
        reached(&mut notices, until).await;
        (run, notices)
    }
}

/// Waits for an event of this type.
async fn reached(watch: &mut Watch, until: &str) {
    while let Some(notice) = watch.next().await.unwrap() {
        if let Notice::Record(record) = notice
            && watch.views(&record).any(|view| view.json().to_string().contains(until))
        {
            return;
        }
    }
    panic!("the run ended before {until}");
}

/// A delay lasts as long as it was to, whatever the wall clock is set to meanwhile.
#[tokio::test]
async fn a_delay_is_not_shortened() {
    for set in [HOUR / 2, -HOUR] {
        let bench = Bench::new();
        let (run, mut notices) =
            bench.run("name: a, retry: {limit: 2, delay: 10s}", "task.retry.scheduled").await;
        bench.time.set(set);
        // Looking at the run makes it see that time has passed.
        run.view().await.unwrap();
        bench.time.pass(10_000);
        reached(&mut notices, "task.retry.scheduled").await;
        bench.time.pass(10_000);
        assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
        assert_eq!(*bench.notes.called.lock().unwrap(), [0, 10_000, 20_000], "set by {set}");
    }
}

/// A timeout that the wall clock has passed expires within half a minute.
#[tokio::test]
async fn a_clock_that_was_set_forward_is_noticed() {
    let bench = Bench::new();
    let (run, _notices) = bench.run("name: ask, timeout: 50m", "Suspended").await;
    bench.time.set(HOUR);
    bench.time.pass(30_000);
    let view = run.wait().await.unwrap();
    assert_eq!(view.phase, Phase::Timeout);
    assert_eq!(view.finished_at.as_deref(), Some("1970-01-01T11:00:30.000Z"));
}

/// One that is set back moves no timeout: what was to take 50 minutes takes them.
#[tokio::test]
async fn a_clock_that_was_set_back_moves_nothing() {
    let bench = Bench::new();
    let (run, _notices) = bench.run("name: ask, timeout: 50m", "Suspended").await;
    bench.time.set(-HOUR);
    bench.time.pass(50 * 60_000);
    let view = run.wait().await.unwrap();
    assert_eq!(view.phase, Phase::Timeout);
    assert_eq!(view.finished_at.as_deref(), Some("1970-01-01T10:50:00.000Z"));
}

/// A host with a clock that is an hour behind resumes a run from its journal; a delay is as long as planned.
#[tokio::test]
async fn a_run_goes_on_from_its_journal() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let bench = Bench::on(Arc::clone(&store));
    let (run, _notices) = bench.run("name: a, retry: {limit: 2, delay: 10s}", "task.retry.scheduled").await;
    drop(bench);
    let behind = Bench::on(store);
    behind.time.set(-HOUR);
    // By the run's time it is due in a few seconds, though by this wall clock that is an hour away.
    assert_eq!(behind.host.claim().await.unwrap().len(), 1);
    let run = behind.host.recover_run(run.id()).await.unwrap();
    behind.time.pass(10_000);
    while behind.notes.called.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // The second host resumes from the last record of the first.
    let view = run.view().await.unwrap();
    assert!(view.tasks.iter().all(|task| task.created_at.as_str() >= "1970-01-01T10:00:00.000Z"));
    assert_eq!(behind.notes.called.lock().unwrap().first(), Some(&10_000));
}
