//! Runs that one host leaves and another takes up (R-D2..R-D4), through the embedding API.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    future::Future,
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex},
};

use phasm::{
    Host, Notice, RecoverError, RequestError, RunError, RunHandle, RunRequest, WaitOutcome, Watch,
    engine::{
        outcome::{Outcome, Output},
        phase::Phase,
        run::TaskView,
        time::Timestamp,
        value::{Map, Value},
    },
    executor::{Executor, Invocation, Observer},
    store::{
        Claim, Encode, HostId, Journal, Labels, Lease, Leases, Memory, Record, RunHead, RunStatus, Store,
        StoreError,
    },
};

/// Does what a function says, and remembers every call; nothing said is a call that never returns.
struct Fake {
    act: fn(&Invocation) -> Option<Outcome>,
    calls: Mutex<Vec<Invocation>>,
}

impl Fake {
    fn new(act: fn(&Invocation) -> Option<Outcome>) -> Arc<Self> {
        Arc::new(Self { act, calls: Mutex::default() })
    }

    fn calls(&self) -> Vec<Invocation> {
        self.calls.lock().unwrap().clone()
    }

    /// The idempotency keys of the calls, as a set.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self.calls().iter().map(Invocation::idempotency_key).collect();
        keys.sort();
        keys
    }
}

impl Executor for Fake {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let outcome = (self.act)(&call);
        self.calls.lock().unwrap().push(call);
        Box::pin(async move {
            match outcome {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        })
    }
}

/// By the type: `hang` never returns, `ask` suspends until it is resumed, `fail` fails, everything else succeeds.
fn by_type(call: &Invocation) -> Option<Outcome> {
    let code = match (call.executor_type.as_ref(), call.resumed) {
        ("hang", _) => return None,
        ("ask", false) => 1,
        ("fail", _) => 2,
        _ => 0,
    };
    Some(Outcome { code, ..Outcome::default() })
}

fn succeeds(call: &Invocation) -> Option<Outcome> {
    by_type(call).map(|_| Outcome::default())
}

fn anything(_: &Invocation) -> Option<Outcome> {
    Some(Outcome::default())
}

fn host(store: &Arc<Memory>, executor: &Arc<Fake>) -> Host {
    let store = Arc::clone(store) as Arc<dyn Store>;
    Host::builder().store(store).executor(Arc::clone(executor) as _).open().unwrap()
}

fn document(priority: u16, tasks: &str) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "priority": {priority}, "templates": [{{"dag": {{"name": "main", "tasks": [{tasks}]}}}}]}}}}"#
    )
}

async fn submit(host: &Host, tasks: &str) -> (RunHandle, Watch) {
    let plan = host.plan("w.json", &document(500, tasks)).await.unwrap();
    let new = host.new_run(&plan, &Map::new()).await.unwrap();
    let watch = new.watch();
    (new.start().await.unwrap(), watch)
}

/// Waits for a record with such an event.
async fn until(watch: &mut Watch, wanted: impl Fn(&serde_json::Value) -> bool) {
    while let Some(notice) = watch.next().await.unwrap() {
        if let Notice::Record(record) = notice
            && watch.views(&record).any(|view| wanted(&view.json()))
        {
            return;
        }
    }
    panic!("the run ended");
}

/// Closes a host where a process would be killed; not on an async thread.
async fn kill(host: Host) {
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
}

async fn only(host: &Host) -> RunHandle {
    let mut open = host.store().open_runs().await.unwrap();
    assert_eq!(open.len(), 1);
    host.recover_run(&open.pop().unwrap().head.run_id).await.unwrap()
}

async fn task(run: &RunHandle, name: &str) -> TaskView {
    let view = run.view().await.unwrap();
    view.tasks.into_iter().find(|task| task.task_name.as_ref() == name).unwrap()
}

const MIXED: &str = r#"{"name": "a", "executor": {"type": "hang"}}, {"name": "b", "executor": {"type": "hang"}},
    {"name": "ask", "executor": {"type": "ask"}, "timeout": "1d"},
    {"name": "fail", "executor": {"type": "fail"}, "retry": {"maxAttempts": 3, "delay": "1h"}},
    {"name": "after", "executor": {"type": "echo"}, "dependencies": ["a", "b"]}"#;

/// R-W21, R-D3: the plan is read again from the recorded text, which names the dialect.
#[tokio::test]
async fn a_run_keeps_its_dialect() {
    for (dialect, phase, deadline) in
        [("phasm/v1", Phase::Timeout, false), ("aether/v1", Phase::Cancelled, true)]
    {
        let store = Arc::new(Memory::default());
        let dying = host(&store, &Fake::new(by_type));
        let task = r#"{"name": "a", "executor": {"type": "hang"}, "maxRuntime": "1s"}"#;
        let text = document(500, task).replace("aether/v1", dialect);
        let plan = dying.plan("w.json", &text).await.unwrap();
        let new = dying.new_run(&plan, &Map::new()).await.unwrap();
        let mut notices = new.watch();
        let run = new.start().await.unwrap();
        until(&mut notices, |event| event["type"] == "task.attempt.started").await;
        assert_eq!(run.view().await.unwrap().deadline_at.is_some(), deadline, "{dialect}");
        kill(dying).await;

        let living = host(&store, &Fake::new(by_type));
        let taken_up = only(&living).await;
        let ended = taken_up.wait().await.unwrap();
        assert_eq!((ended.phase, ended.deadline_at.is_some()), (phase, deadline), "{dialect}");
        let view = taken_up.view().await.unwrap();
        let task = view.tasks.iter().find(|task| task.task_name.as_ref() == "a").unwrap();
        assert_eq!(task.phase, phase, "{dialect}");
    }
}

/// R-D3: in flight, in a delay, suspended, not yet ready.
#[tokio::test]
async fn another_host_goes_on_where_one_stopped() {
    let store = Arc::new(Memory::default());
    let first = Fake::new(by_type);
    let dying = host(&store, &first);
    let (run, mut notices) = submit(&dying, MIXED).await;
    let (mut started, mut settled) = (0, 0);
    while (started, settled) != (4, 2) {
        until(&mut notices, |event| {
            event["type"] == "task.attempt.started"
                || event["data"]["to"] == "Suspended"
                || event["type"] == "task.retry.scheduled"
        })
        .await;
        let tasks = run.view().await.unwrap().tasks;
        started = tasks.iter().filter(|task| task.depth > 0 && task.started_at.is_some()).count();
        settled =
            tasks.iter().filter(|task| task.phase == Phase::Suspended || task.wake_at.is_some()).count();
    }
    let before = run.view().await.unwrap();
    kill(dying).await;
    assert!(matches!(run.wait().await, Err(RunError::Closed)));

    let second = Fake::new(anything);
    let living = host(&store, &second);
    let taken_up = only(&living).await;
    assert_eq!(taken_up.id(), run.id());
    let mut notices = living.watch_new(run.id()).await.unwrap();
    living.recover_run(run.id()).await.unwrap();
    while task(&taken_up, "after").await.phase != Phase::Succeeded {
        until(&mut notices, |event| event["type"] == "task.done").await;
    }
    let hung: Vec<_> = first.keys().into_iter().filter(|key| second.keys().contains(key)).collect();
    assert_eq!(hung.len(), 2, "a and b were executed again under their own numbers: {hung:?}");
    assert_eq!(second.calls().len(), 3, "and nothing else was but `after`");
    let after = taken_up.view().await.unwrap();
    for name in ["ask", "fail"] {
        let of = |tasks: &[TaskView]| {
            let found = tasks.iter().find(|task| task.task_name.as_ref() == name).unwrap();
            serde_json::to_value(found).unwrap()
        };
        assert_eq!(of(&before.tasks), of(&after.tasks));
    }
    assert!(taken_up.resume("ask", Map::new()).await.unwrap());
    while task(&taken_up, "ask").await.phase != Phase::Succeeded {
        until(&mut notices, |event| event["type"] == "task.done").await;
    }
    let last = second.calls().pop().unwrap();
    assert_eq!((last.resumed, last.attempt, last.dispatch), (true, 1, 2));
    taken_up.cancel().await.unwrap();
    assert_eq!(taken_up.wait().await.unwrap().phase, Phase::Cancelled);
    assert!(living.recover().await.unwrap().is_empty());
}

/// Claims a run as a host would that takes the one that has it for gone.
async fn seized(store: &Memory, of: &Host, run: &RunHandle) {
    let (other, now) = (HostId::from("other"), Timestamp(i64::MAX));
    store.heartbeat(of.id(), Timestamp(0)).await.unwrap();
    assert!(matches!(store.claim_run(&other, run.id(), now).await.unwrap(), Claim::Leased(_)));
    store.heartbeat(of.id(), Timestamp(i64::MAX)).await.unwrap();
}

/// R-H1, R-H2: a run is one host's; who has lost it stops, says so, and may have it again when it is free.
#[tokio::test]
async fn of_two_hosts_on_one_store_one_advances_a_run() {
    let store = Arc::new(Memory::default());
    let (left, right) = (host(&store, &Fake::new(by_type)), host(&store, &Fake::new(by_type)));
    let (ours, _) = submit(&left, r#"{"name": "ask", "executor": {"type": "ask"}}"#).await;
    assert!(matches!(ours.wait_or_park().await, Ok(WaitOutcome::Parked(_))));
    let refused = right.recover_run(ours.id()).await;
    assert!(matches!(refused, Err(RecoverError::Driven { .. })), "{refused:?}");

    seized(&store, &left, &ours).await;
    let Err(RequestError::Lost(lost)) = ours.resume("ask", Map::new()).await else {
        panic!("it was recorded")
    };
    assert!(matches!(lost.as_ref(), StoreError::LeaseLost { .. }), "{lost:?}");
    let Err(RunError::Lost(lost)) = ours.wait().await else { panic!("it goes on") };
    assert!(lost.to_string().contains("was claimed by another host"), "{lost}");

    let theirs = right.recover_run(ours.id()).await.unwrap();
    assert_eq!(task(&theirs, "ask").await.phase, Phase::Suspended);
    assert!(theirs.resume("ask", Map::new()).await.unwrap());
    assert_eq!(theirs.wait().await.unwrap().phase, Phase::Succeeded);
}

#[tokio::test]
async fn a_run_that_is_driven_is_not_taken_up_twice() {
    let (store, executor) = (Arc::new(Memory::default()), Fake::new(by_type));
    let host = host(&store, &executor);
    let (run, mut notices) = submit(&host, r#"{"name": "a", "executor": {"type": "hang"}}"#).await;
    until(&mut notices, |event| event["type"] == "task.attempt.started").await;
    let same = host.recover_run(run.id()).await.unwrap();
    assert_eq!(only(&host).await.id(), run.id());
    same.cancel().await.unwrap();
    assert_eq!(run.wait().await.unwrap().phase, Phase::Cancelled);
    assert_eq!(executor.calls().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_taken_up_is_told_apart() {
    let (store, executor) = (Arc::new(Memory::default()), Fake::new(succeeds));
    let host = host(&store, &executor);
    let unknown = host.recover_run("unknown").await;
    assert!(matches!(unknown, Err(RecoverError::Store(StoreError::NotFound { .. }))), "{unknown:?}");
    let (run, _) = submit(&host, r#"{"name": "a", "executor": {"type": "echo"}}"#).await;
    run.wait().await.unwrap();
    let ended = host.recover_run(run.id()).await;
    assert!(matches!(&ended, Err(RecoverError::Ended { phase: Phase::Succeeded, .. })), "{ended:?}");
    assert!(ended.unwrap_err().to_string().ends_with("has already ended: Succeeded"));
    assert_eq!(host.replay(run.id()).await.unwrap().phase(), Phase::Succeeded);
}

const OPEN: RunStatus = RunStatus { phase: Phase::Created, finished_at: None, open: true, rest: None };

/// Stores a run that is nothing but one record.
async fn store_record(store: &Memory, run_id: &str, body: &str) {
    let head = RunHead {
        run_id: run_id.into(),
        workflow: "w".into(),
        namespace: "default".into(),
        priority: 900,
        submitted_at: Timestamp(1),
        key: None,
        labels: Labels::new(),
    };
    let body = Arc::new(body.as_bytes().to_vec()) as Arc<dyn Encode>;
    let (events, notices) = (NonZeroU32::MIN, Vec::new());
    let record = Record {
        first_seq: 0,
        events,
        time: Timestamp(1),
        body,
        document: None,
        notices,
        logs: Vec::new(),
        remark: None,
    };
    store.append(&Lease::first(Arc::new(head), "gone".into()), OPEN, record, Vec::new()).await.unwrap();
}

/// Events of another version, half a record, a document that is none: each is named, none harms a sound run.
#[tokio::test]
async fn a_damaged_journal_does_not_keep_the_others_from_going_on() {
    let store = Arc::new(Memory::default());
    let executor = Fake::new(by_type);
    let dying = host(&store, &executor);
    let (run, _) = submit(&dying, r#"{"name": "ask", "executor": {"type": "ask"}}"#).await;
    run.wait_or_park().await.unwrap();
    kill(dying).await;
    let submitted = r#"[{"submitted": {"runId": "x", "document": {"kind": 1}, "parameters": {},
        "facts": {"os": "", "arch": "", "vars": null}}}]"#;
    let rows = [
        ("text", "not json", "event 0 of run text cannot be read"),
        ("half", r#"[{"runPhase": "Cre"#, "event 0 of run half cannot be read"),
        ("later", r#"[{"invented": 1}]"#, "event 0 of run later cannot be read"),
        ("more", r#"[{"runPhase": "Created"}] 1"#, "event 0 of run more cannot be read"),
        ("first", r#"[{"runPhase": "Created"}]"#, "event 0 of run first cannot be read"),
        ("invalid", submitted, "the workflow file of run invalid has"),
    ];
    for (run_id, body, _) in rows {
        store_record(&store, run_id, body).await;
    }
    let living = host(&store, &executor);
    let recovered = living.recover().await.unwrap();
    assert_eq!(recovered.len(), rows.len(), "a run that waits for a person stays where it is");
    for ((run_id, _, expected), (head, handle)) in rows.iter().zip(&recovered) {
        let error = handle.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert!(head.run_id.as_ref() == *run_id && error.starts_with(expected), "{run_id}: {error}");
    }
    let sound = living.recover_run(run.id()).await.unwrap();
    assert!(sound.resume("ask", Map::new()).await.unwrap());
    assert_eq!(sound.wait().await.unwrap().phase, Phase::Succeeded);
}

/// The most urgent first, then in the order of submission.
#[tokio::test]
async fn runs_are_taken_up_by_priority() {
    let store = Arc::new(Memory::default());
    let dying = host(&store, &Fake::new(by_type));
    let mut ids = Vec::new();
    for priority in [10, 900, 10, 500] {
        let text = document(priority, r#"{"name": "a", "executor": {"type": "hang"}}"#);
        let plan = dying.plan("w.json", &text).await.unwrap();
        let run = dying.submit(&plan, &Map::new()).await.unwrap();
        ids.push(Arc::clone(run.id()));
    }
    kill(dying).await;
    let recovered = host(&store, &Fake::new(by_type)).recover().await.unwrap();
    let order: Vec<_> = recovered.iter().map(|(head, _)| &head.run_id).collect();
    assert_eq!(order, [&ids[1], &ids[3], &ids[0], &ids[2]]);
}

/// Values as deep as the sandbox lets a guest nest, and odd numbers: an outcome is read back as it was.
#[tokio::test]
async fn values_survive_whatever_they_are() {
    fn deep(_: &Invocation) -> Option<Outcome> {
        let nested = format!("{}1e-7{}", "[".repeat(126), "]".repeat(126));
        let values =
            [nested.as_str(), "-0.0", "18446744073709551615", "1.7976931348623157e308", "\"\\u0000\""];
        let output = |(at, json): (usize, &&str)| Output {
            name: format!("o{at}").into(),
            value: Value::from_json(json).unwrap(),
        };
        let outputs = values.iter().enumerate().map(output).collect();
        Some(Outcome { outputs, ..Outcome { code: 1, ..Outcome::default() } })
    }
    let store = Arc::new(Memory::default());
    let dying = host(&store, &Fake::new(deep));
    let (run, _) = submit(&dying, r#"{"name": "ask", "executor": {"type": "deep"}}"#).await;
    run.wait_or_park().await.unwrap();
    let before = serde_json::to_string(&task(&run, "ask").await).unwrap();
    kill(dying).await;
    let living = host(&store, &Fake::new(anything));
    let taken_up = only(&living).await;
    assert_eq!(serde_json::to_string(&task(&taken_up, "ask").await).unwrap(), before);
    assert!(taken_up.resume("ask", Map::new()).await.unwrap());
    assert_eq!(taken_up.wait().await.unwrap().phase, Phase::Succeeded);
}

/// A process died in the middle of an attempt; a request to cancel the run does not execute the attempt again.
#[tokio::test]
async fn what_is_cancelled_is_not_begun_again() {
    for everything in [true, false] {
        let store = Arc::new(Memory::default());
        let dying = host(&store, &Fake::new(by_type));
        let (run, mut notices) = submit(
            &dying,
            r#"{"name": "a", "executor": {"type": "hang"}}, {"name": "b", "executor": {"type": "ask"}}"#,
        )
        .await;
        until(&mut notices, |event| event["type"] == "task.attempt.started" && event["taskName"] == "a")
            .await;
        kill(dying).await;
        let executor = Fake::new(by_type);
        let living = host(&store, &executor);
        let recorded = living.replay(run.id()).await.unwrap();
        let a = phasm::tasks_named(&recorded, "main/a").next().unwrap().id;
        let request = if everything {
            RunRequest::Cancel
        } else {
            RunRequest::CancelTask { task: recorded.task_run_id(a) }
        };
        let mut notices = living.watch_new(run.id()).await.unwrap();
        let (taken_up, answer) = living.ask_run(run.id(), request).await.unwrap();
        assert!(matches!(answer, Ok(true)), "{answer:?}");
        if everything {
            assert_eq!(taken_up.wait().await.unwrap().phase, Phase::Cancelled);
        } else {
            until(&mut notices, |event| event["type"] == "task.failed" && event["taskName"] == "a").await;
            taken_up.wait_or_park().await.unwrap();
        }
        let called: Vec<_> = executor.calls().into_iter().map(|call| call.task.to_string()).collect();
        assert!(!called.contains(&"a".to_owned()), "{called:?}");
        let unknown = taken_up.ask(RunRequest::CancelTask { task: "missing".into() }).await;
        assert!(matches!(unknown, Err(RequestError::UnknownTask)), "{unknown:?}");
    }
}

/// A slot that was taken for an attempt that never began comes back.
#[tokio::test]
async fn an_attempt_that_is_not_begun_holds_no_slot() {
    let store = Arc::new(Memory::default());
    let dying = host(&store, &Fake::new(by_type));
    let tasks = r#"{"name": "a", "executor": {"type": "hang"}}, {"name": "ask", "executor": {"type": "ask"}, "dependencies": []},
        {"name": "next", "executor": {"type": "echo"}, "dependencies": ["ask"]}"#;
    let (run, mut notices) = submit(&dying, tasks).await;
    until(&mut notices, |event| event["data"]["to"] == "Suspended").await;
    while task(&run, "a").await.started_at.is_none() {
        tokio::task::yield_now().await;
    }
    kill(dying).await;
    let executor = Fake::new(by_type);
    let store = Arc::clone(&store) as Arc<dyn Store>;
    let living = Host::builder().store(store).executor(Arc::clone(&executor) as _).slots(1).open().unwrap();
    let recorded = living.replay(run.id()).await.unwrap();
    let a = phasm::tasks_named(&recorded, "a").next().unwrap().id;
    let (taken_up, answer) =
        living.ask_run(run.id(), RunRequest::CancelTask { task: recorded.task_run_id(a) }).await.unwrap();
    assert!(matches!(answer, Ok(true)), "{answer:?}");
    let text = document(500, r#"{"name": "b", "executor": {"type": "echo"}}"#);
    let other = living.plan("w.json", &text).await.unwrap();
    let other = living.submit(&other, &Map::new()).await.unwrap();
    assert_eq!(other.wait().await.unwrap().phase, Phase::Succeeded);
    taken_up.cancel().await.unwrap();
}

/// A slot that was taken for what another engine's record has overtaken comes back.
#[tokio::test]
async fn a_record_that_is_refused_holds_no_slot() {
    let store = Arc::new(Memory::default());
    let shared = Arc::clone(&store) as Arc<dyn Store>;
    let left = Host::builder().store(shared).executor(Fake::new(by_type) as _).slots(1).open().unwrap();
    let (ours, _) = submit(&left, r#"{"name": "ask", "executor": {"type": "ask"}}"#).await;
    assert!(matches!(ours.wait_or_park().await, Ok(WaitOutcome::Parked(_))));
    seized(&store, &left, &ours).await;
    let lost = ours.resume("ask", Map::new()).await;
    assert!(matches!(lost, Err(RequestError::Lost(_))), "{lost:?}");
    let (other, _) = submit(&left, r#"{"name": "b", "executor": {"type": "echo"}}"#).await;
    let other = tokio::time::timeout(std::time::Duration::from_secs(60), other.wait()).await;
    assert_eq!(other.unwrap().unwrap().phase, Phase::Succeeded);
}
