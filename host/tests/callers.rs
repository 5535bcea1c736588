//! Callers on their way through a host: from a handle, a queued request, a rerun or a schedule to the run's record (R-S15).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use phasm::{
    Host, HostBuilder, Map, Outcome, Phase, RequestEnvelope, Requester, Rerun, RunHandle, RunRequest,
    RunView, SubmitOptions, TriggerRequest, Value,
    catalog::{self, WrittenDocument},
    engine::plan::Plan,
    executor::{Executor, Invocation, Observer},
    store::{Leases as _, Mailbox as _, Memory, Store},
};

/// Suspends `ask`, and says who has resumed it as far as its configuration does.
struct Asking;

impl Executor for Asking {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let code = i32::from(&*call.executor_type == "ask" && !call.resumed);
        let by = call.config.as_object().and_then(|config| config.get("phasm.resumedBy")).cloned();
        let told = by.unwrap_or_else(|| "no member".into());
        Box::pin(async move { Outcome { code, ..Outcome::default() }.output("told", told) })
    }
}

const ASK: &str = r#"{"name": "ask", "executor": {"type": "ask"}}"#;
const QUICK: &str = r#"{"name": "a", "executor": {"type": "quick"},
    "inputs": {"parameters": [{"name": "by", "value": "{{ workflow.submittedBy }}"}]}}"#;

fn builder(store: &Arc<Memory>) -> HostBuilder {
    Host::builder().store(Arc::clone(store) as Arc<dyn Store>).executor(Arc::new(Asking))
}

async fn plan(host: &Host, task: &str) -> Arc<Plan> {
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "tasks": [{task}]}}}}]}}}}"#
    );
    host.plan("w.json", &text).await.unwrap()
}

fn key(name: &str) -> Option<Requester> {
    Some(Requester::key(name))
}

async fn submitted(host: &Host, task: &str, by: Option<Requester>) -> RunHandle {
    let plan = plan(host, task).await;
    host.new_run_by(&plan, &Map::new(), by).await.unwrap().start().await.unwrap()
}

async fn waiting(host: &Host) -> RunHandle {
    let run = submitted(host, ASK, key("ada")).await;
    run.wait_or_park().await.unwrap();
    run
}

/// Names of the submitter, of the caller that resumed the second task, and of the one that cancelled the run.
fn names(view: &RunView) -> [Option<&str>; 3] {
    let resumed = view.tasks.get(1).and_then(|task| task.resumed_by.as_ref());
    [view.submitted_by.as_ref(), resumed, view.cancelled_by.as_ref()].map(|by| by.map(Requester::as_str))
}

fn told(view: &RunView) -> Value {
    view.tasks[1].outputs.iter().find(|output| &*output.name == "told").unwrap().value.clone()
}

/// R-S15: the executor hears who has resumed it, the record has it, and both are there after the host is gone.
#[tokio::test]
async fn a_caller_is_heard_and_kept() {
    let store = Arc::new(Memory::default());
    let host = builder(&store).open().unwrap();
    let run = waiting(&host).await;
    assert_eq!(told(&run.view().await.unwrap()), "no member".into());
    let forged = Map::from([("phasm.resumedBy".into(), "mallory".into()), ("by".into(), "mallory".into())]);
    assert!(run.clone().by(key("bob")).resume("ask", forged).await.unwrap());
    let view = run.wait().await.unwrap();
    assert_eq!((view.phase, told(&view)), (Phase::Succeeded, "bob".into()));
    assert_eq!(names(&view), [Some("ada"), Some("bob"), None]);
    drop(host);
    let kept = RunView::of(&builder(&store).open().unwrap().replay(run.id()).await.unwrap());
    assert_eq!(names(&kept), names(&view));
}

/// R-S15: an unknown caller is null to the executor, whatever the response says.
#[tokio::test]
async fn an_unknown_caller_is_null() {
    let host = builder(&Arc::default()).open().unwrap();
    let run = waiting(&host).await;
    assert!(run.resume("ask", Map::from([("resumedBy".into(), "mallory".into())])).await.unwrap());
    let view = run.wait().await.unwrap();
    assert_eq!((told(&view), names(&view)), (Value::Null, [Some("ada"), None, None]));
}

/// Has the owner of a run read its requests as soon as there are some.
async fn read(owner: &Host, store: &Memory, run: &RunHandle) {
    let mut changed = store.changed();
    while store.mailed(Some(owner.id())).await.unwrap().is_empty() {
        changed.changed().await.unwrap();
    }
    owner.read_mail(run.id()).await.unwrap();
}

/// R-S15: a request to a run that another host has is of the caller that made it.
#[tokio::test]
async fn a_caller_survives_the_way_to_another_host() {
    let store = Arc::new(Memory::default());
    let (owner, other) = (builder(&store).open().unwrap(), builder(&store).open().unwrap());
    let run = waiting(&owner).await;
    let remote = other.run(run.id()).await.unwrap().by(key("bob"));
    let (resumed, ()) = tokio::join!(remote.resume("ask", Map::new()), read(&owner, &store, &run));
    assert!(resumed.unwrap());
    let view = run.wait().await.unwrap();
    assert_eq!((told(&view), names(&view)), ("bob".into(), [Some("ada"), Some("bob"), None]));

    let run = waiting(&owner).await;
    let remote = other.run(run.id()).await.unwrap().by(key("carol"));
    let (cancelled, ()) = tokio::join!(remote.cancel(), read(&owner, &store, &run));
    cancelled.unwrap();
    assert_eq!(names(&run.wait().await.unwrap()), [Some("ada"), None, Some("carol")]);
}

/// R-S15: a queued request is of the caller that queued it. One of a version without callers is carried out; its caller is not
/// known.
#[tokio::test]
async fn a_caller_survives_the_queue() {
    let request =
        RunRequest::Resume { task: "ask".into(), payload: Map::from([("by".into(), "mallory".into())]) };
    let named = RequestEnvelope { request, by: key("bob") }.bytes();
    let before = br#"{"resume":{"task":"ask","payload":{"by":"mallory"}}}"#.to_vec();
    for (body, by) in [(named, Some("bob")), (before, None)] {
        let store = Arc::new(Memory::default());
        let host = builder(&store).open().unwrap();
        let run = waiting(&host).await;
        store.post(run.id(), body).await.unwrap();
        host.read_mail(run.id()).await.unwrap();
        let view = run.wait().await.unwrap();
        assert_eq!(told(&view), by.map_or(Value::Null, Value::from));
        assert_eq!(names(&view), [Some("ada"), by, None]);
    }
}

/// R-S15: runs name who submitted, triggered or reran them; a run that a schedule has started names the schedule.
#[tokio::test]
async fn each_way_to_start_a_run_names_who_started_it() {
    let store = Arc::new(Memory::default());
    let host = builder(&store).auto_claim(Duration::ZERO).open().unwrap();
    let first = submitted(&host, QUICK, key("ada")).await;
    let view = first.wait().await.unwrap();
    assert_eq!((names(&view)[0], view.tasks[1].inputs[0].value.clone()), (Some("ada"), "ada".into()));
    let rerun = Rerun { by: key("bob"), from_failed: true, ..Rerun::default() };
    let again = host.rerun(first.id(), &rerun).await.unwrap().start().await.unwrap().wait().await.unwrap();
    assert_eq!((names(&again)[0], again.tasks[1].inputs[0].value.clone()), (Some("bob"), "bob".into()));
    assert_eq!(again.tasks[1].reused, None, "it reads who submitted, so that it is executed again");
    let unknown = submitted(&host, QUICK, None).await.wait().await.unwrap();
    assert_eq!((names(&unknown)[0], unknown.tasks[1].inputs[0].value.clone()), (None, Value::Null));

    let options = SubmitOptions { key: None, by: key("carol") };
    let queued = host.enqueue(&plan(&host, QUICK).await, &Map::new(), &options).await.unwrap();
    assert_eq!(names(&host.run(&queued).await.unwrap().wait().await.unwrap())[0], Some("carol"));

    let text = "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {name: s}\nspec:\n  schedule: '* * * * *'\n  suspend: true\n  \
                workflowSpec:\n    entrypoint: main\n    templates:\n      - task: {name: main, executor: {type: quick}}\n";
    let schedule = host.plan("s.yaml", text).await.unwrap();
    host.put_schedule(&schedule, WrittenDocument { file: "s.yaml", text }, None).await.unwrap();
    let options = SubmitOptions { key: None, by: key("dora") };
    let request = TriggerRequest { namespace: "default", name: "s", parameters: &Map::new(), options };
    let triggered = host.trigger(request).await.unwrap();
    assert_eq!(names(&host.run(&triggered.run_id).await.unwrap().wait().await.unwrap())[0], Some("dora"));
    let state = catalog::schedule(&*store, "default", "s").await.unwrap().unwrap().what;
    assert_eq!(state.firings.last().unwrap().by, key("dora"));
}
