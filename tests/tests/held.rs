//! R-D6: what attempts come to of which nobody outside can tell is recorded with what comes beside it, or when somebody wants to know.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, mpsc},
};

use phasm::{
    Host, Map, Outcome, Phase, RunHandle, Watch,
    engine::plan::Plan,
    executor::{Executor, Invocation, Observer},
    store::{Memory, ReadStore as _, Store},
};
use phasm_tests::stepped::Stepped;
use tokio::runtime::{Builder, Runtime};

/// All is sealed but what is `open`; `slow` computes until it is told to end.
struct Computing(Mutex<mpsc::Receiver<()>>);

impl Executor for Computing {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        if &*call.executor_type == "slow" {
            self.0.lock().unwrap().recv().unwrap();
        }
        Box::pin(std::future::ready(Outcome::default()))
    }

    fn is_sealed(&self, _: &Arc<str>, executor_type: &str) -> bool {
        executor_type != "open"
    }
}

struct Stage {
    time: Arc<Stepped>,
    store: Arc<Memory>,
    ends: mpsc::Sender<()>,
    host: Host,
    runtime: Runtime,
}

impl Stage {
    fn new() -> Self {
        let (time, store) = (Arc::<Stepped>::default(), Arc::new(Memory::default()));
        let (sender, receiver) = mpsc::channel();
        // One is held up by who computes.
        let runtime = Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        let host = Host::builder()
            .store(Arc::clone(&store) as Arc<dyn Store>)
            .time(Arc::clone(&time) as _)
            .executor(Arc::new(Computing(Mutex::new(receiver))))
            .runtime(runtime.handle().clone())
            .open()
            .unwrap();
        Self { time, store, ends: sender, host, runtime }
    }

    /// A run of tasks, with their executors and what they depend on, and whoever hears it from its beginning on.
    fn submit_watched(&self, tasks: &[(&str, &str, &str)]) -> (RunHandle, Watch) {
        let plan = self.plan(tasks);
        self.runtime.block_on(async {
            let new = self.host.new_run(&plan, &Map::new()).await.unwrap();
            let watch = new.watch();
            (new.start().await.unwrap(), watch)
        })
    }

    fn submit(&self, tasks: &[(&str, &str, &str)]) -> RunHandle {
        let plan = self.plan(tasks);
        self.runtime.block_on(self.host.submit(&plan, &Map::new())).unwrap()
    }

    fn plan(&self, tasks: &[(&str, &str, &str)]) -> Arc<Plan> {
        let tasks = tasks.iter().map(|(name, executor, before)| {
            format!("      - {{name: {name}, dependencies: [{before}], executor: {{type: {executor}}}}}\n")
        });
        let text = format!(
            "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: held}}
spec:
  entrypoint: main
  templates:
  - dag:
      name: main
      tasks:
{}",
            tasks.collect::<String>()
        );
        self.runtime.block_on(self.host.plan("held.yaml", &text)).unwrap()
    }

    fn records(&self, run: &RunHandle) -> usize {
        self.runtime.block_on(self.store.load(run.id())).unwrap().len()
    }

    /// So many attempts have ended, and the run has heard of it.
    fn until_ended(&self, attempts: u64) {
        until(|| {
            let measured = self.host.measured();
            let ended = measured.attempts_ended.iter().flat_map(|executor| &executor.ended);
            measured.slots.lent == 1 && ended.map(|(_, count)| count).sum::<u64>() == attempts
        });
    }
}

fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}

const CHAIN: [(&str, &str, &str); 6] = [
    ("slow", "slow", ""),
    ("a", "quick", ""),
    ("b", "quick", "a"),
    ("c", "quick", "b"),
    ("d", "quick", "c"),
    ("e", "quick", "d"),
];

#[test]
fn what_comes_beside_each_other_shares_a_record() {
    let stage = Stage::new();
    let run = stage.submit(&CHAIN);
    stage.until_ended(5);
    stage.ends.send(()).unwrap();
    assert_eq!(stage.runtime.block_on(run.wait()).unwrap().phase, Phase::Succeeded);
    assert_eq!(stage.records(&run), 2, "its beginning and its end");
}

#[test]
fn it_is_recorded_soon_in_any_case() {
    let stage = Stage::new();
    let run = stage.submit(&CHAIN);
    stage.until_ended(5);
    stage.time.pass(25);
    until(|| stage.records(&run) == 2);
    stage.ends.send(()).unwrap();
    assert_eq!(stage.runtime.block_on(run.wait()).unwrap().phase, Phase::Succeeded);
    assert_eq!(stage.records(&run), 3);
}

#[test]
fn who_looks_sees_what_is_recorded_by_then() {
    let stage = Stage::new();
    let run = stage.submit(&CHAIN);
    stage.until_ended(5);
    let view = stage.runtime.block_on(run.view()).unwrap();
    let ended = view.tasks.iter().filter(|task| task.phase == Phase::Succeeded).count();
    assert_eq!((ended, stage.records(&run)), (5, 2));
    stage.ends.send(()).unwrap();
    stage.runtime.block_on(run.wait()).unwrap();
}

#[test]
fn whoever_watches_hears_of_each_at_once() {
    let stage = Stage::new();
    let (run, mut watch) = stage.submit_watched(&CHAIN);
    let mut ended = 0;
    while ended < 5 {
        let notice = stage.runtime.block_on(watch.next()).unwrap();
        assert!(notice.is_some(), "nothing more comes after {ended}");
        let tasks = watch.run().unwrap().tasks();
        ended = tasks.iter().filter(|task| task.phase == Phase::Succeeded).count();
    }
    stage.ends.send(()).unwrap();
    stage.runtime.block_on(run.wait()).unwrap();
}

/// What others could tell of waits for what it follows from, and is recorded at once when it is over: it must not happen again.
#[test]
fn what_is_not_sealed_waits_for_nobody() {
    let stage = Stage::new();
    let tasks = [&CHAIN[..3], &[("told", "open", "b"), ("last", "quick", "told")]].concat();
    let run = stage.submit(&tasks);
    // `told` begins once the end of `b` is durable, and `last` once that of `told` is, whoever else computes; the end of `last` waits.
    stage.until_ended(4);
    assert_eq!(stage.records(&run), 3);
    stage.ends.send(()).unwrap();
    assert_eq!(stage.runtime.block_on(run.wait()).unwrap().phase, Phase::Succeeded);
    assert_eq!(stage.records(&run), 4);
}
