//! Runs keep to what they were submitted with: the components, what these are granted, and the secrets.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use phasm::{
    Host, HostBuilder, RecoverError, Rerun, RunHandle, RunRequest, UnmetRequirement, WaitOutcome,
    engine::{phase::Phase, value::Map},
    executor::Executor as _,
    plugins::Builder,
    sandbox::{DirGrant, Grants, HttpGrant},
    secrets::Secrets,
    store::{Answer, Memory, Sqlite, Store},
};

/// The component of a guest in `tests/guests`.
fn guest(name: &str) -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests");
    let text = fs::read_to_string(guests.join(name).with_extension("wat")).unwrap();
    wat::parse_str(fs::read_to_string(guests.join("world.wat")).unwrap().replace(";; GUEST", &text)).unwrap()
}

const DOCUMENT: &str = "
apiVersion: aether/v1
kind: Workflow
metadata: {name: w}
spec:
  entrypoint: ask
  templates:
  - task:
      name: ask
      executor: {type: ask}
      inputs: {parameters: [{name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]}
";

fn host(store: &Arc<dyn Store>, builder: HostBuilder) -> Host {
    builder.store(Arc::clone(store)).open().unwrap()
}

fn with_ask(guest_name: &str) -> HostBuilder {
    Host::builder().plugin("ask", guest(guest_name)).secrets(secrets())
}

fn grants(read_only: bool) -> Grants {
    let dir = DirGrant { read_only, ..DirGrant::read_only(std::env::temp_dir(), "/out") };
    Grants { dirs: vec![dir], env: [("LEVEL".to_owned(), "high".to_owned())].into(), ..Grants::default() }
}

fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.insert("api", "token", "hunter2");
    secrets
}

async fn park(host: &Host) -> RunHandle {
    let plan = host.plan("w.yaml", DOCUMENT).await.unwrap();
    let run = host.submit(&plan, &Map::new()).await.unwrap();
    assert!(matches!(run.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    run
}

async fn close(host: Host) {
    tokio::task::spawn_blocking(move || host.close()).await.unwrap();
}

async fn answered(run: &RunHandle) -> Phase {
    assert!(run.resume("ask", Map::new()).await.unwrap());
    run.wait().await.unwrap().phase
}

/// R-I9: kill, replace the plugin by another of the same name, recover: the old one runs; so it does without any.
#[tokio::test]
async fn a_recovered_run_is_executed_by_the_component_it_was_submitted_with() {
    let dir = tempfile::tempdir().unwrap();
    for others in [with_ask("trap"), Host::builder().secrets(secrets())] {
        let open = || -> Arc<dyn Store> { Arc::new(Sqlite::open(dir.path().join("runs.db")).unwrap()) };
        let store = open();
        let dying = host(&store, with_ask("suspend"));
        let id = Arc::clone(park(&dying).await.id());
        close(dying).await;
        drop(store);
        let store = open();
        let living = host(&store, others);
        let run = living.recover_run(&id).await.unwrap();
        assert_eq!(answered(&run).await, Phase::Succeeded);
        close(living).await;
    }
}

/// R-F1: a run that is run again, too, where another plugin has the name by now.
#[tokio::test]
async fn a_rerun_is_executed_by_the_component_of_the_earlier_run() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let first = host(&store, with_ask("suspend"));
    let run = park(&first).await;
    assert_eq!(answered(&run).await, Phase::Succeeded);
    let id = Arc::clone(run.id());
    close(first).await;
    let other = host(&store, with_ask("trap"));
    let again = other.rerun(&id, &Rerun::default()).await.unwrap().start().await.unwrap();
    assert!(matches!(again.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)), "the other one traps");
    assert_eq!(answered(&again).await, Phase::Succeeded);
}

/// R-I9: a run that is submitted anew takes what lies there now.
#[tokio::test]
async fn a_new_run_takes_the_plugin_that_is_there() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    park(&host(&store, with_ask("suspend"))).await;
    let other = host(&store, with_ask("trap"));
    let plan = other.plan("w.yaml", DOCUMENT).await.unwrap();
    let view = other.submit(&plan, &Map::new()).await.unwrap().wait().await.unwrap();
    assert_eq!(view.phase, Phase::Error);
}

/// R-I10: kill, recover without configuration: refused, nothing recorded; with the configuration it goes on.
#[tokio::test]
async fn what_a_run_was_submitted_with_must_be_there() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let configured = || with_ask("suspend").grant("ask", grants(false));
    let dying = host(&store, configured());
    let id = Arc::clone(park(&dying).await.id());
    close(dying).await;
    let recorded = store.get(&id).await.unwrap().unwrap();
    let narrower = || with_ask("suspend").grant("ask", grants(true));
    let rows: [(HostBuilder, &[&str]); 2] = [
        (
            Host::builder(),
            &[
                "plugin `ask` was granted the directory /out; `dirs = [{ host = \"…\", guest = \"/out\", mode = \"rw\" }]` \
                 under `[grants.ask]` in the configuration grants it",
                "plugin `ask` was granted the environment variable LEVEL; `env = { \"LEVEL\" = \"…\" }` under `[grants.ask]` \
                 in the configuration grants it",
                "secret api with key token; `api = { token = { env = \"…\" } }` under `[secrets]` says where it is",
            ],
        ),
        (
            narrower(),
            &[
                "plugin `ask` was granted writing to the directory /out; `dirs = [{ host = \"…\", guest = \"/out\", mode = \"rw\" }]` \
               under `[grants.ask]` in the configuration grants it",
            ],
        ),
    ];
    for (builder, expected) in rows {
        let living = host(&store, builder);
        let Err(RecoverError::Missing { missing, .. }) = living.recover_run(&id).await else {
            panic!("recovered")
        };
        assert_eq!(missing.iter().map(UnmetRequirement::to_string).collect::<Vec<_>>(), expected);
        assert_eq!(store.get(&id).await.unwrap().unwrap(), recorded);
        close(living).await;
    }
    let living = host(&store, configured());
    assert_eq!(answered(&living.recover_run(&id).await.unwrap()).await, Phase::Succeeded);
}

/// Cancelling is how to be rid of a run that cannot go on.
#[tokio::test]
async fn a_run_that_cannot_go_on_can_be_cancelled() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let dying = host(&store, with_ask("suspend"));
    let id = Arc::clone(park(&dying).await.id());
    close(dying).await;
    let living = host(&store, Host::builder());
    let (run, answer) = living.ask_run(&id, RunRequest::Cancel).await.unwrap();
    assert!(matches!(answer, Ok(true)), "{answer:?}");
    assert_eq!(run.wait().await.unwrap().phase, Phase::Cancelled);
}

/// R-I6: a type that stands for nothing, or for something that does not load, is a problem before anything is stored.
#[tokio::test]
async fn what_stands_for_nothing_is_refused() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let rows = [
        (Host::builder().plugin("aks", guest("suspend")), "P070", "did you mean `aks`?"),
        (Host::builder().plugin("ask", b"\0asm\x0d\0\x01\0junk".to_vec()), "P071", ""),
    ];
    for (builder, code, hint) in rows {
        let problems = host(&store, builder).plan("w.yaml", DOCUMENT).await.unwrap_err();
        let [problem] = &*problems else { panic!("{problems}") };
        assert_eq!((problem.code, problem.path.as_str()), (code, "spec.templates[0].task.executor.type"));
        assert_eq!((problem.line, problem.hint.as_deref().unwrap_or_default()), (10, hint));
    }
    let allowing = host(&store, Host::builder().allow_missing().secrets(secrets()));
    let plan = allowing.plan("w.yaml", DOCUMENT).await.unwrap();
    assert_eq!(plan.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["W002"]);
    let view = allowing.submit(&plan, &Map::new()).await.unwrap().wait().await.unwrap();
    assert_eq!((view.phase, view.tasks[0].code), (Phase::Error, Some(3)));
}

/// Gives what building came to, and counts how often it was asked.
struct Counting(AtomicU32, Result<PathBuf, String>);

impl Builder for Counting {
    fn artefact(&self, _: &Path) -> Result<PathBuf, String> {
        self.0.fetch_add(1, SeqCst);
        self.1.clone()
    }
}

/// R-I6: what does not build stops a run before it is stored; what does is looked up and built once a submit.
#[tokio::test]
async fn what_does_not_build_is_refused_and_what_does_is_built_once() {
    let dir = tempfile::tempdir().unwrap();
    let plugins = dir.path().join("plugins");
    fs::create_dir_all(plugins.join("ask")).unwrap();
    fs::write(plugins.join("ask/Cargo.toml"), "[package.metadata.phasm]\n").unwrap();
    let artefact = dir.path().join("artefact.out");
    fs::write(&artefact, guest("suspend")).unwrap();
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let built_by = |builder: &Arc<Counting>| {
        let builder = Arc::clone(builder) as Arc<dyn Builder>;
        host(&store, Host::builder().plugin_dir(&plugins).plugin_builder(builder).secrets(secrets()))
    };
    let failing = Arc::new(Counting(AtomicU32::new(0), Err("error: not today".to_owned())));
    let problems = built_by(&failing).plan("w.yaml", DOCUMENT).await.unwrap_err();
    let [problem] = &*problems else { panic!("{problems}") };
    assert_eq!((problem.code, problem.line, failing.0.load(SeqCst)), ("P071", 10, 1));
    assert!(problem.message.contains("plugin `ask`: error: not today"), "{problem}");
    // Nothing is built for a workflow that has to be fixed first.
    let wrong = DOCUMENT.replace("entrypoint: ask", "entrypoint: ask\n  timout: 1s");
    let building = Arc::new(Counting(AtomicU32::new(0), Ok(artefact)));
    let living = built_by(&building);
    assert_eq!(living.plan("w.yaml", &wrong).await.unwrap_err().len(), 1);
    assert_eq!(building.0.load(SeqCst), 0);
    let run = park(&living).await;
    assert_eq!(answered(&run).await, Phase::Succeeded);
    assert_eq!(building.0.load(SeqCst), 1);
}

/// R-H1: what a host cannot drive on is passed over, and tried again when there are other plugins.
#[tokio::test]
async fn a_run_that_was_passed_over_is_tried_again() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let mut granted = Host::builder().secrets(secrets());
    granted = granted.plugin("ask", guest("suspend")).grant("ask", grants(true));
    let first = host(&store, granted);
    let run = Arc::clone(park(&first).await.id());
    close(first).await;
    let answer = RunRequest::Resume { task: format!("{run}-0"), payload: Map::new() };
    let letter = store.post(&run, answer.bytes()).await.unwrap();

    let other = host(&store, Host::builder().secrets(secrets()).auto_claim(Duration::ZERO));
    // The run is due for a host that meets its requirements.
    while store.get(&run).await.unwrap().unwrap().wake_at.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.mailed(None).await.unwrap(), [Arc::clone(&run)]);
    other.plugins().unwrap().grant("ask", grants(true));
    while store.answer(&run, letter).await.unwrap() == Answer::Waiting {
        tokio::task::yield_now().await;
    }
    while store.get(&run).await.unwrap().unwrap().status.open {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.get(&run).await.unwrap().unwrap().status.phase, Phase::Succeeded);
}

/// R-D6: whose guests reach anything outside waits for its records, as does who is to be compiled yet.
#[tokio::test]
async fn what_a_plugin_is_granted_says_whether_it_is_sealed() {
    let host = Host::builder().plugin("ask", guest("suspend")).open().unwrap();
    let plugins = host.plugins().unwrap();
    let env = Grants { dirs: Vec::new(), ..grants(true) };
    let http = HttpGrant { allow: vec!["https://*".parse().unwrap()], ..HttpGrant::default() };
    plugins.register("reads", guest("suspend"), grants(true));
    plugins.register("knows", guest("suspend"), env);
    plugins.register("asks", guest("suspend"), Grants { http, ..Grants::default() });
    let namespace = "default".into();
    assert!(!plugins.is_pure(&namespace, "ask"), "it is not compiled");
    for (name, is_pure) in [("ask", true), ("knows", true), ("reads", false), ("asks", false)] {
        plugins.load(name).await.unwrap();
        assert_eq!(plugins.is_pure(&namespace, name), is_pure, "{name}");
    }
    assert!(!plugins.is_pure(&namespace, "unknown"));
}
