//! R-H19: watching a run, whichever host drives it, through the embedding API.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use phasm::{
    Host, Map, Notice, Outcome, Phase, RequestError, RunHandle, RunView, WaitOutcome, Watch,
    executor::{Executor, Invocation, Level, Observer},
    store::{Leases, Memory, ReadStore as _, Store, StoreError},
};
use serde_json::Value;

/// `ask` is suspended until it is resumed, `babble` writes very many lines, everything else succeeds.
struct Guests;

const LINES: u64 = 20_000;

impl Executor for Guests {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = i32::from(call.executor_type.as_ref() == "ask" && !call.resumed);
        if call.executor_type.as_ref() == "babble" {
            (0..LINES).for_each(|line| observer.log(Level::Info, &line.to_string()));
        }
        Box::pin(async move { Outcome { code, ..Outcome::default() } })
    }
}

fn host(store: &Arc<Memory>) -> Host {
    let store = Arc::clone(store) as Arc<dyn Store>;
    let builder = Host::builder().store(store).executor(Arc::new(Guests)).auto_claim(Duration::ZERO);
    builder.open().unwrap()
}

const TASKS: &str = r#"{"name": "a", "executor": {"type": "echo"}},
    {"name": "ask", "executor": {"type": "ask"}, "dependencies": ["a"]},
    {"name": "b", "executor": {"type": "echo"}, "dependencies": ["ask"]}"#;

async fn submit(host: &Host, tasks: &str) -> RunHandle {
    let document = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{tasks}]}}}}]}}}}"#
    );
    let plan = host.plan("w.json", &document).await.unwrap();
    host.submit(&plan, &Map::new()).await.unwrap()
}

/// Everything that a watch hears until it ends: the events, and the number of lines.
async fn all(mut watch: Watch) -> (Vec<Value>, u64, u64) {
    let (mut events, mut lines, mut missed) = (Vec::new(), 0, 0);
    while let Some(notice) = watch.next().await.unwrap() {
        match notice {
            Notice::Record(record) => events.extend(watch.views(&record).map(|view| view.json())),
            Notice::Log(_) => lines += 1,
            Notice::Missed(more) => missed += more,
            Notice::Progress(_) => {}
        }
    }
    (events, lines, missed)
}

/// The journal as it is recorded.
async fn recorded(store: &Arc<Memory>, run: &RunHandle) -> Vec<Value> {
    let store = Arc::clone(store) as Arc<dyn phasm::store::ReadStore>;
    all(Watch::of(store, run.id(), 0)).await.0
}

/// From the first event, from one in the middle, from after the last; before, while and after it happens.
#[tokio::test]
async fn each_event_is_heard_once_from_where_it_is_wanted() {
    let store = Arc::new(Memory::default());
    let host = host(&store);
    let run = submit(&host, TASKS).await;
    run.wait_or_park().await.unwrap();
    let parked = store.get(run.id()).await.unwrap().unwrap().seq;
    let early = [
        host.watch(run.id(), 0).await.unwrap(),
        run.watch(parked + 1).unwrap(),
        run.watch(u64::MAX).unwrap(),
    ];
    assert!(run.resume("ask", Map::new()).await.unwrap());
    run.wait().await.unwrap();
    let events = recorded(&store, &run).await;
    assert!(events.len() > 10, "{events:#?}");
    let seqs =
        |events: &[Value]| events.iter().map(|event| event["seq"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(seqs(&events), (0..events.len() as u64).collect::<Vec<_>>());

    let mut heard = Vec::new();
    for watch in early {
        heard.push(all(watch).await.0);
    }
    assert_eq!(heard[0], events);
    // Records are whole: the one that holds the event is the first.
    assert!(heard[1].len() < events.len() && events.ends_with(&heard[1]), "{:#?}", heard[1]);
    assert_eq!(heard[1][0]["seq"].as_u64(), Some(parked));
    assert_eq!(heard[2], [] as [Value; 0]);
    let late = all(host.watch(run.id(), 0).await.unwrap()).await.0;
    assert_eq!(late, events, "what has ended is read");
    let unknown = host.watch("unknown", 0).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })), "{unknown:?}");
}

/// A queue that is full costs lines, which are counted, and no record.
#[tokio::test]
async fn who_is_slow_misses_lines_and_no_record() {
    let store = Arc::new(Memory::default());
    let host = host(&store);
    let tasks = r#"{"name": "ask", "executor": {"type": "ask"}},
        {"name": "babble", "executor": {"type": "babble"}, "dependencies": ["ask"]},
        {"name": "b", "executor": {"type": "echo"}, "dependencies": ["babble"]}"#;
    let run = submit(&host, tasks).await;
    run.wait_or_park().await.unwrap();
    let slow = run.watch(0).unwrap();
    assert!(run.resume("ask", Map::new()).await.unwrap());
    run.wait().await.unwrap();
    let (events, lines, missed) = all(slow).await;
    assert_eq!(events, recorded(&store, &run).await);
    assert_eq!(lines + missed, LINES);
    assert!(lines > 0 && missed > 0, "{lines} lines heard, {missed} missed");
}

/// A run that another host of the same store drives is followed to its end; the watching host drives nothing of it.
#[tokio::test]
async fn what_another_host_drives_is_heard() {
    let store = Arc::new(Memory::default());
    let (driving, other) = (host(&store), host(&store));
    let run = submit(&driving, TASKS).await;
    let watch = other.watch(run.id(), 0).await.unwrap();
    let heard = tokio::spawn(all(watch));
    run.wait_or_park().await.unwrap();
    assert!(run.resume("ask", Map::new()).await.unwrap());
    run.wait().await.unwrap();
    assert_eq!(heard.await.unwrap().0, recorded(&store, &run).await);
    assert_eq!(other.loaded(), 0);
}

/// A watcher on a host that closes learns that nothing more comes.
#[tokio::test]
async fn a_watch_ends_with_its_host() {
    let store = Arc::new(Memory::default());
    let host = host(&store);
    let run = submit(&host, TASKS).await;
    run.wait_or_park().await.unwrap();
    let mut watch = run.watch(0).unwrap();
    assert!(watch.next().await.unwrap().is_some());
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
    while watch.next().await.unwrap().is_some() {}
    assert!(watch.run().is_some_and(|run| !run.is_over()));
    assert!(run.watch(0).is_err());
}

/// R-H21: a handle of a run that another host drives shows, waits and asks as that host's own does, and drives nothing.
#[tokio::test]
async fn a_run_is_held_from_any_host() {
    let store = Arc::new(Memory::default());
    let driving = Host::builder().store(Arc::clone(&store) as _).executor(Arc::new(Guests)).open().unwrap();
    let other = host(&store);
    let run = submit(&driving, TASKS).await;
    let elsewhere = other.run(run.id()).await.unwrap();
    assert!(matches!(elsewhere.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    let phases = |view: RunView| view.tasks.iter().map(|task| task.phase).collect::<Vec<_>>();
    assert_eq!(phases(elsewhere.view().await.unwrap()), phases(run.view().await.unwrap()));
    let ended = tokio::spawn({
        let elsewhere = elsewhere.clone();
        async move { elsewhere.wait().await.unwrap().phase }
    });
    let unknown = elsewhere.resume("unknown", Map::new()).await;
    assert!(matches!(unknown, Err(RequestError::UnknownTask)), "{unknown:?}");
    // Changes that a host of a file or database learns of by itself.
    let mut changed = store.changed();
    let reads = async {
        loop {
            changed.changed().await.unwrap();
            driving.read_mail(run.id()).await.unwrap();
        }
    };
    let asked = tokio::select! {
        asked = elsewhere.resume("ask", Map::new()) => asked.unwrap(),
        () = reads => false,
    };
    assert!(asked);
    assert_eq!(ended.await.unwrap(), Phase::Succeeded);
    assert!(matches!(elsewhere.cancel().await, Err(RequestError::Ended)));
    assert_eq!(other.loaded(), 0);
    assert!(matches!(other.run("unknown").await, Err(StoreError::NotFound { .. })));
}

/// R-A3: the end of a run that another host drives is known by its row, and its journal is read by callers that want the run.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn an_end_elsewhere_is_known_without_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let store: Arc<dyn Store> = Arc::new(phasm::store::Sqlite::open(&path).unwrap());
    let open = || Host::builder().store(Arc::clone(&store)).executor(Arc::new(Guests)).open().unwrap();
    let (driving, other) = (open(), open());
    let run = submit(&driving, r#"{"name": "a", "executor": {"type": "echo"}}"#).await;
    let elsewhere = other.run(run.id()).await.unwrap();
    run.wait().await.unwrap();
    assert_eq!(elsewhere.wait().await.unwrap().phase, Phase::Succeeded);
    let file = rusqlite::Connection::open(&path).unwrap();
    assert!(file.execute("UPDATE journal SET checksum = checksum + 1", []).unwrap() > 0);
    for handle in [&elsewhere, &other.run(run.id()).await.unwrap()] {
        assert_eq!(handle.come_to_rest().await.unwrap(), phasm::RestingState::Ended);
        assert!(handle.wait().await.is_err());
    }
}

/// R-H21: a look at a run that waits in its store does not load it; an answer does.
#[tokio::test]
async fn a_look_loads_nothing() {
    let store = Arc::new(Memory::default());
    let host = host(&store);
    let run = submit(&host, TASKS).await;
    run.wait_or_park().await.unwrap();
    while host.loaded() > 0 {
        tokio::task::yield_now().await;
    }
    let again = host.run(run.id()).await.unwrap();
    assert_eq!(again.view().await.unwrap().tasks[2].phase, Phase::Suspended);
    assert!(matches!(again.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    assert_eq!(host.loaded(), 0);
    assert!(again.resume("ask", Map::new()).await.unwrap());
    assert_eq!(again.wait().await.unwrap().phase, Phase::Succeeded);
}
