//! Spans of runs: their parents, each once, whichever hosts drove the runs, and however often (R-O2 to R-O4).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use phasm::{
    Host, Map, Outcome, RunHandle, RunRequest, WaitOutcome,
    executor::{Executor, HostCall, Invocation, Observer},
    sandbox::trace::{SpanId, TraceContext, TraceId},
    spans::{Span, SpanKind, SpanValue, Tracer, on_behalf_of},
    store::{Memory, Store},
};
use tokio::sync::Semaphore;

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn caller(parent: &str) -> Option<TraceContext> {
    Some(TraceContext::read(parent, Some("vendor=1")).unwrap())
}

/// Keeps what it is told.
#[derive(Default)]
struct Kept {
    spans: Mutex<Vec<Span>>,
    none: bool,
}

impl Tracer for Kept {
    fn samples(&self, _: TraceId) -> bool {
        !self.none
    }

    fn ended(&self, span: Span) {
        self.spans.lock().unwrap().push(span);
    }
}

impl Kept {
    fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

/// By the type: `ask` is suspended until it is resumed, `twice` fails the first time, `gate` waits; all make a request.
struct Fake {
    gate: Arc<Semaphore>,
    opens: bool,
    seen: Mutex<Vec<Invocation>>,
}

impl Fake {
    fn new() -> Arc<Self> {
        Arc::new(Self { gate: Arc::new(Semaphore::new(0)), opens: false, seen: Mutex::default() })
    }
}

impl Executor for Fake {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (gate, opens) = (Arc::clone(&self.gate), self.opens);
        self.seen.lock().unwrap().push(call.clone());
        Box::pin(async move {
            if observer.is_traced() {
                observer.called(request(&call));
            }
            let code = match (&*call.executor_type, call.resumed, call.attempt) {
                ("ask", false, _) => 1,
                ("twice", _, 1) => 2,
                ("gate", ..) if opens => {
                    gate.add_permits(1);
                    0
                }
                ("gate", ..) => {
                    gate.acquire().await.unwrap().forget();
                    0
                }
                _ => 0,
            };
            Outcome { code, message: "said".into(), ..Outcome::default() }
        })
    }
}

fn request(call: &Invocation) -> HostCall {
    let now = SystemTime::now();
    HostCall {
        span: call.span().with(SpanId::of(&format!("{}/0", call.idempotency_key()))),
        method: "GET".to_owned(),
        url: "http://a.example/".to_owned(),
        since: now,
        until: now,
        status: Some(503),
        moved: (10, 20),
        failed: None,
    }
}

fn open(store: &Arc<Memory>, executor: &Arc<Fake>, tracer: Option<&Arc<Kept>>) -> Host {
    let store = Arc::clone(store) as Arc<dyn Store>;
    let builder = Host::builder().store(store).executor(Arc::clone(executor) as _);
    tracer.into_iter().fold(builder, |builder, kept| builder.tracer(Arc::clone(kept) as _)).open().unwrap()
}

async fn submit(host: &Host, from: Option<TraceContext>, tasks: &str) -> RunHandle {
    let document = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w", "namespace": "n"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{tasks}]}}}}]}}}}"#
    );
    let plan = host.plan("w.json", &document).await.unwrap();
    on_behalf_of(from, host.submit(&plan, &Map::new())).await.unwrap()
}

fn text(span: &Span, name: &str) -> String {
    match span.attributes.iter().find(|(known, _)| *known == name) {
        Some((_, SpanValue::Text(text))) => text.to_string(),
        Some((_, SpanValue::Number(number))) => number.to_string(),
        None => panic!("{name}: {span:?}"),
    }
}

/// Every span as `kind name < parent`; each is there once, and those that have no parent there are of the caller.
fn tree(spans: &[Span], caller: Option<SpanId>) -> Vec<String> {
    let mut names: BTreeMap<[u8; 8], String> = BTreeMap::new();
    for span in spans {
        let attempt =
            if span.kind == SpanKind::Attempt { text(span, "phasm.attempt") } else { String::new() };
        let name = format!("{:?} {}{attempt}", span.kind, span.name);
        assert!(names.insert(span.context.span.0, name).is_none(), "twice: {span:?}");
    }
    names.extend(caller.map(|caller| (caller.0, "caller".to_owned())));
    let of = |span: SpanId| names.get(&span.0).cloned().unwrap_or_else(|| panic!("there is no {span}"));
    let line = |span: &Span| {
        let parent = span.parent.map_or_else(|| "nothing".to_owned(), of);
        format!("{} < {parent}", of(span.context.span))
    };
    let lines: BTreeSet<String> = spans.iter().map(line).collect();
    lines.into_iter().collect()
}

const TWO: &str = r#"{"name": "a", "executor": {"type": "twice"}, "retry": {"maxAttempts": 2}},
    {"name": "b", "executor": {"type": "echo"}, "dependencies": ["a"]}"#;

const TREE_OF_TWO: [&str; 10] = [
    "Attempt a1 < Step a",
    "Attempt a2 < Step a",
    "Attempt b1 < Step b",
    "Request GET < Attempt a1",
    "Request GET < Attempt a2",
    "Request GET < Attempt b1",
    "Run w < Submit w",
    "Step a < Run w",
    "Step b < Run w",
    "Submit w < caller",
];

/// R-O2, R-O3: from the caller's span to the requests, each a part of what it is a part of.
#[tokio::test]
async fn a_run_is_a_tree_of_spans_in_its_callers_trace() {
    let (store, fake, kept) = (Arc::default(), Fake::new(), Arc::default());
    let host = open(&store, &fake, Some(&kept));
    let from = caller(CALLER);
    let run = submit(&host, from.clone(), TWO).await;
    let view = run.wait().await.unwrap();
    let spans = kept.spans();
    let parent = from.map(|from| from.span);
    assert_eq!(tree(&spans, parent), TREE_OF_TWO);
    let of = |kind, name: &str| spans.iter().find(|span| span.kind == kind && &*span.name == name).unwrap();
    for span in &spans {
        assert!(span.context.parent().starts_with(&CALLER[..36]) && span.context.is_sampled(), "{span:?}");
        assert_eq!(text(span, "phasm.run"), view.run_id.to_string());
        assert_eq!(
            (text(span, "phasm.workflow").as_str(), text(span, "phasm.namespace").as_str()),
            ("w", "n")
        );
        assert!(span.since <= span.until, "{span:?}");
    }
    let run = of(SpanKind::Run, "w");
    assert_eq!((text(run, "phasm.phase"), run.failed.as_deref()), ("Succeeded".to_owned(), None));
    let failed = of(SpanKind::Attempt, "a");
    assert_eq!(
        (text(failed, "phasm.phase"), text(failed, "phasm.code")),
        ("Failed".to_owned(), "2".to_owned())
    );
    assert_eq!(
        (failed.failed.as_deref(), text(failed, "phasm.executor")),
        (Some("said"), "twice".to_owned())
    );
    let step = of(SpanKind::Step, "a");
    assert_eq!(
        (text(step, "phasm.attempts"), text(step, "phasm.task.path")),
        ("2".to_owned(), "main/a".to_owned())
    );
    let request = of(SpanKind::Request, "GET");
    assert_eq!(request.failed.as_deref(), Some("status 503"));
    // Trace contexts of the attempts.
    let told = fake.seen.lock().unwrap().iter().map(|call| call.span()).collect::<Vec<_>>();
    assert!(told.iter().all(|span| span.state.as_deref() == Some("vendor=1")), "{told:?}");
    assert!(told.iter().all(|told| spans.iter().any(|span| span.context == *told)), "{told:?}");
}

/// R-O2: without a caller the trace is the run's own, and known from its id.
#[tokio::test]
async fn a_run_without_a_caller_has_a_trace_of_its_own() {
    let (store, fake, kept) = (Arc::default(), Fake::new(), Arc::default());
    let host = open(&store, &fake, Some(&kept));
    let run = submit(&host, None, r#"{"name": "a", "executor": {"type": "x"}}"#).await;
    run.wait().await.unwrap();
    let spans = kept.spans();
    let expected = [
        "Attempt a1 < Step a",
        "Request GET < Attempt a1",
        "Run w < Submit w",
        "Step a < Run w",
        "Submit w < nothing",
    ];
    assert_eq!(tree(&spans, None), expected);
    assert!(spans.iter().all(|span| span.context.trace == TraceId::of_run(run.id())));
    // Without a tracer, the contexts say so to others.
    let fake = Fake::new();
    let deaf = open(&store, &fake, None);
    let untraced = submit(&deaf, None, r#"{"name": "a", "executor": {"type": "x"}}"#).await;
    untraced.wait().await.unwrap();
    let told = fake.seen.lock().unwrap()[0].span();
    assert_eq!((told.trace, told.is_sampled()), (TraceId::of_run(untraced.id()), true));
}

/// R-O4: a trace that the caller does not record is recorded nowhere, and the contexts passed on say so; the same for one that is
/// not sampled.
#[tokio::test]
async fn what_is_not_sampled_is_told_nobody() {
    for (from, none) in [(caller(&CALLER.replace("-01", "-00")), false), (None, true)] {
        let (store, fake, kept) = (Arc::default(), Fake::new(), Arc::new(Kept { none, ..Kept::default() }));
        let host = open(&store, &fake, Some(&kept));
        submit(&host, from.clone(), TWO).await.wait().await.unwrap();
        assert_eq!(kept.spans().len(), 0);
        let told = fake.seen.lock().unwrap()[0].span();
        assert!(!told.is_sampled() && from.is_none_or(|from| from.trace == told.trace), "{told}");
    }
}

/// Closes a host where a process would be killed; not on an async thread.
async fn kill(host: Host) {
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
}

/// R-O3: the host that continues a run continues its trace, and no span is passed on twice.
#[tokio::test]
async fn a_run_that_another_host_goes_on_with_stays_one_tree() {
    let (store, fake) = (Arc::new(Memory::default()), Fake::new());
    let (before, after): (Arc<Kept>, Arc<Kept>) = Default::default();
    let first = open(&store, &fake, Some(&before));
    let tasks =
        r#"{"name": "done", "executor": {"type": "echo"}}, {"name": "ask", "executor": {"type": "ask"}}"#;
    let run = submit(&first, caller(CALLER), tasks).await;
    assert!(matches!(run.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    let id = Arc::clone(run.id());
    drop(run);
    kill(first).await;
    let second = open(&store, &fake, Some(&after));
    let (run, reply) = second
        .ask_run(&id, RunRequest::Resume { task: format!("{id}-2"), payload: Map::new() })
        .await
        .unwrap();
    reply.unwrap();
    let ended = run.ended().await.unwrap();
    let kinds = |kept: &Kept, kind| kept.spans().iter().filter(|span| span.kind == kind).count();
    assert_eq!((kinds(&before, SpanKind::Run), kinds(&after, SpanKind::Run)), (0, 1));
    assert_eq!((kinds(&before, SpanKind::Attempt), kinds(&after, SpanKind::Attempt)), (1, 1));
    let all = [before.spans(), after.spans()].concat();
    let of_caller = caller(CALLER).map(|caller| caller.span);
    let expected = [
        "Attempt ask1 < Step ask",
        "Attempt done1 < Step done",
        "Request GET < Attempt ask1",
        "Request GET < Attempt done1",
        "Run w < Submit w",
        "Step ask < Run w",
        "Step done < Run w",
        "Submit w < caller",
    ];
    assert_eq!(tree(&all, of_caller), expected);
    let span = after.spans().into_iter().find(|span| span.kind == SpanKind::Run).unwrap();
    let began = span.since.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(began, u128::try_from(ended.times().submitted_at.0).unwrap(), "as the journal has it");
}

/// R-O3: a request of an attempt that another host executes is a part of that attempt.
#[tokio::test]
async fn what_another_host_executes_stays_in_the_tree() {
    let (store, gate) = (Arc::new(Memory::default()), Arc::new(Semaphore::new(0)));
    let (here, there): (Arc<Kept>, Arc<Kept>) = Default::default();
    let fake = |opens| Arc::new(Fake { gate: Arc::clone(&gate), opens, seen: Mutex::default() });
    let builder = |executor: Arc<Fake>, slots, kept: &Arc<Kept>| {
        let builder = Host::builder().store(Arc::clone(&store) as _).executor(executor).slots(slots);
        builder.tracer(Arc::clone(kept) as _)
    };
    let driving = builder(fake(false), 1, &here).open().unwrap();
    let other = builder(fake(true), 4, &there).auto_claim(Duration::from_secs(3600)).open().unwrap();
    let tasks = r#"{"name": "a", "executor": {"type": "gate"}}, {"name": "b", "executor": {"type": "gate"}}"#;
    submit(&driving, caller(CALLER), tasks).await.wait().await.unwrap();
    drop(other);
    let kinds = |kept: &Kept| kept.spans().iter().map(|span| format!("{:?}", span.kind)).collect::<Vec<_>>();
    assert_eq!(kinds(&there), ["Request"]);
    let all = [here.spans(), there.spans()].concat();
    let lines = tree(&all, caller(CALLER).map(|caller| caller.span));
    assert!(lines.contains(&"Request GET < Attempt b1".to_owned()) && lines.len() == 8, "{lines:#?}");
}
