//! Attempts that a host has no slot for are executed by the others of its store.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use phasm::{
    Host, Map, Outcome, Phase, RunHandle, RunView,
    engine::time::Timestamp,
    executor::{Executor, Invocation, Level, Observer},
    secrets::Secrets,
    store::{Leases, Memory, ReadStore},
};
use tokio::sync::{Semaphore, watch};

/// State that the executors of all hosts share.
#[derive(Default)]
struct Stage {
    /// Attempts in execution, and their total, by host.
    now: watch::Sender<BTreeMap<&'static str, (u32, u32)>>,
    keys: Mutex<Vec<String>>,
}

/// Counts, and waits until it may go on.
struct Gated {
    name: &'static str,
    stage: Arc<Stage>,
    gate: Arc<Semaphore>,
}

/// Counted for as long as it lives.
struct Counted(&'static str, Arc<Stage>);

impl Counted {
    fn begin(name: &'static str, stage: &Arc<Stage>) -> Self {
        stage.now.send_modify(|now| {
            let (executing, all) = now.entry(name).or_default();
            (*executing, *all) = (*executing + 1, *all + 1);
        });
        Self(name, Arc::clone(stage))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.now.send_modify(|now| now.entry(self.0).or_default().0 -= 1);
    }
}

impl Executor for Gated {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let counted = Counted::begin(self.name, &self.stage);
        self.stage.keys.lock().unwrap().push(call.idempotency_key());
        let (gate, name) = (Arc::clone(&self.gate), self.name);
        Box::pin(async move {
            let counted = counted;
            observer.log(Level::Info, &format!("on {name}"));
            gate.acquire().await.unwrap().forget();
            let secret =
                call.inputs.iter().find(|(input, _)| &**input == "token").map(|(_, value)| value.clone());
            drop(counted);
            Outcome {
                message: secret.map_or_else(|| name.into(), |token| token.to_string().into()),
                ..Outcome::default()
            }
        })
    }
}

struct Bench {
    store: Arc<Memory>,
    stage: Arc<Stage>,
    gates: BTreeMap<&'static str, Arc<Semaphore>>,
}

impl Bench {
    fn new() -> Self {
        let gates = ["a", "b", "c"].map(|name| (name, Arc::new(Semaphore::new(0))));
        Self { store: Arc::default(), stage: Arc::default(), gates: gates.into() }
    }

    fn host(&self, name: &'static str, slots: u32, claims: bool, secret: Option<&str>) -> Host {
        let executor =
            Gated { name, stage: Arc::clone(&self.stage), gate: Arc::clone(self.gates.get(name).unwrap()) };
        let mut secrets = Secrets::default();
        if let Some(secret) = secret {
            secrets.insert("vault", "token", secret);
        }
        let builder =
            Host::builder().store(Arc::clone(&self.store) as _).executor(Arc::new(executor)).slots(slots);
        let builder = builder.secrets(secrets);
        if claims { builder.auto_claim(Duration::from_secs(3600)) } else { builder }.open().unwrap()
    }

    /// Lets so many of a host's go on.
    fn release_run(&self, name: &str, count: usize) {
        self.gates.get(name).unwrap().add_permits(count);
    }

    /// Waits until so many are being executed on each of these.
    async fn until(&self, wanted: &[(&'static str, u32)]) {
        let mut now = self.stage.now.subscribe();
        let executing = |now: &BTreeMap<&str, (u32, u32)>| {
            wanted.iter().all(|(name, n)| now.get(name).map_or(0, |(n, _)| *n) == *n)
        };
        now.wait_for(executing).await.unwrap();
    }

    /// Waits until so many have been begun on each of these.
    async fn until_all(&self, wanted: &[(&'static str, u32)]) {
        let mut now = self.stage.now.subscribe();
        let begun = |now: &BTreeMap<&str, (u32, u32)>| {
            wanted.iter().all(|(name, n)| now.get(name).map_or(0, |(_, n)| *n) == *n)
        };
        now.wait_for(begun).await.unwrap();
    }

    fn all_of(&self, name: &str) -> u32 {
        self.stage.now.borrow().get(name).map_or(0, |(_, all)| *all)
    }
}

async fn submit(host: &Host, tasks: u32, more: &str) -> RunHandle {
    let tasks: Vec<_> =
        (0..tasks).map(|n| format!(r#"{{"name": "t{n}", "executor": {{"type": "any"}} {more}}}"#)).collect();
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{}]}}}}]}}}}"#,
        tasks.join(",")
    );
    let plan = host.plan("w.json", &text).await.unwrap();
    host.submit(&plan, &Map::new()).await.unwrap()
}

async fn close(host: Host) {
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
}

fn attempts(view: &RunView) -> Vec<usize> {
    view.tasks.iter().filter(|task| task.task_name.starts_with('t')).map(|task| task.attempts.len()).collect()
}

/// R-H25: one run uses the slots of all hosts, its own first, and its results come back.
#[tokio::test]
async fn a_wide_run_uses_every_host() {
    let bench = Bench::new();
    let (driving, _b, _c) =
        (bench.host("a", 2, false, None), bench.host("b", 3, true, None), bench.host("c", 1, true, None));
    let run = submit(&driving, 12, "").await;
    bench.until(&[("a", 2), ("b", 3), ("c", 1)]).await;
    bench.release_run("b", 2);
    bench.release_run("c", 1);
    bench.until_all(&[("a", 2), ("b", 5), ("c", 2)]).await;
    bench.until(&[("a", 2), ("b", 3), ("c", 1)]).await;
    ["a", "b", "c"].iter().for_each(|name| bench.release_run(name, 12));
    let view = run.wait().await.unwrap();
    assert_eq!((view.phase, attempts(&view)), (Phase::Succeeded, vec![1; 12]));
    assert_eq!(bench.stage.keys.lock().unwrap().len(), 12, "each once");
    // R-L15: what was written there is kept with the run.
    let logs = bench.store.logs(run.id(), None).await.unwrap();
    let text: String = logs.iter().map(|log| String::from_utf8_lossy(&log.text).into_owned()).collect();
    assert_eq!((logs.len(), text.contains("info on b\n")), (12, true), "{text}");
}

/// R-H25: an offer that no host takes is executed here, once there is a place.
#[tokio::test]
async fn what_nobody_takes_comes_back() {
    let bench = Bench::new();
    let driving = bench.host("a", 2, false, None);
    let other = bench.host("b", 3, true, None);
    let busy = submit(&other, 3, "").await;
    bench.until(&[("b", 3)]).await;
    let run = submit(&driving, 6, "").await;
    bench.release_run("a", 6);
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    assert_eq!((bench.all_of("a"), bench.all_of("b")), (6, 3));
    bench.release_run("b", 3);
    assert_eq!(busy.wait().await.unwrap().phase, Phase::Succeeded);
}

/// R-H26: what a host executed that is gone is executed again as the same attempt.
#[tokio::test]
async fn a_host_that_goes_away_loses_nothing() {
    let bench = Bench::new();
    let driving = bench.host("a", 1, false, None);
    let going = bench.host("b", 2, true, None);
    let run = submit(&driving, 3, "").await;
    bench.until(&[("a", 1), ("b", 2)]).await;
    close(going).await;
    let _other = bench.host("c", 2, true, None);
    bench.until(&[("a", 1), ("b", 0), ("c", 2)]).await;
    bench.release_run("a", 3);
    bench.release_run("c", 3);
    let view = run.wait().await.unwrap();
    assert_eq!((view.phase, attempts(&view)), (Phase::Succeeded, vec![1; 3]));
    let mut keys = bench.stage.keys.lock().unwrap().clone();
    assert_eq!(keys.len(), 5);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3, "under the same keys");
}

/// R-H26: the host that takes a run over gets no report about offers made before, and stops those attempts.
#[tokio::test]
async fn what_a_fenced_host_offered_is_void() {
    let bench = Bench::new();
    let fenced = bench.host("a", 1, false, None);
    let other = bench.host("b", 2, true, None);
    let run = submit(&fenced, 3, "").await;
    bench.until(&[("a", 1), ("b", 2)]).await;
    // The host is silent for longer than its lease.
    bench.store.heartbeat(fenced.id(), Timestamp(0)).await.unwrap();
    // The other host claims the run, whose attempts it has executed for the first until now.
    bench.until_all(&[("b", 4)]).await;
    bench.until(&[("b", 2)]).await;
    bench.release_run("a", 9);
    bench.release_run("b", 9);
    assert!(run.wait().await.is_err(), "who was fenced knows");
    while bench.store.get(run.id()).await.unwrap().unwrap().status.open {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.replay(run.id()).await.unwrap().phase(), Phase::Succeeded);
    let mut keys = bench.stage.keys.lock().unwrap().clone();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3, "under the same keys");
}

/// R-H25: cancelling reaches an attempt wherever it is executed.
#[tokio::test]
async fn cancelling_reaches_other_hosts() {
    let bench = Bench::new();
    let (driving, _other) = (bench.host("a", 1, false, None), bench.host("b", 2, true, None));
    let run = submit(&driving, 3, "").await;
    bench.until(&[("a", 1), ("b", 2)]).await;
    assert!(run.cancel_task("t2").await.unwrap());
    bench.until(&[("a", 1), ("b", 1)]).await;
    run.cancel().await.unwrap();
    bench.until(&[("a", 0), ("b", 0)]).await;
    assert_eq!(run.wait().await.unwrap().phase, Phase::Cancelled);
}

/// R-H25: so do its clocks.
#[tokio::test]
async fn clocks_reach_other_hosts() {
    for (clock, phase) in
        [("maxRuntime", Phase::Cancelled), ("timeout", Phase::Timeout), ("maxInactivity", Phase::Cancelled)]
    {
        let bench = Bench::new();
        let (driving, _other) = (bench.host("a", 1, false, None), bench.host("b", 1, true, None));
        let first = submit(&driving, 1, "").await;
        bench.until(&[("a", 1)]).await;
        let run = submit(&driving, 1, &format!(r#", "{clock}": "100ms""#)).await;
        let view = run.wait().await.unwrap();
        assert_eq!((view.tasks[1].phase, bench.all_of("b")), (phase, 1), "{clock}: {view:?}");
        bench.until(&[("b", 0)]).await;
        bench.release_run("a", 1);
        assert_eq!(first.wait().await.unwrap().phase, Phase::Succeeded);
    }
}

/// R-H27: secrets are each host's own; who has none of that name leaves the attempt to others.
#[tokio::test]
async fn secrets_do_not_travel() {
    let bench = Bench::new();
    let driving = bench.host("a", 1, false, Some("mine"));
    let _without = bench.host("b", 5, true, None);
    let input = r#", "inputs": {"parameters": [{"name": "token", "valueFrom": {"secretKeyRef": {"name": "vault", "key": "token"}}}]}"#;
    let run = submit(&driving, 2, input).await;
    bench.until(&[("a", 1)]).await;
    let _with = bench.host("c", 1, true, Some("theirs"));
    bench.until(&[("a", 1), ("c", 1)]).await;
    bench.release_run("a", 1);
    bench.release_run("c", 1);
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    assert_eq!(bench.all_of("b"), 0);
}

/// R-L6: a host that is told to end begins nothing of others either.
#[tokio::test]
async fn a_host_that_is_ending_takes_nothing() {
    let bench = Bench::new();
    let (driving, ending) = (bench.host("a", 1, false, None), bench.host("b", 5, true, None));
    ending.drain();
    let run = submit(&driving, 3, "").await;
    bench.release_run("a", 3);
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    assert_eq!(bench.all_of("b"), 0);
}
