//! Runs that are run again, through the embedding API and a store in a file (R-F1).
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use phasm::{
    Host, RecoverError, Rerun, RerunError, RunHandle, SubmitError, WaitOutcome,
    engine::{
        outcome::{Outcome, Output},
        phase::Phase,
        run::RunView,
        value::{Map, Value},
    },
    executor::{Executor, Invocation, Observer},
    secrets::Secrets,
    store::Sqlite,
};

/// Returns its inputs as outputs; the types `fail` and `hang` do so unless they are fixed. Remembers every call.
#[derive(Default)]
struct Fake {
    mended: bool,
    calls: Mutex<Vec<String>>,
}

impl Fake {
    fn new(mended: bool) -> Arc<Self> {
        Arc::new(Self { mended, calls: Mutex::default() })
    }

    /// The names of the tasks that were called since the last time.
    fn called(&self) -> Vec<String> {
        let mut calls = std::mem::take(&mut *self.calls.lock().unwrap());
        calls.sort();
        calls
    }
}

impl Executor for Fake {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        self.calls.lock().unwrap().push(call.task.to_string());
        let outcome = match (call.executor_type.as_ref(), self.mended) {
            ("hang", false) => None,
            ("fail", false) => Some(Outcome::failed("no")),
            ("ask", _) if !call.resumed => Some(Outcome::suspended()),
            _ => {
                let outputs = call.inputs.iter();
                let outputs =
                    outputs.map(|(name, value)| Output { name: name.clone(), value: value.clone() });
                Some(Outcome::succeeded(outputs.collect()))
            }
        };
        Box::pin(async move {
            match outcome {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        })
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn host(&self, executor: &Arc<Fake>) -> Host {
        self.host_with(executor, Secrets::default())
    }

    fn host_with(&self, executor: &Arc<Fake>, secrets: Secrets) -> Host {
        let store = Arc::new(Sqlite::open(self.dir.path().join("runs.db")).unwrap());
        // Reruns keep the variables of the run that they are reruns of.
        let team = if executor.mended { "red" } else { "blue" };
        let host = Host::builder().store(store).executor(Arc::clone(executor) as _).secrets(secrets);
        let host = host.var("team", team);
        host.open().unwrap()
    }
}

/// Closes a host where a process would be killed; not on an async thread.
async fn kill(host: Host) {
    tokio::task::spawn_blocking(|| host.close()).await.unwrap();
}

/// `a` and `b`, then `c`, then `d`; `b` is given the parameter `who`.
fn document(c: &str) -> String {
    let input = |value: &str| format!(r#""inputs": {{"parameters": [{{"name": "x", "value": "{value}"}}]}}"#);
    let task = |name: &str, kind: &str, value: &str, after: &str| {
        let input = input(value);
        format!(
            r#"{{"name": "{name}", "executor": {{"type": "{kind}"}}, {input}, "dependencies": [{after}]}}"#
        )
    };
    let tasks = [
        task("a", "echo", "{{ vars.team }}", ""),
        task("b", "echo", "{{ workflow.parameters.who }}", ""),
        task("c", c, "{{ tasks.b.outputs.parameters.x }}", r#""a", "b""#),
        task("d", "echo", "{{ tasks.c.outputs.parameters.x }}", r#""c""#),
    ]
    .join(", ");
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "arguments": {{"parameters": [{{"name": "who", "type": "string"}}, {{"name": "rest", "value": 1}}]}},
            "templates": [{{"dag": {{"name": "main", "tasks": [{tasks}]}}}}]}}}}"#
    )
}

fn who(name: &str) -> Map {
    Map::from([("who".into(), name.into())])
}

async fn submit(host: &Host, document: &str) -> RunHandle {
    let plan = host.plan("w.json", document).await.unwrap();
    host.submit(&plan, &who("Ada")).await.unwrap()
}

/// Waits for a run and lets go of it, and so of the store.
async fn ended(run: RunHandle) -> (Arc<str>, RunView) {
    let view = run.wait().await.unwrap();
    (Arc::clone(run.id()), view)
}

/// Waits for a run to park, and lets go of it.
async fn parked(run: RunHandle) -> Arc<str> {
    assert!(matches!(run.wait_or_park().await.unwrap(), WaitOutcome::Parked(_)));
    Arc::clone(run.id())
}

fn from_failed() -> Rerun {
    Rerun { from_failed: true, ..Rerun::default() }
}

fn phases(view: &RunView) -> Vec<(&str, Phase, Option<&str>)> {
    let tasks = view.tasks.iter();
    tasks.map(|task| (task.task_name.as_ref(), task.phase, task.reused.as_deref())).collect()
}

#[tokio::test]
async fn what_had_succeeded_is_not_executed_again() {
    let place = Place::new();
    let broken = Fake::new(false);
    let host = place.host(&broken);
    let failed = submit(&host, &document("fail")).await;
    let (failed, left) = ended(failed).await;
    assert_eq!((left.phase, broken.called()), (Phase::Failed, ["a", "b", "c"].map(String::from).into()));
    kill(host).await;

    let mended = Fake::new(true);
    let host = place.host(&mended);
    let again = host.rerun(&failed, &from_failed()).await.unwrap().start().await.unwrap();
    let view = again.wait().await.unwrap();
    assert_eq!(mended.called(), ["c", "d"]);
    let of = failed.as_ref();
    let expected = [
        ("main", Phase::Succeeded, None),
        ("a", Phase::Succeeded, Some(of)),
        ("b", Phase::Succeeded, Some(of)),
        ("c", Phase::Succeeded, None),
        ("d", Phase::Succeeded, None),
    ];
    assert_eq!(phases(&view), expected);
    assert_eq!((view.rerun_of.as_deref(), view.phase), (Some(of), Phase::Succeeded));
    assert_ne!(again.id(), &failed);
    let d = view.tasks.last().unwrap();
    assert_eq!(d.outputs.first().unwrap().value, "Ada".into());
    let stays = host.replay(&failed).await.unwrap();
    assert_eq!(stays.phase(), Phase::Failed, "the earlier run stays as it is");

    let other = Rerun { from_failed: true, parameters: who("Bob"), by: None };
    let other = host.rerun(again.id(), &other).await.unwrap().start().await.unwrap().wait().await.unwrap();
    assert_eq!((other.phase, mended.called()), (Phase::Succeeded, ["b", "c", "d"].map(String::from).into()));
    let all =
        host.rerun(again.id(), &Rerun::default()).await.unwrap().start().await.unwrap().wait().await.unwrap();
    assert_eq!((all.phase, mended.called().len()), (Phase::Succeeded, 4));
    let none =
        host.rerun(again.id(), &from_failed()).await.unwrap().start().await.unwrap().wait().await.unwrap();
    assert_eq!((none.phase, mended.called().len(), none.tasks.len()), (Phase::Succeeded, 0, 1));
}

/// Results that a rerun reuses are stored with it: it continues after a crash, and they are not executed again.
#[tokio::test]
async fn a_rerun_is_recovered_as_any_run() {
    let place = Place::new();
    let broken = Fake::new(false);
    let host = place.host(&broken);
    let failed = submit(
        &host,
        &document("fail").replace(
            r#""echo"}, "inputs": {"parameters": [{"name": "x", "value": "{{ tasks.c"#,
            r#""ask"}, "inputs": {"parameters": [{"name": "x", "value": "{{ tasks.c"#,
        ),
    )
    .await;
    let (failed, _) = ended(failed).await;
    kill(host).await;

    let mended = Fake::new(true);
    let host = place.host(&mended);
    let again = parked(host.rerun(&failed, &from_failed()).await.unwrap().start().await.unwrap()).await;
    assert_eq!(mended.called(), ["c", "d"]);
    kill(host).await;

    let host = place.host(&mended);
    let recovered = host.recover_run(&again).await.unwrap();
    assert!(recovered.resume("d", Map::new()).await.unwrap());
    let view = recovered.wait().await.unwrap();
    assert_eq!((view.phase, view.rerun_of.as_deref()), (Phase::Succeeded, Some(failed.as_ref())));
    assert_eq!(mended.called(), ["d"]);
    assert_eq!(view.tasks.iter().filter(|task| task.reused.is_some()).count(), 2);
}

#[tokio::test]
async fn what_cannot_be_run_again_is_refused_and_nothing_is_stored() {
    let place = Place::new();
    let broken = Fake::new(false);
    let mut secrets = Secrets::default();
    secrets.insert("api", "token", "hidden-1234");
    let host = place.host_with(&broken, secrets);
    let secret = document("fail").replace(
        r#""value": "{{ vars.team }}""#,
        r#""valueFrom": {"secretKeyRef": {"name": "api", "key": "token"}}"#,
    );
    let failed = submit(&host, &secret).await;
    let (failed, _) = ended(failed).await;
    let open = Arc::clone(submit(&host, &document("hang")).await.id());
    let refused = host.rerun(&open, &from_failed()).await;
    assert!(matches!(&refused, Err(RerunError::Open { phase, .. }) if !phase.is_terminal()), "{refused:?}");
    let unknown = host.rerun("unknown", &from_failed()).await;
    assert!(matches!(&unknown, Err(RerunError::Recover(RecoverError::Store(_)))), "{unknown:?}");
    let wrong = Rerun { from_failed: true, parameters: Map::from([("whom".into(), "Bob".into())]), by: None };
    let wrong = host.rerun(&failed, &wrong).await;
    let Err(RerunError::Submit(SubmitError::Problems(problems))) = &wrong else { panic!("{wrong:?}") };
    assert!(problems.to_string().contains("unknown parameter `whom`"), "{problems}");
    kill(host).await;

    let host = place.host(&broken);
    let missing = host.rerun(&failed, &from_failed()).await;
    assert!(matches!(&missing, Err(RerunError::Recover(RecoverError::Missing { .. }))), "{missing:?}");
    assert_eq!(host.store().list(phasm::store::Filter::default(), 9).await.unwrap().len(), 2);
}

/// R-W32, R-W33: settings that follow from parameters are the same on a host that finds the run, and a rerun binds them anew.
#[tokio::test]
async fn settings_follow_from_the_parameters_of_each_run() {
    let document = r#"{"apiVersion": "phasm/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"entrypoint": "main",
        "parameters": {"who": null, "n": 2}, "templates": [{"task": {"name": "main", "executor": {"type": "fail"},
        "retry": {"attempts": "{{ workflow.parameters.n }}", "when": "true"}}}]}}"#;
    let place = Place::new();
    let broken = Fake::new(false);
    let host = place.host(&broken);
    let plan = host.plan("w.json", document).await.unwrap();
    let (failed, _) = ended(submit(&host, document).await).await;
    assert_eq!(broken.called().len(), 2);
    let given = |n: &str| Map::from([("who".into(), "Ada".into()), ("n".into(), n.into())]);
    let Err(SubmitError::Problems(problems)) = host.submit(&plan, &given("many")).await else {
        panic!("`many` is no number of attempts")
    };
    let text = problems.to_string();
    assert!(
        text.contains("spec.templates[0].task.retry.attempts: `{{ workflow.parameters.n }}` is \"many\""),
        "{text}"
    );
    kill(host).await;

    let host = place.host(&broken);
    let settings =
        |run: &phasm::engine::run::Run| run.plan().setting_values().into_values().collect::<Vec<_>>();
    assert_eq!(settings(&host.replay(&failed).await.unwrap()), [2.into()]);
    let three = Rerun { parameters: Map::from([("n".into(), 3.into())]), ..Rerun::default() };
    let (again, _) = ended(host.rerun(&failed, &three).await.unwrap().start().await.unwrap()).await;
    assert_eq!(broken.called().len(), 3);
    assert_eq!(settings(&host.replay(&again).await.unwrap()), [3.into()]);
    assert_eq!(settings(&host.replay(&failed).await.unwrap()), [2.into()]);
    let refused = Rerun { parameters: Map::from([("n".into(), Value::Null)]), ..Rerun::default() };
    assert!(host.rerun(&failed, &refused).await.is_ok(), "null stands for the default");
    let refused = Rerun { parameters: Map::from([("n".into(), (-7).into())]), ..Rerun::default() };
    assert!(matches!(host.rerun(&failed, &refused).await, Err(RerunError::Submit(SubmitError::Problems(_)))));
}
