//! Runs that a host owns without knowing: whichever operation failed or lost its answer, they are found and driven (R-H7).
#![expect(clippy::unwrap_used, reason = "tests")]

mod failing;
#[expect(dead_code, unreachable_pub, reason = "it belongs to other tests, which ask more of it")]
#[path = "../../tests/src/stepped.rs"]
mod stepped;

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use phasm::{
    Host, Map, Outcome, Phase, RunRequest, SubmitOptions, TriggerRequest,
    catalog::WrittenDocument,
    engine::{
        plan::{Draft, Plan},
        time::Timestamp,
    },
    executor::{Executor, Invocation, Observer},
    store::{
        Claim, Encode, Filter, Journal, Labels, Lease, Leases, Mailbox, ReadStore, Record, RunHead,
        RunStatus, Store,
    },
};

use self::{failing::Failing, stepped::Stepped};

/// Suspends what asks, never ends what never does, and succeeds otherwise.
struct Quick;

impl Executor for Quick {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = match (&*call.executor_type, call.resumed) {
            ("never", _) => return Box::pin(std::future::pending()),
            ("ask", false) => 1,
            _ => 0,
        };
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }
}

struct House {
    store: Arc<Failing>,
    time: Arc<Stepped>,
    host: Host,
}

impl House {
    fn new() -> Self {
        let (store, time) = (Arc::new(Failing::new()), Arc::new(Stepped::default()));
        time.set(Timestamp::from_rfc3339("2026-03-01T10:00:30Z").unwrap().0);
        let host = Host::builder()
            .store(Arc::clone(&store) as Arc<dyn Store>)
            .executor(Arc::new(Quick))
            .time(Arc::clone(&time) as _)
            .auto_claim(Duration::from_secs(60));
        Self { host: host.open().unwrap(), store, time }
    }

    async fn plan(&self, executor: &str) -> Arc<Plan> {
        let text = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main", "timeout": "none",
                "templates": [{{"task": {{"name": "main", "executor": {{"type": "{executor}"}}}}}}]}}}}"#
        );
        self.host.plan("w.json", &text).await.unwrap()
    }

    /// A schedule that fires every minute, beside no run of its own.
    async fn save_schedule(&self) {
        let text = "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {name: s}\nspec:\n  schedule: '* * * * *'\n  \
            concurrencyPolicy: Forbid\n  workflowSpec:\n    entrypoint: main\n    templates:\n      - task: {name: main, \
            executor: {type: quick}}\n";
        let plan =
            self.host.plan_draft(Draft::read(&phasm::reader::read("s.yaml", text).unwrap())).await.unwrap();
        let written = WrittenDocument { file: "s.yaml", text };
        self.host.put_schedule(&plan, written, None).await.unwrap();
    }

    /// Runs that have ended well.
    async fn succeeded(&self) -> usize {
        let filter = Filter { phase: Some(Phase::Succeeded), ..Filter::default() };
        self.store.list(filter, 99).await.unwrap().len()
    }

    async fn until_succeeded(&self, count: usize) {
        while self.succeeded().await < count {
            // A driver or a background task whose store failed pauses before it tries again.
            self.time.pass(100);
            tokio::task::yield_now().await;
        }
    }

    fn is_asked(&self) -> bool {
        self.store.refused.lock().unwrap().is_none() && self.store.unheard.lock().unwrap().is_none()
    }
}

/// A way for an operation to go wrong.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Refused(&'static str),
    Unheard(&'static str),
}

impl Fault {
    fn befall(self, store: &Failing) {
        match self {
            Self::Refused(call) => *store.refused.lock().unwrap() = Some(call),
            Self::Unheard(call) => *store.unheard.lock().unwrap() = Some(call),
        }
    }
}

/// R-H7: a schedule that forbids two runs at once goes on firing, whatever went wrong when it fired.
#[tokio::test]
async fn a_schedule_goes_on_after_a_firing_that_went_wrong() {
    for fault in
        [Fault::Refused("release"), Fault::Unheard("release"), Fault::Unheard("fire"), Fault::Refused("fire")]
    {
        let house = House::new();
        house.save_schedule().await;
        fault.befall(&house.store);
        house.time.pass(30_000);
        while !house.is_asked() {
            tokio::task::yield_now().await;
        }
        house.until_succeeded(1).await;
        house.time.pass(60_000);
        house.until_succeeded(2).await;
    }
}

/// R-H7: the same for runs that are submitted for any host, triggered, or run again.
#[tokio::test]
async fn a_run_is_driven_whatever_its_submitter_was_told() {
    for fault in [
        Fault::Refused("release"),
        Fault::Unheard("release"),
        Fault::Unheard("append"),
        Fault::Unheard("fire"),
    ] {
        for way in ["enqueue", "trigger", "rerun"] {
            let is_possible = match fault {
                Fault::Refused(call) | Fault::Unheard(call) => match way {
                    "enqueue" => call != "fire",
                    "trigger" => call != "append",
                    _ => call == "append",
                },
            };
            if !is_possible {
                continue;
            }
            let house = House::new();
            let plan = house.plan("quick").await;
            house.save_schedule().await;
            let first = house.host.submit(&plan, &Map::new()).await.unwrap();
            first.wait().await.unwrap();
            fault.befall(&house.store);
            let options = SubmitOptions::default();
            match way {
                "enqueue" => drop(house.host.enqueue(&plan, &Map::new(), &options).await),
                "trigger" => drop(
                    house
                        .host
                        .trigger(TriggerRequest {
                            namespace: "default",
                            name: "s",
                            parameters: &Map::new(),
                            options,
                        })
                        .await,
                ),
                _ => {
                    let again = house.host.rerun(first.id(), &phasm::Rerun::default()).await.unwrap();
                    drop(again.start().await);
                }
            }
            assert!(house.is_asked(), "{fault:?} {way}");
            // The schedule itself may fire as time passes.
            let runs = house.store.list(Filter::default(), 9).await.unwrap();
            assert_eq!(runs.len(), 2, "{fault:?} {way}");
            for run in runs {
                while house.store.get(&run.head.run_id).await.unwrap().unwrap().status.open {
                    house.time.pass(100);
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// R-H7: a run that was loaded for a request in vain is driven.
#[tokio::test]
async fn a_run_that_was_asked_in_vain_is_driven() {
    for fault in [
        Fault::Unheard("claim_run"),
        Fault::Refused("claim_run"),
        Fault::Unheard("release"),
        Fault::Refused("release"),
    ] {
        let house = House::new();
        let plan = house.plan("ask").await;
        let run = house.host.submit(&plan, &Map::new()).await.unwrap();
        run.wait_or_park().await.unwrap();
        let is_release = matches!(fault, Fault::Unheard("release") | Fault::Refused("release"));
        if is_release {
            fault.befall(&house.store);
        }
        // The driver gives the run back.
        house.time.pass(60_000);
        while house.host.loaded() > 0 || (is_release && !house.is_asked()) {
            house.time.pass(1_000);
            tokio::task::yield_now().await;
        }
        if !is_release {
            fault.befall(&house.store);
            assert!(run.resume("main", Map::new()).await.is_err(), "{fault:?}");
        }
        let resume = RunRequest::Resume { task: "main".into(), payload: Map::new() };
        house.store.post(run.id(), resume.bytes()).await.unwrap();
        house.until_succeeded(1).await;
        assert!(house.is_asked(), "{fault:?}");
    }
}

/// R-H7: a store that has gone back to an earlier state says that the host owns what it has long released.
#[tokio::test]
async fn a_run_that_an_earlier_state_of_the_store_gives_to_the_host_is_driven() {
    let house = House::new();
    let plan = house.plan("ask").await;
    let run = house.host.submit(&plan, &Map::new()).await.unwrap();
    run.wait_or_park().await.unwrap();
    house.time.pass(60_000);
    while house.host.loaded() > 0 {
        house.time.pass(1_000);
        tokio::task::yield_now().await;
    }
    let now = Timestamp(i64::MAX / 2);
    let claim = house.store.inner.claim_run(house.host.id(), run.id(), now).await.unwrap();
    assert!(matches!(claim, Claim::Leased(_)), "{claim:?}");
    while house.host.loaded() == 0 {
        house.time.pass(1_000);
        tokio::task::yield_now().await;
    }
    assert!(run.resume("main", Map::new()).await.unwrap());
    house.until_succeeded(1).await;
}

/// R-H7: a run whose journal is shorter than its driver knows stops there, and is continued from what the store has.
#[tokio::test]
async fn a_run_whose_last_records_are_gone_is_continued_from_those_that_are_left() {
    let house = House::new();
    let plan = house.plan("ask").await;
    let run = house.host.submit(&plan, &Map::new()).await.unwrap();
    run.wait_or_park().await.unwrap();
    house.store.conflicts.store(true, SeqCst);
    let lost = run.resume("main", Map::new()).await;
    assert!(lost.is_err(), "{lost:?}");
    while !run.resume("main", Map::new()).await.is_ok_and(|resumed| resumed) {
        house.time.pass(1_000);
        tokio::task::yield_now().await;
    }
    house.until_succeeded(1).await;
}

/// R-H7: a run that cannot be driven here is left to others, also if that failed at first; so is one whose requests were refused.
#[tokio::test]
async fn a_run_that_could_not_be_left_to_others_is_left() {
    for fault in [
        Fault::Refused("leave"),
        Fault::Unheard("leave"),
        Fault::Refused("reply"),
        Fault::Unheard("reply"),
        Fault::Refused("release"),
        Fault::Unheard("release"),
    ] {
        let house = House::new();
        let (Fault::Refused(call) | Fault::Unheard(call)) = fault;
        let head = RunHead {
            run_id: "damaged".into(),
            workflow: "w".into(),
            namespace: "default".into(),
            priority: 0,
            submitted_at: Timestamp(0),
            key: None,
            labels: Labels::new(),
        };
        let elsewhere = Lease::first(Arc::new(head), "elsewhere".into());
        let status = RunStatus { phase: Phase::Running, finished_at: None, open: true, rest: None };
        let record = Record {
            first_seq: 0,
            events: std::num::NonZeroU32::MIN,
            time: Timestamp(0),
            body: Arc::new(b"unreadable".to_vec()) as Arc<dyn Encode>,
            document: None,
            notices: Vec::new(),
            logs: Vec::new(),
        };
        house.store.inner.append(&elsewhere, status, record, Vec::new()).await.unwrap();
        if call == "leave" {
            fault.befall(&house.store);
            house.store.inner.release(&elsewhere, Some(Timestamp(0))).await.unwrap();
        } else {
            house.store.inner.release(&elsewhere, None).await.unwrap();
            house.store.post("damaged", RunRequest::Cancel.bytes()).await.unwrap();
            fault.befall(&house.store);
            drop(house.host.read_mail("damaged").await);
        }
        while !house.is_asked() {
            tokio::task::yield_now().await;
        }
        // The run may be tried again at once, and is left once more.
        let mut quiet = 0;
        while quiet < 100 {
            house.time.pass(1_000);
            tokio::task::yield_now().await;
            let owner = house.store.get("damaged").await.unwrap().unwrap().owner;
            quiet = if owner.is_none() { quiet + 1 } else { 0 };
        }
    }
}
