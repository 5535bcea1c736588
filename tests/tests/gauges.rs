//! The metrics of a host (R-A51), on a stepped clock.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{future::Future, pin::Pin, sync::Arc};

use phasm::{
    Host, HostBuilder, Map, Outcome, Phase, Quotas, RunHandle, Tenant,
    engine::outcome::code,
    executor::{Executor, Invocation, Observer},
    metrics::MetricsSnapshot,
    store::{Memory, Store},
};
use phasm_tests::stepped::Stepped;
use tokio::sync::{
    Mutex,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// An attempt that has begun, and ends with the code that it is told.
type Begun = (Arc<str>, oneshot::Sender<i32>);

/// Says what begins, and waits to be told how it ends.
struct Gate(UnboundedSender<Begun>);

impl Executor for Gate {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (ends, ended) = oneshot::channel();
        self.0.send((call.task, ends)).unwrap();
        Box::pin(async move { Outcome { code: ended.await.unwrap_or(code::ERROR), ..Outcome::default() } })
    }
}

struct Bench {
    time: Arc<Stepped>,
    host: Host,
    begun: Mutex<UnboundedReceiver<Begun>>,
}

impl Bench {
    fn with(build: impl FnOnce(HostBuilder) -> HostBuilder) -> Self {
        let (tells, begun) = unbounded_channel();
        let time = Arc::new(Stepped::default());
        let host = Host::builder().executor(Arc::new(Gate(tells))).time(Arc::clone(&time) as _).slots(1);
        Self { time, host: build(host).open().unwrap(), begun: Mutex::new(begun) }
    }

    async fn submit(&self, tasks: &str) -> RunHandle {
        let document = format!(
            "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: w, namespace: acme}}\nspec:\n  entrypoint: main\n  templates:\n    \
             - task: {{name: work, executor: {{type: gate}}}}\n    - dag: {{name: main, tasks: [{tasks}]}}\n"
        );
        let plan = self.host.plan("w.yaml", &document).await.unwrap();
        self.host.submit(&plan, &Map::new()).await.unwrap()
    }

    /// The next attempt that begins.
    async fn next(&self) -> Begun {
        self.begun.lock().await.recv().await.unwrap()
    }

    async fn end_next(&self, code: i32) {
        self.next().await.1.send(code).unwrap();
    }

    fn metrics(&self) -> MetricsSnapshot {
        self.host.metrics()
    }
}

const THREE: &str = "{name: a, template: work}, {name: b, template: work}, {name: c, template: work}";

/// R-A51: an attempt is late by what it has waited for its slot, and takes what it takes, by the host's clock.
#[tokio::test]
async fn attempts_are_timed_from_when_they_could_have_begun() {
    let bench = Bench::with(|builder| builder);
    let run = bench.submit(THREE).await;
    let (_, first) = bench.next().await;
    let found = bench.metrics();
    assert_eq!((found.executing(), found.slots.lent, found.slots.waiting), (1, 1, 2), "{found:?}");
    assert_eq!((found.slots.waiting_for_quota, found.leases.driven), (0, 1));
    bench.time.pass(400);
    first.send(code::SUCCEEDED).unwrap();
    let (_, second) = bench.next().await;
    bench.time.pass(100);
    second.send(code::SUCCEEDED).unwrap();
    bench.end_next(17).await;
    assert_eq!(run.wait().await.unwrap().phase, Phase::Error);
    let found = bench.metrics();
    assert_eq!((found.dispatch.count(), found.dispatch.sum), (3, 900_000), "{found:?}");
    assert_eq!((found.attempt.count(), found.attempt.sum), (3, 500_000), "{found:?}");
    let codes = &found.attempts_ended[0];
    assert_eq!(codes.executor.as_deref(), Some("gate"));
    let told: Vec<_> = codes.ended.iter().filter(|(_, count)| *count > 0).map(|(of, _)| of.word()).collect();
    assert_eq!(told, ["succeeded", "other"]);
    assert_eq!((found.executing(), found.slots.lent, found.slots.waiting), (0, 0, 0), "{found:?}");
    let ended = [Phase::Succeeded, Phase::Error].map(|phase| found.tasks_ended.of(phase));
    assert_eq!(ended, [2, 2], "the dag is one of them");
    assert_eq!((found.runs_submitted, found.runs_ended.of(Phase::Error)), (1, 1));
    let written = found.written.unwrap();
    assert!(written.took.count() >= 2 && written.took.count() == written.bytes.count(), "{written:?}");
}

/// R-A51: what waits for its tenant's quota is told apart, and whose it is.
#[tokio::test]
async fn who_waits_for_a_quota_is_told_apart() {
    let quotas = Quotas { running: Some(1), ..Quotas::default() };
    let tenant = Tenant { quotas, ..Tenant::default() };
    let bench = Bench::with(|builder| builder.slots(8).tenant("acme", tenant));
    let run = bench.submit(THREE).await;
    let (_, first) = bench.next().await;
    let found = bench.metrics().slots;
    assert_eq!((found.waiting, found.waiting_for_quota, found.lent, found.total), (0, 2, 1, 8), "{found:?}");
    let tenants: Vec<_> =
        found.tenants.iter().map(|of| (of.tenant.as_deref(), of.lent, of.waiting)).collect();
    assert_eq!(tenants, [(Some("acme"), 1, 2), (None, 0, 0)]);
    first.send(code::SUCCEEDED).unwrap();
    bench.end_next(code::SUCCEEDED).await;
    bench.end_next(code::SUCCEEDED).await;
    run.wait().await.unwrap();
}

/// R-A51: a host that takes a run up counts what ends there, and nothing that had ended before.
#[tokio::test]
async fn what_had_ended_is_not_counted_again() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let tasks = "{name: a, template: work}, {name: b, template: work, dependencies: [a]}";
    let first = Bench::with(|builder| builder.store(Arc::clone(&store)));
    let run = first.submit(tasks).await;
    first.end_next(code::SUCCEEDED).await;
    let stopped = first.next().await;
    let id = run.id().to_owned();
    assert_eq!(first.metrics().tasks_ended.of(Phase::Succeeded), 1);
    drop((first.host, stopped));
    let second = Bench::with(|builder| builder.store(store));
    let run = second.host.recover_run(&id).await.unwrap();
    second.end_next(code::SUCCEEDED).await;
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    let found = second.metrics();
    assert_eq!((found.tasks_ended.of(Phase::Succeeded), found.attempts_begun), (2, 1), "{found:?}");
    assert_eq!((found.runs_submitted, found.runs_ended.of(Phase::Succeeded)), (0, 1));
}

/// R-T12: an end by a clock is counted as a timeout, whatever the word for its phase.
#[tokio::test]
async fn what_a_clock_ends_is_counted_as_a_timeout() {
    let bench = Bench::with(|builder| builder);
    let run = bench.submit("{name: a, template: work, maxRuntime: 1s}").await;
    let _hangs = bench.next().await;
    bench.time.pass(1000);
    assert_eq!(run.wait().await.unwrap().phase, Phase::Cancelled);
    let found = bench.metrics();
    let tasks = [Phase::Timeout, Phase::Cancelled].map(|phase| found.tasks_ended.of(phase));
    assert_eq!(tasks, [2, 0], "{found:?}");
    assert_eq!((found.runs_ended.of(Phase::Timeout), found.runs_ended.of(Phase::Cancelled)), (1, 0));
}
