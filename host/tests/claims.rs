//! A host that claims what is due and gives back what waits: the store is where runs live.
#![expect(clippy::unwrap_used, reason = "tests")]

mod failing;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use phasm::{
    Host, HostBuilder, LifecycleChange, Map, Outcome, Phase, RequestError, RequestReply, RunHandle,
    RunRequest, SubmitError, SubmitOptions,
    engine::{plan::Plan, time::Timestamp},
    executor::{Executor, Invocation, Observer},
    store::{Answer, Filter, Leases, Mailbox, Memory, ReadStore, RunRow, Store, StoreError},
};

use self::failing::Failing;

/// Suspends what asks, fails the first attempt of what fails once, and counts.
#[derive(Default)]
struct Counting(AtomicU32);

impl Executor for Counting {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        self.0.fetch_add(1, SeqCst);
        if &*call.executor_type == "never" {
            return Box::pin(std::future::pending());
        }
        let code = match (&*call.executor_type, call.resumed, call.attempt) {
            ("ask", false, _) => 1,
            ("once", _, 1) => 3,
            _ => 0,
        };
        Box::pin(async move { Outcome { code, ..Outcome::default() }.output("n", 7) })
    }
}

fn builder(store: &Arc<impl Store + 'static>) -> HostBuilder {
    Host::builder().store(Arc::clone(store) as Arc<dyn Store>).executor(Arc::new(Counting::default()))
}

/// Gives back at once whatever waits.
fn auto_claim(store: &Arc<impl Store + 'static>) -> Host {
    builder(store).auto_claim(Duration::ZERO).open().unwrap()
}

async fn submit(host: &Host, task: &str) -> RunHandle {
    let plan = plan(host, task).await;
    host.submit(&plan, &Map::new()).await.unwrap()
}

async fn plan(host: &Host, task: &str) -> Arc<Plan> {
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{task}]}}}}]}}}}"#
    );
    host.plan("w.json", &text).await.unwrap()
}

const ASK: &str = r#"{"name": "ask", "executor": {"type": "ask"}}"#;

async fn unloaded(host: &Host) {
    while host.loaded() > 0 {
        tokio::task::yield_now().await;
    }
}

async fn row(store: &dyn Store, run: &RunHandle) -> RunRow {
    store.get(run.id()).await.unwrap().unwrap()
}

/// R-H1, R-H3.
#[tokio::test]
async fn a_run_that_waits_for_a_person_is_nobodys_until_it_is_asked() {
    let store = Arc::new(Memory::default());
    let host = auto_claim(&store);
    let run = submit(&host, ASK).await;
    let mut given_back = row(&*store, &run).await;
    while given_back.owner.is_some() {
        tokio::task::yield_now().await;
        given_back = row(&*store, &run).await;
    }
    assert_eq!(given_back.wake_at, None, "the default timeout of a run stands still meanwhile");

    assert_eq!(run.view().await.unwrap().tasks[1].phase, Phase::Suspended, "looking at it loads it");
    unloaded(&host).await;
    assert!(run.resume("ask", Map::new()).await.unwrap());
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    unloaded(&host).await;
}

/// R-H3: a request or a view gets a reply while the run is given back, is loaded or ends, and no slot is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_at_the_moment_at_which_a_run_goes_is_answered() {
    async fn one(host: Arc<Host>) {
        let run = submit(&host, ASK).await;
        let (looks, asks) = (run.clone(), run.clone());
        let looked = tokio::spawn(async move { looks.view().await });
        run.wait_or_park().await.unwrap();
        looked.await.unwrap().unwrap();
        let asked = tokio::spawn(async move { asks.resume("ask", Map::new()).await });
        let cancelled = run.cancel().await;
        for said in [asked.await.unwrap().map(drop), cancelled] {
            assert!(matches!(said, Ok(()) | Err(RequestError::Ended)), "{said:?}");
        }
        run.wait().await.unwrap();
    }
    let host = Arc::new(auto_claim(&Arc::new(Memory::default())));
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        all.spawn(one(Arc::clone(&host)));
    }
    while let Some(ended) = all.join_next().await {
        ended.unwrap();
    }
    while host.metrics().slots.lent > 0 {
        tokio::task::yield_now().await;
    }
}

/// R-H3: a handle learns of the end, wherever the run was in between.
#[tokio::test]
async fn a_clock_loads_a_run_when_it_is_due() {
    let store = Arc::new(Memory::default());
    let host = auto_claim(&store);
    let task = r#"{"name": "a", "executor": {"type": "once"}, "retry": {"limit": 1, "delay": "20ms"}}"#;
    let run = submit(&host, task).await;
    let view = run.wait().await.unwrap();
    assert_eq!((view.phase, view.tasks[1].retries), (Phase::Succeeded, 1));
    assert!(store.get(run.id()).await.unwrap().unwrap().owner.is_none());
    let suspended = r#"{"name": "ask", "executor": {"type": "ask"}, "timeout": "20ms"}"#;
    assert_eq!(submit(&host, suspended).await.wait().await.unwrap().phase, Phase::Timeout);
}

/// R-H2: a host that slept while another had its run takes it up anew when it is to be had again.
#[tokio::test]
async fn what_another_had_in_between_is_loaded_anew() {
    let store = Arc::new(Memory::default());
    let sleeper = builder(&store).auto_claim(Duration::from_secs(3600)).open().unwrap();
    // A run that only waits would have no owner.
    let run = submit(&sleeper, &format!(r#"{ASK}, {{"name": "b", "executor": {{"type": "never"}}}}"#)).await;
    store.heartbeat(sleeper.id(), Timestamp(0)).await.unwrap();
    let other = builder(&store).auto_claim(Duration::from_secs(3600)).open().unwrap();
    while row(&*store, &run).await.owner.as_ref() != Some(other.id()) || other.loaded() == 0 {
        tokio::task::yield_now().await;
    }
    store.heartbeat(sleeper.id(), Timestamp(i64::MAX)).await.unwrap();
    drop(other);
    while row(&*store, &run).await.owner.as_ref() != Some(sleeper.id()) {
        tokio::task::yield_now().await;
    }
    // The state in its memory is of an earlier lease.
    while !run.resume("ask", Map::new()).await.is_ok_and(|resumed| resumed) {
        tokio::task::yield_now().await;
    }
    run.cancel().await.unwrap();
    assert_eq!(row(&*store, &run).await.status.phase, Phase::Cancelled);
}

/// R-H1: another host's runs are taken when it is gone.
#[tokio::test]
async fn the_runs_of_a_host_that_is_gone_are_driven_on() {
    let store = Arc::new(Memory::default());
    let dying = builder(&store).open().unwrap();
    let run = submit(&dying, r#"{"name": "ask", "executor": {"type": "ask"}, "timeout": "50ms"}"#).await;
    run.wait_or_park().await.unwrap();
    let id = Arc::clone(run.id());
    drop(run);
    tokio::task::spawn_blocking(|| dying.close()).await.unwrap();
    let living = auto_claim(&store);
    while store.get(&id).await.unwrap().unwrap().status.open {
        tokio::task::yield_now().await;
    }
    assert_eq!(living.replay(&id).await.unwrap().phase(), Phase::Timeout);
}

/// R-H4: requests by a process that does not drive the run.
#[tokio::test]
async fn letters_are_read_and_answered() {
    for host in [auto_claim, |store: &Arc<Memory>| builder(store).open().unwrap()] {
        let store = Arc::new(Memory::default());
        let host = host(&store);
        let run = submit(&host, ASK).await;
        run.wait_or_park().await.unwrap();
        let post = async |body: &[u8]| {
            let letter = store.post(run.id(), body.to_vec()).await.unwrap();
            host.read_mail(run.id()).await.unwrap();
            loop {
                match store.answer(run.id(), letter).await.unwrap() {
                    Answer::Waiting => tokio::task::yield_now().await,
                    Answer::Replied(reply) => return RequestReply::read(&reply),
                    other @ (Answer::Ended | Answer::Unknown) => panic!("{other:?}"),
                }
            }
        };
        let resume = |task: &str| RunRequest::Resume { task: task.into(), payload: Map::new() }.bytes();
        let refused = |why: &str| Some(RequestReply::Refused(why.to_owned()));
        assert_eq!(post(&resume("unknown")).await, refused("there is no such task run"));
        assert_eq!(post(&resume("main")).await, Some(RequestReply::Done(false)));
        assert_eq!(
            post(b"{\"dance\": 1}").await,
            refused("the request cannot be read; another version of Phasm wrote it")
        );
        assert_eq!(post(&resume("ask")).await, Some(RequestReply::Done(true)));
        assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    }
}

/// R-L6: once nothing begins any more, a request waits in the store for the host that continues the run.
#[tokio::test]
async fn a_letter_begins_nothing_in_a_host_that_is_ending() {
    let store = Arc::new(Memory::default());
    let executor = Arc::new(Counting::default());
    let host = Host::builder().store(Arc::clone(&store) as _).executor(Arc::clone(&executor) as _);
    let host = host.open().unwrap();
    let run = submit(&host, ASK).await;
    run.wait_or_park().await.unwrap();
    host.drain();
    host.idle().await;
    let resume = RunRequest::Resume { task: "ask".into(), payload: Map::new() }.bytes();
    let letter = store.post(run.id(), resume).await.unwrap();
    host.read_mail(run.id()).await.unwrap();
    assert_eq!(run.view().await.unwrap().tasks[1].phase, Phase::Suspended);
    assert_eq!(store.answer(run.id(), letter).await.unwrap(), Answer::Waiting);
    assert_eq!(executor.0.load(SeqCst), 1);
    let id = Arc::clone(run.id());
    drop(run);
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
    let next = auto_claim(&store);
    while store.get(&id).await.unwrap().unwrap().status.open {
        tokio::task::yield_now().await;
    }
    assert_eq!(next.replay(&id).await.unwrap().phase(), Phase::Succeeded);
}

/// R-L17: a run that is submitted to others is theirs, once, whatever number of times it is submitted under one key.
#[tokio::test]
async fn what_is_enqueued_is_driven_by_whoever_claims() {
    let store = Arc::new(Memory::default());
    let gate = builder(&store).open().unwrap();
    let text = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"entrypoint": "main",
        "templates": [{"task": {"name": "main", "executor": {"type": "any"}}}]}}"#;
    let plan = gate.plan("w.json", text).await.unwrap();
    let id =
        gate.enqueue(&plan, &Map::new(), &SubmitOptions { key: Some("k".into()), by: None }).await.unwrap();
    let row = store.get(&id).await.unwrap().unwrap();
    assert_eq!((row.owner, row.status.phase, gate.loaded()), (None, Phase::Created, 0));
    assert!(row.wake_at.is_some());
    let again = gate
        .enqueue(&plan, &Map::new(), &SubmitOptions { key: Some("k".into()), by: None })
        .await
        .unwrap_err();
    assert!(matches!(&again, SubmitError::Store(StoreError::Exists { run_id }) if *run_id == id), "{again}");
    let planner = builder(&store).auto_claim(Duration::ZERO).planner().unwrap();
    let mut tidings = planner.lifecycle();
    let _host = Host::open(planner, Arc::clone(&store) as _).unwrap();
    while store.get(&id).await.unwrap().unwrap().status.open {
        tokio::task::yield_now().await;
    }
    loop {
        let tiding = tidings.recv().await.unwrap();
        assert_eq!(tiding.head.run_id, id);
        if let LifecycleChange::Ended { phase, .. } = tiding.what {
            assert_eq!(phase, Phase::Succeeded);
            break;
        }
    }
    assert_eq!(store.list(Filter::default(), 9).await.unwrap().len(), 1);
}

/// R-H7: a store that was full for a moment loses no run; what was not recorded is not told.
#[tokio::test]
async fn a_store_that_is_well_again_has_its_runs_taken_up() {
    for claims in [false, true] {
        let store = Arc::new(Failing::new());
        let host = if claims { auto_claim(&store) } else { builder(&store).open().unwrap() };
        let run = submit(&host, ASK).await;
        run.wait_or_park().await.unwrap();
        let before = row(&*store, &run).await;
        let (sends, failed) = tokio::sync::oneshot::channel();
        *store.failed.lock().unwrap() = Some(sends);
        store.fails.store(true, SeqCst);
        let asked = run.resume("ask", Map::new()).await;
        assert!(claims || matches!(asked, Err(RequestError::Lost(_))), "{asked:?}");
        failed.await.unwrap();
        assert!(!matches!(asked, Ok(true)), "{asked:?}");
        assert_eq!(row(&*store, &run).await.seq, before.seq);
        store.fails.store(false, SeqCst);
        let handle = host.recover_run(run.id()).await.unwrap();
        assert!(handle.resume("ask", Map::new()).await.unwrap());
        assert_eq!(handle.wait().await.unwrap().phase, Phase::Succeeded);
    }
}

/// R-H7: a run that was claimed while its store failed is not passed over.
#[tokio::test]
async fn a_run_that_was_claimed_in_vain_is_taken_up_again() {
    let store = Arc::new(Failing::new());
    let host = auto_claim(&store);
    store.append_fails.store(true, SeqCst);
    let run = submit(&host, r#"{"name": "ask", "executor": {"type": "ask"}, "timeout": "300ms"}"#).await;
    let ended = tokio::time::timeout(Duration::from_secs(60), run.wait()).await;
    assert_eq!(ended.unwrap().unwrap().phase, Phase::Timeout);
    assert!(!store.append_fails.load(SeqCst), "the store was asked while it failed");
}

/// R-H7: a host drives what it has, also where it was not told that it has it.
#[tokio::test]
async fn a_run_whose_owner_was_not_told_is_driven() {
    for lost in ["claim", "append"] {
        let store = Arc::new(Failing::new());
        let host = auto_claim(&store);
        let plan = plan(&host, r#"{"name": "a", "executor": {"type": "once"}, "retry": {"limit": 1}}"#).await;
        *store.unheard.lock().unwrap() = Some(lost);
        if lost == "claim" {
            host.enqueue(&plan, &Map::new(), &SubmitOptions::default()).await.unwrap();
        } else {
            host.submit(&plan, &Map::new()).await.unwrap_err();
        }
        let rows = store.list(Filter::default(), 9).await.unwrap();
        assert_eq!(rows.len(), 1);
        let ended = tokio::time::timeout(Duration::from_secs(60), host.run_of(&rows[0]).wait()).await;
        assert_eq!(ended.unwrap().unwrap().phase, Phase::Succeeded, "{lost}");
        assert!(store.unheard.lock().unwrap().is_none(), "{lost} was not asked");
    }
}

/// R-H8: a step that no record can hold ends its run, on whichever host, and is never tried again.
#[tokio::test]
async fn a_step_too_large_for_its_store_ends_the_run() {
    for recovered in [false, true] {
        let store = Arc::new(Failing::new());
        let host = builder(&store).open().unwrap();
        let run = submit(
            &host,
            r#"{"name": "a", "executor": {"type": "ask"}}, {"name": "b", "executor": {"type": "ask"}}"#,
        )
        .await;
        run.wait_or_park().await.unwrap();
        store.too_large.store(true, SeqCst);
        let asked = run.resume("a", Map::new()).await;
        assert!(
            matches!(&asked, Err(RequestError::Lost(error)) if matches!(**error, StoreError::TooLarge { .. }))
        );
        let view = if recovered {
            while store.get(run.id()).await.unwrap().unwrap().status.open {
                tokio::task::yield_now().await;
            }
            phasm::RunView::of(&host.replay(run.id()).await.unwrap())
        } else {
            run.wait().await.unwrap()
        };
        assert_eq!((view.phase, view.tasks[1].phase), (Phase::Error, Phase::Cancelled));
        let message = &view.tasks[0].message;
        assert!(message.contains("300000001 bytes") && message.contains("at most 268435456"), "{message}");
        let mut again = host.recover_run(run.id()).await;
        while again.is_ok() {
            // The driver that has recorded the end has not left yet.
            tokio::task::yield_now().await;
            again = host.recover_run(run.id()).await;
        }
        assert!(matches!(&again, Err(phasm::RecoverError::Ended { phase: Phase::Error, .. })), "{again:?}");
    }
}

#[expect(dead_code, reason = "other tests restart it")]
#[path = "../src/store/tests/server.rs"]
mod server;

/// R-H1, R-H4, R-H14: hosts that share a database hear of each other's letters, and take over from one that leaves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_of_a_database_wake_each_other_and_take_over() {
    let Some(server) = server::server() else { return };
    let url = server.url("claims");
    let open = || Arc::new(phasm::store::Postgres::open(&url).unwrap());
    let (left_store, right_store) = (open(), open());
    let left = auto_claim(&left_store);
    let run = submit(&left, ASK).await;
    unloaded(&left).await;
    let body = RunRequest::Resume { task: "ask".into(), payload: Map::new() }.bytes();
    let letter = right_store.post(run.id(), body).await.unwrap();
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    let answer = right_store.answer(run.id(), letter).await.unwrap();
    assert_eq!(answer, Answer::Replied(br#"{"done":true}"#.to_vec()));

    let kept = builder(&right_store).open().unwrap();
    let loaded = submit(&kept, ASK).await;
    loaded.wait_or_park().await.unwrap();
    let letter = left_store.post(loaded.id(), RunRequest::Cancel.bytes()).await.unwrap();
    assert_eq!(loaded.wait().await.unwrap().phase, Phase::Cancelled, "a run that is in memory is told");
    assert!(matches!(left_store.answer(loaded.id(), letter).await.unwrap(), Answer::Replied(_)));

    let waits = submit(&left, r#"{"name": "ask", "executor": {"type": "ask"}, "timeout": "300ms"}"#).await;
    let (id, right) = (Arc::clone(waits.id()), auto_claim(&right_store));
    tokio::task::spawn_blocking(|| left.close()).await.unwrap();
    let mut changed = right_store.changed();
    while right_store.get(&id).await.unwrap().unwrap().status.open {
        drop(tokio::time::timeout(Duration::from_millis(50), changed.changed()).await);
    }
    assert_eq!(right.replay(&id).await.unwrap().phase(), Phase::Timeout);
}

/// R-H20: a caller that hangs up leaves no run without a driver.
#[tokio::test]
async fn what_is_submitted_is_driven_whoever_waits_for_it() {
    let store = Arc::new(Failing::new());
    let host = builder(&store).open().unwrap();
    let (opens, gate) = tokio::sync::oneshot::channel();
    *store.gate.lock().unwrap() = Some(gate);
    let mut submitting = Box::pin(submit(&host, r#"{"name": "a", "executor": {"type": "echo"}}"#));
    while store.gate.lock().unwrap().is_some() {
        assert!(is_pending(submitting.as_mut()).await);
        tokio::task::yield_now().await;
    }
    drop(submitting);
    opens.send(()).unwrap();
    while store.open_runs().await.unwrap().len() == 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.list(Filter::default(), 9).await.unwrap()[0].status.phase, Phase::Succeeded);
}

/// R-H20: state that is not durable, and may be undone, is never shown.
#[tokio::test]
async fn what_is_not_recorded_is_not_shown() {
    let store = Arc::new(Failing::new());
    let host = builder(&store).open().unwrap();
    let run = submit(
        &host,
        r#"{"name": "a", "executor": {"type": "ask"}}, {"name": "b", "executor": {"type": "ask"}}"#,
    )
    .await;
    run.wait_or_park().await.unwrap();
    let (opens, gate) = tokio::sync::oneshot::channel();
    *store.gate.lock().unwrap() = Some(gate);
    let resume =
        |task: u32| run.ask(RunRequest::Resume { task: format!("{}-{task}", run.id()), payload: Map::new() });
    let (mut first, mut second, mut view) = (Box::pin(resume(1)), Box::pin(resume(2)), Box::pin(run.view()));
    while store.gate.lock().unwrap().is_some() {
        assert!(is_pending(first.as_mut()).await);
        tokio::task::yield_now().await;
    }
    // Requests from now on wait for the record of the first, and are handled together.
    assert!(is_pending(second.as_mut()).await && is_pending(view.as_mut()).await);
    let (sends, failed) = tokio::sync::oneshot::channel();
    *store.failed.lock().unwrap() = Some(sends);
    store.fails.store(true, SeqCst);
    opens.send(()).unwrap();
    assert!(first.await.unwrap());
    assert!(matches!(second.await, Err(RequestError::Lost(_))));
    failed.await.unwrap();
    store.fails.store(false, SeqCst);
    let phases: Vec<_> = view.await.unwrap().tasks.iter().map(|task| task.phase).collect();
    assert_eq!(phases[2], Phase::Suspended, "{phases:?}");
}

/// R-H19: a watcher of a run that is driven here does not subscribe to the store.
#[tokio::test]
async fn what_is_heard_is_not_followed() {
    let store = Arc::new(Failing::new());
    let host = builder(&store).open().unwrap();
    let run = submit(&host, ASK).await;
    run.wait_or_park().await.unwrap();
    let mut watch = run.watch(0).unwrap();
    while watch.run().is_none_or(|run| !run.is_parked()) {
        watch.next().await.unwrap().unwrap();
    }
    assert!(watch.try_next().unwrap().is_none());
    assert_eq!(store.follows.load(SeqCst), 0);
    assert!(run.resume("ask", Map::new()).await.unwrap());
    while watch.next().await.unwrap().is_some() {}
    assert!(watch.run().unwrap().is_over());
}

/// Returns ten megabytes once it may.
struct Large(Arc<tokio::sync::Semaphore>);

impl Executor for Large {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let may = Arc::clone(&self.0);
        Box::pin(async move {
            if &*call.executor_type == "never" {
                std::future::pending::<()>().await;
            }
            may.acquire().await.unwrap().forget();
            Outcome::default()
                .output("text", format!("{}{}", call.task_run_id, "x".repeat(10 << 20)).as_str())
        })
    }
}

/// R-H8: a loop that gathers more than one step may record ends as Error, live and read back; what follows goes on.
#[tokio::test]
async fn what_is_gathered_beyond_a_record_ends_its_loop() {
    let store = Arc::new(Failing::new());
    let large = Arc::new(Large(Arc::new(tokio::sync::Semaphore::new(1000))));
    let host = Host::builder().store(Arc::clone(&store) as _).executor(large).open().unwrap();
    let document = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"entrypoint": "main", "templates": [
        {"task": {"name": "one", "executor": {"type": "large"}}},
        {"loop": {"name": "each", "body": "one", "items": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], "aggregate": {"strategy": "list"}}},
        {"dag": {"name": "main", "tasks": [
            {"name": "all", "template": "each", "continueOn": {"error": true}},
            {"name": "next", "template": "one", "dependencies": ["all"]}]}}]}}"#;
    let plan = host.plan("w.json", document).await.unwrap();
    let run = host.submit(&plan, &Map::new()).await.unwrap();
    let view = run.wait().await.unwrap();
    let ends = |view: &phasm::RunView| -> Vec<(Phase, String)> {
        view.tasks.iter().map(|task| (task.phase, task.message.to_string())).collect()
    };
    let all = &view.tasks[1];
    assert_eq!((view.phase, &*all.task_name, all.phase), (Phase::Succeeded, "all", Phase::Error));
    assert!(all.message.contains("13631"), "{}", all.message);
    assert!(all.message.contains("134217728"), "{}", all.message);
    assert_eq!(ends(&phasm::RunView::of(&host.replay(run.id()).await.unwrap())), ends(&view));
    assert!(store.largest.load(SeqCst) < 32 << 20, "{}", store.largest.load(SeqCst));
}

/// R-H8: an answer that no letter could hold is refused, also by the host that drives the run.
#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let store = Arc::new(Failing::new());
    let host = builder(&store).open().unwrap();
    let run = submit(&host, ASK).await;
    run.wait_or_park().await.unwrap();
    let payload = Map::from([("text".into(), "x".repeat(17 << 20).into())]);
    let refused = run.resume("ask", payload).await;
    assert!(matches!(&refused, Err(RequestError::Refused(why)) if why.contains("16777216")), "{refused:?}");
    assert!(run.resume("ask", Map::new()).await.unwrap());
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
}

/// R-H8: letters that come at once share a record as far as they fit.
#[tokio::test]
async fn large_letters_are_recorded_apart() {
    let store = Arc::new(Failing::new());
    let names = ["a", "b", "c", "d"];
    let tasks = names.map(|name| format!(r#"{{"name": "{name}", "executor": {{"type": "ask"}}}}"#));
    let host = auto_claim(&store);
    let run = submit(&host, &tasks.join(",")).await;
    run.wait_or_park().await.unwrap();
    for name in names {
        let payload = Map::from([("text".into(), format!("{name}{}", "x".repeat(12 << 20)).into())]);
        store.post(run.id(), RunRequest::Resume { task: name.into(), payload }.bytes()).await.unwrap();
    }
    host.read_mail(run.id()).await.unwrap();
    assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
    assert!(store.largest.load(SeqCst) < 30 << 20, "{}", store.largest.load(SeqCst));
}

/// R-H8: what fits into a record by itself does not fail for what came at the same time.
#[tokio::test]
async fn results_that_come_at_once_are_recorded_apart() {
    const TASKS: usize = 12;
    let store = Arc::new(Failing::new());
    let may = Arc::new(tokio::sync::Semaphore::new(0));
    let large = Arc::new(Large(Arc::clone(&may)));
    let host = Host::builder().store(Arc::clone(&store) as _).executor(large).open().unwrap();
    let mut tasks: Vec<_> =
        (0..TASKS).map(|task| format!(r#"{{"name": "t{task}", "executor": {{"type": "large"}}}}"#)).collect();
    tasks.push(r#"{"name": "spare", "executor": {"type": "never"}}"#.to_owned());
    let run = submit(&host, &tasks.join(",")).await;
    let (opens, gate) = tokio::sync::oneshot::channel();
    *store.gate.lock().unwrap() = Some(gate);
    let mut cancelled = Box::pin(run.cancel_task("spare"));
    while store.gate.lock().unwrap().is_some() {
        assert!(is_pending(cancelled.as_mut()).await);
        tokio::task::yield_now().await;
    }
    // While this record is on its way all the others finish.
    may.add_permits(TASKS);
    while may.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    opens.send(()).unwrap();
    assert!(cancelled.await.unwrap());
    let view = run.wait().await.unwrap();
    let size = |output: &phasm::engine::run::NamedOutput| output.value.as_str().map_or(0, str::len);
    let whole = |task: &phasm::TaskView| task.outputs.iter().all(|output| size(output) > 10 << 20);
    assert_eq!(view.tasks.iter().filter(|task| task.phase == Phase::Succeeded && whole(task)).count(), TASKS);
    assert!(store.largest.load(SeqCst) < 32 << 20, "{}", store.largest.load(SeqCst));
}

/// Polls it once.
async fn is_pending<T>(mut future: Pin<&mut impl Future<Output = T>>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}
