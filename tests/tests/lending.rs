//! R-I44: who executes the attempts of runs that are submitted one after the other.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    cell::Cell,
    fs,
    future::Future,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex},
    thread::{self, ThreadId},
};

use phasm::{
    Host, HostBuilder, Map, Outcome, Phase, RunHandle, SubmitError,
    engine::plan::Plan,
    executor::{Executor, Invocation, Observer},
    store::{Memory, ReadStore as _, StoreError},
};
use phasm_tests::stepped::Stepped;
use tokio::runtime::{Builder, Runtime};
use tracing::{Event, Metadata, Subscriber, span};

/// Time does not pass, so that every attempt is brief.
fn builder() -> HostBuilder {
    Host::builder().time(Arc::new(Stepped::default()))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn plan(host: &Host, executor: &str) -> Arc<Plan> {
    let text = format!(
        "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: one}}
spec:
  entrypoint: main
  arguments: {{parameters: [{{name: told, type: number, default: 0}}]}}
  templates:
  - task: {{name: work, inputs: {{parameters: [{{name: told}}]}}, executor: {{type: {executor}}}}}
  - dag:
      name: main
      tasks:
      - {{name: one, template: work, arguments: {{parameters: [{{name: told, value: '{{{{ workflow.parameters.told }}}}'}}]}}}}
"
    );
    host.plan("one.yaml", &text).await.unwrap()
}

/// So many tasks that follow each other.
async fn chain(host: &Host, executor: &str, tasks: u32) -> Arc<Plan> {
    let tasks = (0..tasks).map(|at| {
        let before = at.checked_sub(1).map(|before| format!("t{before}")).unwrap_or_default();
        format!("      - {{name: t{at}, dependencies: [{before}], executor: {{type: {executor}}}}}\n")
    });
    let head = "apiVersion: aether/v1\nkind: Workflow\nmetadata: {name: chain}\nspec:\n  entrypoint: main\n  templates:\n";
    let text = format!("{head}  - dag:\n      name: main\n      tasks:\n{}", tasks.collect::<String>());
    host.plan("chain.yaml", &text).await.unwrap()
}

/// A run of one task.
async fn submit(host: &Host, plan: &Arc<Plan>, told: u8) -> RunHandle {
    let parameters =
        if told == 0 { Map::new() } else { Map::from_iter([("told".into(), i64::from(told).into())]) };
    host.submit(plan, &parameters).await.unwrap()
}

async fn run(host: &Host, plan: &Arc<Plan>, told: u8) -> Phase {
    submit(host, plan, told).await.wait().await.unwrap().phase
}

/// Writes down which threads execute, and panics where it is told to. What is called `sealed` is.
#[derive(Default)]
struct Threads(Mutex<Vec<ThreadId>>);

impl Executor for Threads {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        self.0.lock().unwrap().push(thread::current().id());
        assert!(call.inputs.iter().all(|(_, told)| *told == 0_i64.into()), "as told");
        Box::pin(std::future::ready(Outcome::default()))
    }

    fn is_sealed(&self, _: &Arc<str>, executor_type: &str) -> bool {
        executor_type == "sealed"
    }
}

impl Threads {
    /// Which attempts this thread has executed, counted from 0, since this was asked last.
    fn here(&self) -> Vec<usize> {
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        let here = all.iter().enumerate().filter(|(_, thread)| **thread == thread::current().id());
        here.map(|(at, _)| at).collect()
    }
}

fn threads() -> (Host, Arc<Threads>) {
    let threads = Arc::<Threads>::default();
    (builder().executor(Arc::clone(&threads) as _).open().unwrap(), threads)
}

#[test]
fn who_waits_for_each_run_executes_its_attempt() {
    let (host, threads) = threads();
    runtime().block_on(async {
        let plan = plan(&host, "any").await;
        for _ in 0..100 {
            assert_eq!(run(&host, &plan, 0).await, Phase::Succeeded);
        }
    });
    assert_eq!(threads.here(), (8..100).filter(|at| *at != 64).collect::<Vec<_>>());
}

/// R-D6: what nobody can tell shares the run's first record, and is executed for nothing where that is refused.
#[test]
fn what_a_sealed_attempt_comes_to_shares_the_first_record() {
    let (store, threads) = (Arc::new(Memory::default()), Arc::<Threads>::default());
    let host = builder().store(Arc::clone(&store) as _).executor(Arc::clone(&threads) as _).open().unwrap();
    runtime().block_on(async {
        let records = async |run: &RunHandle| store.load(run.id()).await.unwrap().len();
        let plans = [plan(&host, "sealed").await, plan(&host, "any").await, chain(&host, "sealed", 5).await];
        let [one, open, chain] = &plans;
        for _ in 0..12 {
            run(&host, one, 0).await;
            run(&host, open, 0).await;
        }
        threads.here();
        let mut counts = Vec::new();
        for plan in &plans {
            let run = submit(&host, plan, 0).await;
            assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
            counts.push(records(&run).await);
        }
        assert_eq!((counts, threads.here()), (vec![1, 2, 1], (0..7).collect()));
        // One that fails is as any.
        let failed = submit(&host, one, 1).await;
        assert_eq!((failed.wait().await.unwrap().phase, records(&failed).await), (Phase::Error, 1));
        let first = host.new_run(chain, &Map::new()).await.unwrap().key(Some("key")).start().await.unwrap();
        first.wait().await.unwrap();
        let again = host.new_run(chain, &Map::new()).await.unwrap().key(Some("key")).start().await;
        assert!(
            matches!(again, Err(SubmitError::Store(StoreError::Exists { run_id })) if run_id == *first.id())
        );
        assert_eq!(host.measured().slots.lent, 0);
        // Whoever watches is told what has begun before it has ended.
        let new = host.new_run(one, &Map::new()).await.unwrap();
        let _watch = new.watch();
        let watched = new.start().await.unwrap();
        watched.wait().await.unwrap();
        assert_eq!(records(&watched).await, 2);
    });
}

#[test]
fn one_that_panics_takes_nothing_with_it() {
    let (host, threads) = threads();
    runtime().block_on(async {
        let plan = plan(&host, "any").await;
        for told in [0, 0, 0, 0, 0, 0, 0, 0, 1, 0] {
            let phase = if told == 0 { Phase::Succeeded } else { Phase::Error };
            assert_eq!(run(&host, &plan, told).await, phase);
        }
    });
    assert_eq!(threads.here(), [8, 9]);
}

#[test]
fn who_submits_several_at_once_has_others_execute_them() {
    let (host, threads) = threads();
    runtime().block_on(async {
        let plan = plan(&host, "any").await;
        for _ in 0..64 {
            run(&host, &plan, 0).await;
        }
        threads.here();
        // The first of them is one that is tried elsewhere.
        let mut handles = Vec::new();
        for _ in 0..100 {
            handles.push(submit(&host, &plan, 0).await);
        }
        for handle in handles {
            handle.wait().await.unwrap();
        }
        assert_eq!(threads.here(), [0_usize; 0]);
        for _ in 0..100 {
            drop(submit(&host, &plan, 0).await);
        }
    });
    assert_eq!(threads.here(), [0_usize; 0]);
}

thread_local! {
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

/// Counts the attempts that begin on each thread.
struct Begun;

impl Subscriber for Begun {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "attempt"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        BEGUN.set(BEGUN.get() + 1);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn guest() -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests");
    let read = |name: &str| fs::read_to_string(guests.join(name).with_extension("wat")).unwrap();
    wat::parse_str(read("world").replace(";; GUEST", &read("as-told"))).unwrap()
}

/// Of those that follow each other each comes to what it comes to by itself.
#[test]
fn guests_of_a_chain_end_as_any() {
    let told = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 2, 9, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0];
    let tasks = told.iter().enumerate().map(|(at, told)| {
        let before = at.checked_sub(1).map(|before| format!("t{before}")).unwrap_or_default();
        format!(
            "      - {{name: t{at}, template: work, dependencies: [{before}], \
             arguments: {{parameters: [{{name: told, value: {told}}}]}}}}\n"
        )
    });
    let text = format!(
        "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: chain}}
spec:
  entrypoint: main
  templates:
  - task: {{name: work, maxRuntime: 100ms, inputs: {{parameters: [{{name: told}}]}}, executor: {{type: as-told}}}}
  - dag:
      name: main
      continueOn: {{failed: true, error: true, timeout: true}}
      tasks:
{}",
        tasks.collect::<String>()
    );
    let host = builder().plugin("as-told", guest()).open().unwrap();
    let view = runtime().block_on(async {
        let plan = host.plan("chain.yaml", &text).await.unwrap();
        host.submit(&plan, &Map::new()).await.unwrap().wait().await.unwrap()
    });
    let phases = view.tasks.iter().filter(|task| task.task_name.starts_with('t')).map(|task| task.phase);
    let expected = told.map(|told| match told {
        0 | 8 => Phase::Succeeded,
        2 => Phase::Failed,
        9 => Phase::Cancelled,
        _ => Phase::Error,
    });
    assert_eq!(phases.collect::<Vec<_>>(), expected);
}

/// Whatever a guest does then, its caller goes on within epochs, and it comes to what it comes to on any other thread.
#[test]
fn guests_that_wait_compute_or_trap_hold_up_nobody() {
    let host = builder().plugin("as-told", guest()).open().unwrap();
    tracing::subscriber::set_global_default(Begun).unwrap();
    runtime().block_on(async {
        let plan = plan(&host, "as-told").await;
        for told in [0; 10] {
            assert_eq!(run(&host, &plan, told).await, Phase::Succeeded);
        }
        let lent = |told| {
            let (host, plan) = (&host, &plan);
            async move {
                let before = BEGUN.get();
                let run = submit(host, plan, told).await;
                assert_eq!(BEGUN.get(), before + 1, "{told} does not begin here");
                run
            }
        };
        for (told, phase) in [(2, Phase::Failed), (3, Phase::Error), (7, Phase::Error), (8, Phase::Succeeded)]
        {
            assert_eq!(lent(told).await.wait().await.unwrap().phase, phase, "{told}");
        }
        let endless = lent(9).await;
        assert_eq!(endless.view().await.unwrap().phase, Phase::Running);
        endless.cancel().await.unwrap();
        assert_eq!(endless.wait().await.unwrap().phase, Phase::Cancelled);
        assert_eq!(run(&host, &plan, 0).await, Phase::Succeeded);
    });
}
