//! Tenants of a host: what each has of it, what it may have at most, and what is its own.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeMap, fs, future::Future, num::NonZeroUsize, path::Path, pin::Pin, sync::Arc,
    time::Duration,
};

use phasm::{
    Host, HostBuilder, Map, Notice, Outcome, Phase, Quotas, RunHandle, SubmitError, SubmitQuota, Tenant,
    Value, WaitOutcome,
    engine::{
        outcome::code,
        run::{RunView, WaitsFor},
    },
    executor::{Executor, Invocation, Observer},
    journal,
    sandbox::{Grants, SandboxConfig},
    secrets::Secrets,
    store::{Journal, Memory, ReadStore as _, Store},
};
use phasm_tests::stepped::Stepped;
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// The component of a guest in `tests/guests`.
fn guest(name: &str) -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests");
    let text = fs::read_to_string(guests.join(name).with_extension("wat")).unwrap();
    wat::parse_str(fs::read_to_string(guests.join("world.wat")).unwrap().replace(";; GUEST", &text)).unwrap()
}

/// A workflow of a namespace with so many tasks that one executor works on.
fn wide(namespace: &str, executor: &str, tasks: u32) -> String {
    format!(
        "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: wide, namespace: {namespace}}}
spec:
  entrypoint: main
  templates:
  - task: {{name: work, executor: {{type: {executor}}}}}
  - loop: {{name: main, sequence: {{count: {tasks}}}, body: work}}
"
    )
}

fn tenant(weight: u32, quotas: Quotas) -> Tenant {
    Tenant { weight, quotas, ..Tenant::default() }
}

async fn submit(host: &Host, document: &str) -> Result<RunHandle, SubmitError> {
    let plan = host.plan("w.yaml", document).await.unwrap();
    host.submit(&plan, &Map::new()).await
}

/// An attempt that has begun: whose it is, and what ends it.
type Begun = (String, oneshot::Sender<i32>);

/// Tells of attempts, which go on until they are told to end.
struct Told(UnboundedSender<Begun>);

impl Executor for Told {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (ends, ended) = oneshot::channel();
        drop(self.0.send((call.namespace.to_string(), ends)));
        Box::pin(async move { Outcome { code: ended.await.unwrap_or_default(), ..Outcome::default() } })
    }
}

fn told(slots: u32) -> (HostBuilder, UnboundedReceiver<Begun>, Arc<Stepped>) {
    let (tells, begun) = unbounded_channel();
    let clock = Arc::new(Stepped::default());
    let time = Arc::clone(&clock) as Arc<_>;
    (Host::builder().executor(Arc::new(Told(tells))).slots(slots).time(time), begun, clock)
}

/// R-Q1, R-Q3: on a stepped clock, by counting.
#[tokio::test]
async fn two_greedy_tenants_have_slots_by_their_weights() {
    let (builder, mut begun, clock) = told(6);
    let heavy = Tenant { namespaces: vec!["prod".into()], ..tenant(3, Quotas::default()) };
    let host = builder.tenant("heavy", heavy).tenant("light", Tenant::default()).open().unwrap();
    for namespace in ["light", "heavy", "prod"] {
        submit(&host, &wide(namespace, "any", 3000)).await.unwrap();
    }
    let mut had: BTreeMap<String, u32> = BTreeMap::new();
    for round in 0..200 {
        let mut ends = Vec::new();
        for _ in 0..6 {
            let (namespace, end) = begun.recv().await.unwrap();
            // Before the others came the first had all.
            *had.entry(namespace).or_default() += u32::from(round > 0);
            ends.push(end);
        }
        clock.pass(10);
        ends.into_iter().for_each(|end| end.send(0).unwrap());
    }
    let heavy = had["heavy"] + had.get("prod").copied().unwrap_or(0);
    assert!(heavy.abs_diff(895) <= 45 && had["light"].abs_diff(299) <= 30, "{had:?}");
}

/// R-Q2, R-Q8, R-V5: work beyond the quota waits, and the view says whose quota it is and how many attempts it allows.
#[tokio::test]
async fn a_tenant_at_its_quota_waits_and_says_why() {
    let (builder, mut begun, _) = told(4);
    let bounded = tenant(1, Quotas { running: Some(1), ..Quotas::default() });
    let host = builder.tenant("bounded", bounded).open().unwrap();
    let run = submit(&host, &wide("bounded", "any", 3)).await.unwrap();
    let (_, end) = begun.recv().await.unwrap();
    let other = submit(&host, &wide("other", "any", 5)).await.unwrap();
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(begun.recv().await.unwrap());
    }
    assert!(begun.try_recv().is_err());
    let waits = |view: &RunView| -> Vec<_> {
        let waiting = view.tasks.iter().filter_map(|task| task.waiting.as_ref());
        waiting.map(|waiting| waiting.what).filter(|what| *what != WaitsFor::Start).collect()
    };
    let view = run.view().await.unwrap();
    assert_eq!(waits(&view), [WaitsFor::Quota; 2]);
    let row = host.store().get(run.id()).await.unwrap().unwrap();
    assert_eq!(
        row.note.map(|note| note.why.to_string()),
        Some("1 running at most (`running` under `[tenants.bounded.quotas]`)".to_owned())
    );
    let stored = host.store().load(run.id()).await.unwrap();
    let stored = RunView::of(&journal::replay(run.id(), &stored, |_, _, _, _| {}).unwrap());
    for waiting in
        [&view, &stored].map(|view| view.tasks.iter().find_map(|task| task.waiting.clone()).unwrap())
    {
        let shown = serde_json::to_value(&waiting).unwrap();
        assert_eq!(
            (&shown["for"], &shown["tenant"], &shown["running"]),
            (&"quota".into(), &"bounded".into(), &1.into())
        );
    }
    assert_eq!(waits(&other.view().await.unwrap()), [WaitsFor::Slot; 2]);
    end.send(0).unwrap();
    assert_eq!(begun.recv().await.unwrap().0, "bounded");
}

/// Returns the reason why tasks of these names wait, and where it is said.
async fn waiting(run: &RunHandle) -> Vec<(String, WaitsFor, Option<i64>, Option<String>)> {
    let view = run.view().await.unwrap();
    let waiting =
        view.tasks.iter().filter_map(|task| Some((task.task_name.to_string(), task.waiting.clone()?)));
    let told = waiting.map(|(name, waiting)| {
        assert_eq!(waiting.since.0 % 1000, 0, "{waiting:?}");
        (name, waiting.what, waiting.until.map(|at| at.0), waiting.at)
    });
    told.filter(|(_, what, ..)| *what != WaitsFor::Start).collect()
}

/// R-V5.
#[tokio::test]
async fn a_task_says_what_it_waits_for_and_since_when() {
    let (builder, mut begun, clock) = told(2);
    clock.pass(5_000);
    let host = builder.open().unwrap();
    let document = |spec: &str, template: &str| {
        format!(
            "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: w}}
spec:
  entrypoint: main
  {spec}
  templates:
  - {template}
  - task: {{name: work, executor: {{type: any}}, retry: {{limit: 1, delay: 10s}}}}
"
        )
    };
    let two = "tasks: [{name: a, template: work}, {name: b, template: work}]";
    let held = |at: &str| (WaitsFor::Parallelism, None, Some(at.to_owned()));
    let rows = [
        (document("", &format!("dag: {{name: main, parallelism: 1, {two}}}")), "b", held("main")),
        (document("parallelism: 1", &format!("dag: {{name: main, {two}}}")), "b", held("")),
        (document("", "loop: {name: main, items: [1, 2], concurrency: 1, body: work}"), "work", held("main")),
        (
            document("", "loop: {name: main, items: [1, 2, 3], body: work}"),
            "work",
            (WaitsFor::Slot, None, None),
        ),
    ];
    for (document, name, (what, until, at)) in rows {
        let run = submit(&host, &document).await.unwrap();
        let first = begun.recv().await.unwrap();
        let second = if what == WaitsFor::Slot { begun.recv().await } else { None };
        assert_eq!(waiting(&run).await, [(name.to_owned(), what, until, at)], "{document}");
        first.1.send(0).unwrap();
        second.into_iter().for_each(|second| second.1.send(0).unwrap());
        begun.recv().await.unwrap().1.send(0).unwrap();
        let view = run.wait().await.unwrap();
        assert!(view.waiting.is_none() && view.tasks.iter().all(|task| task.waiting.is_none()));
    }
    let alone = "dag: {name: main, tasks: [{name: a, template: work}]}";
    let run = submit(&host, &document("", alone)).await.unwrap();
    clock.pass(1_000);
    begun.recv().await.unwrap().1.send(code::ERROR).unwrap();
    let retries = |view: &RunView| view.tasks.iter().any(|task| task.wake_at.is_some());
    let mut watch = run.watch(0).unwrap();
    while !retries(&run.view().await.unwrap()) {
        assert!(watch.next().await.unwrap().is_some());
    }
    assert_eq!(waiting(&run).await, [("a".to_owned(), WaitsFor::Retry, Some(16_000), None)]);
    clock.pass(10_000);
    begun.recv().await.unwrap().1.send(code::SUSPENDED).unwrap();
    assert!(matches!(run.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    assert_eq!(waiting(&run).await, [("a".to_owned(), WaitsFor::Answer, None, None)]);
    let shown = serde_json::to_value(run.view().await.unwrap()).unwrap();
    let expected = serde_json::json!({ "for": "answer", "since": "1970-01-01T00:00:16.000Z" });
    assert_eq!((&shown["waiting"], &shown["tasks"][1]["waiting"]), (&expected, &expected));
}

/// R-Q7: the error says whose quota, its value, who set it, and when to try again; nothing is stored.
#[tokio::test]
async fn submissions_beyond_a_quota_are_refused() {
    let (builder, mut begun, clock) = told(1);
    clock.pass(1_000_000);
    let quotas =
        Quotas { open_runs: Some(3), runs_per_minute: Some(2), queued: Some(5), ..Quotas::default() };
    let guests = Tenant { namespaces: vec!["*".into()], ..tenant(1, quotas) };
    let store = Arc::new(Memory::default());
    let builder = builder.tenant("guests", guests).tenant("free", Tenant::default());
    let host = builder.store(Arc::clone(&store) as Arc<dyn Store>).open().unwrap();
    let first = submit(&host, &wide("a", "any", 1)).await.unwrap();
    clock.pass(20_000);
    submit(&host, &wide("b", "any", 1)).await.unwrap();
    let refused = async |host: &Host, namespace: &str| {
        let error = submit(host, &wide(namespace, "any", 6)).await.unwrap_err();
        let SubmitError::Quota(exceeded) = &error else { panic!("{error}") };
        (exceeded.quota, exceeded.limit, exceeded.retry_at, error.to_string())
    };
    let (quota, limit, retry_at, text) = refused(&host, "c").await;
    assert_eq!((quota, limit), (SubmitQuota::RunsPerMinute, 2));
    assert_eq!(retry_at.map(|at| at.0), Some(1_060_000));
    let expected = "tenant `guests` has 2 runs of the last minute, of at most 2 (`runs-per-minute` under `[tenants.guests.quotas]` of the \
                    configuration); it can be tried again at 1970-01-01T00:17:40.000Z";
    assert_eq!(text, expected);
    submit(&host, &wide("free", "any", 1)).await.unwrap();
    clock.pass(40_000);
    submit(&host, &wide("c", "any", 6)).await.unwrap();
    clock.pass(60_000);
    let (quota, _, retry_at, text) = refused(&host, "d").await;
    assert_eq!((quota, retry_at), (SubmitQuota::Queued, None), "{text}");
    let (_, end) = begun.recv().await.unwrap();
    end.send(0).unwrap();
    first.wait().await.unwrap();
    assert_eq!(store.list(phasm::store::Filter::default(), 100).await.unwrap().len(), 4);
}

/// R-Q9: what the store keeps of a tenant's runs is counted, and what goes with them is had again.
#[tokio::test]
async fn a_tenants_runs_take_so_much_of_the_store() {
    let (builder, mut begun, _) = told(4);
    let quotas = Quotas { stored: Some(200), ..Quotas::default() };
    let acme = Tenant { namespaces: vec!["prod".into()], ..tenant(1, quotas) };
    let rest = Tenant { namespaces: vec!["*".into()], ..tenant(1, quotas) };
    let store = Arc::new(Memory::default());
    let builder =
        builder.tenant("acme", acme).tenant("rest", rest).store(Arc::clone(&store) as Arc<dyn Store>);
    let host = builder.open().unwrap();
    let mut ended = Vec::new();
    for namespace in ["acme", "anybody"] {
        let run = submit(&host, &wide(namespace, "any", 1)).await.unwrap();
        begun.recv().await.unwrap().1.send(0).unwrap();
        run.wait().await.unwrap();
        ended.push(run);
    }
    for (namespace, run) in ["prod", "stranger"].into_iter().zip(&ended) {
        let error = submit(&host, &wide(namespace, "any", 1)).await.unwrap_err();
        let SubmitError::Quota(exceeded) = &error else { panic!("{error}") };
        assert_eq!((exceeded.quota, exceeded.limit), (SubmitQuota::Stored, 200));
        assert!(exceeded.used > 200 && exceeded.retry_at.is_none(), "{exceeded:?}");
        let text = error.to_string();
        assert!(
            text.contains(&format!(
                "has {} bytes of runs in the store, of at most 200 bytes (`stored` ",
                exceeded.used
            )),
            "{text}"
        );
        assert!(text.ends_with("when some that have ended were deleted (phasm prune)"), "{text}");
        assert!(store.delete(run.id()).await.unwrap());
        submit(&host, &wide(namespace, "any", 1)).await.unwrap();
    }
}

/// R-Q10: a run that is submitted without a configuration is judged by that of the host that serves the store.
#[tokio::test]
async fn a_store_knows_its_tenants() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let quotas = Quotas { open_runs: Some(1), ..Quotas::default() };
    let acme = Tenant { namespaces: vec!["prod".into()], ..tenant(1, quotas) };
    let (builder, _begun, _) = told(0);
    let serving = builder.tenant("acme", acme).store(Arc::clone(&store)).open().unwrap();
    serving.keep_tenants().await.unwrap();
    let (builder, _begun, _) = told(0);
    let unconfigured = builder.store(Arc::clone(&store)).open().unwrap();
    submit(&unconfigured, &wide("acme", "any", 1)).await.unwrap();
    let error = submit(&unconfigured, &wide("prod", "any", 1)).await.unwrap_err().to_string();
    assert!(error.starts_with("tenant `acme` has 1 runs that have not ended, of at most 1"), "{error}");
    submit(&unconfigured, &wide("other", "any", 1)).await.unwrap();
    // A host with tenants of its own uses these.
    let (builder, _begun, _) = told(0);
    let own = builder.tenant("prod", Tenant::default()).store(store).open().unwrap();
    submit(&own, &wide("prod", "any", 1)).await.unwrap();
}

/// R-Q7.
#[tokio::test]
async fn a_run_that_has_ended_makes_room_for_another() {
    let (builder, mut begun, _) = told(4);
    let quotas = Quotas { open_runs: Some(1), ..Quotas::default() };
    let host = builder.tenant("a", tenant(1, quotas)).open().unwrap();
    let first = submit(&host, &wide("a", "any", 1)).await.unwrap();
    let error = submit(&host, &wide("a", "any", 1)).await.unwrap_err().to_string();
    assert!(error.ends_with("it can be tried again when one of them has ended"), "{error}");
    begun.recv().await.unwrap().1.send(0).unwrap();
    first.wait().await.unwrap();
    submit(&host, &wide("a", "any", 1)).await.unwrap();
}

/// Says the secret that it is given.
struct Tells;

impl Executor for Tells {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let secret = call.inputs.iter().find(|(name, _)| &**name == "token").map(|(_, value)| value.clone());
        let secret = secret.as_ref().and_then(Value::as_str).unwrap_or("none");
        // Only the tenant with the secret hides it.
        let told = format!("{} of alpha-alpha beta-beta", secret.len());
        Box::pin(std::future::ready(Outcome { message: told.into(), ..Outcome::default() }))
    }
}

fn secret(value: &str) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.insert("api", "token", value);
    secrets
}

/// R-Q6: each has its own, and neither finds, nor hides, the other's.
#[tokio::test]
async fn a_tenants_secrets_are_its_own() {
    let builder = Host::builder().executor(Arc::new(Tells));
    let own = |value: &str| Tenant { secrets: secret(value), ..Tenant::default() };
    let host = builder.tenant("a", own("alpha-alpha")).tenant("b", own("beta-beta")).open().unwrap();
    let document = |namespace: &str| {
        format!(
            "
apiVersion: aether/v1
kind: Workflow
metadata: {{name: w, namespace: {namespace}}}
spec:
  entrypoint: ask
  templates:
  - task:
      name: ask
      executor: {{type: any}}
      inputs: {{parameters: [{{name: token, valueFrom: {{secretKeyRef: {{name: api, key: token}}}}}}]}}
"
        )
    };
    for (namespace, phase, message) in [
        ("a", Phase::Succeeded, "11 of ••• beta-beta"),
        ("b", Phase::Succeeded, "9 of alpha-alpha •••"),
        (
            "c",
            Phase::Error,
            "input token: there is no secret api with key token; add it to [secrets] of the configuration",
        ),
    ] {
        let view = submit(&host, &document(namespace)).await.unwrap().wait().await.unwrap();
        assert_eq!((view.phase, &*view.tasks[0].attempts[0].message), (phase, message), "{namespace}");
    }
}

/// R-Q6: not by name, not by digest, and not in what is told to be known.
#[tokio::test]
async fn a_tenants_plugins_and_grants_are_its_own() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secret-sauce.wasm"), guest("environment")).unwrap();
    let granted =
        |name: &str| Grants { env: [("WHO".to_owned(), name.to_owned())].into(), ..Grants::default() };
    let acme = Tenant {
        plugins: vec![dir.path().to_owned()],
        grants: [("common".to_owned(), granted("acme")), ("secret-sauce".to_owned(), granted("acme"))].into(),
        ..Tenant::default()
    };
    let config = SandboxConfig { slots: 8, ..SandboxConfig::default() };
    let host = Host::builder()
        .sandbox(config)
        .plugin("common", guest("environment"))
        .grant("common", granted("all"))
        .tenant("acme", acme)
        .open()
        .unwrap();
    // Its code is the number of variables, and one of one suspends.
    let message = async |namespace: &str, executor: &str| {
        let run = submit(&host, &wide(namespace, executor, 1)).await.unwrap();
        let WaitOutcome::Parked(view) = run.wait_or_park().await.unwrap() else {
            panic!("{executor} has ended")
        };
        let work = view.tasks.iter().find(|task| &*task.task_name == "work").unwrap();
        work.attempts[0].message.to_string()
    };
    for (namespace, executor, who) in
        [("acme", "common", "acme"), ("acme", "secret-sauce", "acme"), ("other", "common", "all")]
    {
        let said = message(namespace, executor).await;
        assert!(said.contains(who), "{namespace}: {said}");
    }
    let digest =
        host.plugins_of(&"acme".into()).unwrap().resolve("secret-sauce").await.unwrap().digest.to_string();
    // The same bytes as `common`, which anybody may have.
    assert!(host.plan("w.yaml", &wide("other", &digest, 1)).await.is_ok());
    for executor in ["secret-sauce", "secret-sauc"] {
        let problems = host.plan("w.yaml", &wide("other", executor, 1)).await.unwrap_err().to_string();
        assert!(problems.contains("P070") && !problems.replace(executor, "").contains("sauce"), "{problems}");
    }
    assert_eq!(host.plugins().unwrap().names(), ["common".into()]);
}

/// R-I28, R-Q3: of two tenants that spin one computes three times as much as the other.
#[tokio::test]
async fn two_spinning_tenants_compute_by_their_weights() {
    let config = SandboxConfig { slots: 8, threads: NonZeroUsize::new(1), ..SandboxConfig::default() };
    let host = Host::builder()
        .sandbox(config)
        .plugin("toil", guest("toil"))
        .tenant("heavy", tenant(3, Quotas::default()))
        .open()
        .unwrap();
    let mut watches = Vec::new();
    for namespace in ["heavy", "light"] {
        let plan = host.plan("w.yaml", &wide(namespace, "toil", 2)).await.unwrap();
        let new = host.new_run(&plan, &Map::new()).await.unwrap();
        let watch = new.watch();
        let run = new.start().await.unwrap();
        watches.push((run, watch));
    }
    let sandbox = host.plugins().unwrap().sandbox().clone();
    let computed = || ["heavy", "light"].map(|tenant| sandbox.computed(tenant));
    // Both have begun to take turns.
    while computed().iter().any(|computed| *computed < Duration::from_millis(20)) {
        lines(&mut watches, 1).await;
    }
    let before = computed();
    let share = |before: [Duration; 2]| {
        let now = computed();
        (now[0] - before[0], now[1] - before[1])
    };
    while share(before).0 < Duration::from_millis(900) {
        lines(&mut watches, 5).await;
    }
    let (heavy, light) = share(before);
    let ratio = heavy.as_secs_f64() / light.as_secs_f64();
    assert!((2.7..=3.3).contains(&ratio), "{heavy:?} and {light:?}");
}

/// Waits for so many lines of the first.
async fn lines(watches: &mut [(RunHandle, phasm::Watch)], count: u32) {
    let mut heard = 0;
    while heard < count {
        if let Some(Notice::Log(_)) = watches[0].1.next().await.unwrap() {
            heard += 1;
        }
    }
}
