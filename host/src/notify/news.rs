//! Notifications of a record: their recipients and contents.

use std::sync::Arc;

use phasm_engine::{
    event::{Event, PhaseChange, PhaseData, Reason, TaskId},
    phase::Phase,
    run::Run,
    text,
    time::Timestamp,
};
use serde_json::{Map as JsonMap, Value as Json, json};

use super::{TOLD_PHASES, Webhooks, progress::Progress};
use crate::{
    journal::Moment,
    store::{NewNotice, RunHead},
};

/// Tasks that a notice names; of others it says how many they are.
const MAX_TASKS: usize = 20;
/// Bytes of a message.
const MAX_MESSAGE_CHARS: usize = 1000;

/// The endpoints that are notified of a run, and their phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscribers(Vec<Subscriber>);

#[derive(Clone, Debug)]
struct Subscriber {
    endpoint: Arc<str>,
    on: Arc<[Phase]>,
}

impl Webhooks {
    /// The endpoints that are notified of a run, given those that its workflow names.
    pub(crate) fn subscribers(&self, head: &RunHead, named: &[Arc<str>]) -> Subscribers {
        let all = self.endpoints.iter();
        let concerned = all.filter(|(name, endpoint)| endpoint.concerns(head, named.contains(name)));
        let hearer = |(name, endpoint): (&Arc<str>, &super::Endpoint)| Subscriber {
            endpoint: Arc::clone(name),
            on: endpoint.on.as_slice().into(),
        };
        Subscribers(concerned.map(hearer).collect())
    }
}

/// Something that a notice may tell of.
struct Item {
    seq: u64,
    at: Timestamp,
    phase: Phase,
    /// Phase that it counts as: Timeout for a run that a clock Cancelled (R-T12).
    counts_as: Phase,
    more: JsonMap<String, Json>,
}

/// Tasks of one record that wait for people.
#[derive(Default)]
struct Suspensions {
    first: Option<(u64, Timestamp)>,
    tasks: Vec<Json>,
    others: usize,
}

impl Subscribers {
    /// Returns the notifications of a record, after which the run is in this state.
    pub(crate) fn notices(
        &self,
        head: &RunHead,
        run: &Run,
        first_seq: u64,
        moments: &[Moment],
    ) -> Vec<NewNotice> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let items = items(run, first_seq, moments);
        items.iter().flat_map(|item| self.told(head, item)).collect()
    }

    /// Returns the notifications of a run that has ended although its journal does not say so.
    pub(crate) fn abandoned(&self, head: &RunHead, seq: u64, at: Timestamp, why: &str) -> Vec<NewNotice> {
        let more = JsonMap::from_iter([("message".to_owned(), brief(why))]);
        self.told(head, &Item { seq, at, phase: Phase::Error, counts_as: Phase::Error, more }).collect()
    }

    fn told(&self, head: &RunHead, item: &Item) -> impl Iterator<Item = NewNotice> {
        let subscribers = self
            .0
            .iter()
            .filter(|hearer| [item.phase, item.counts_as].iter().any(|phase| hearer.on.contains(phase)));
        subscribers.map(|hearer| NewNotice {
            seq: item.seq,
            endpoint: Arc::clone(&hearer.endpoint),
            due: item.at,
            body: Progress::new(item.kind(), item.at, payload(head, item)).body(),
        })
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no endpoint is notified of the others")]
fn items(run: &Run, first_seq: u64, moments: &[Moment]) -> Vec<Item> {
    let (mut items, mut suspended) = (Vec::new(), Suspensions::default());
    let events =
        moments.iter().flat_map(|moment| moment.events.iter().map(move |event| (moment.time, event)));
    for (seq, (at, event)) in (first_seq..).zip(events) {
        match event {
            Event::RunPhase(phase) if TOLD_PHASES.contains(phase) => {
                let root = run.tasks().first().filter(|_| phase.is_terminal());
                let reason = root.and_then(|root| root.reason);
                let message = root.map(|root| &root.message).filter(|said| !said.is_empty());
                let timed_out = root.and_then(|root| run.exceeded(root));
                let more = [
                    message.map(|message| ("message".to_owned(), brief(message))),
                    reason.map(|reason| ("reason".to_owned(), json!(reason))),
                    timed_out.map(|clock| ("timedOut".to_owned(), clock.into())),
                ];
                let more = more.into_iter().flatten().collect();
                items.push(Item {
                    seq,
                    at,
                    phase: *phase,
                    counts_as: Reason::counts_as(*phase, reason),
                    more,
                });
            }
            Event::Phase(PhaseChange { task, to: Phase::Suspended, with, .. }) => {
                suspended.first.get_or_insert((seq, at));
                suspended.add(run, *task, with.as_deref());
            }
            _ => {}
        }
    }
    items.extend(suspended.item());
    items.sort_by_key(|item| item.seq);
    items
}

impl Suspensions {
    fn add(&mut self, run: &Run, task: TaskId, with: Option<&PhaseData>) {
        if self.tasks.len() >= MAX_TASKS {
            self.others += 1;
            return;
        }
        let name = run.task(task).map(|task| run.node(task).name.to_string());
        let mut told = json!({ "task": name, "id": run.task_run_id(task) });
        if let (Some(PhaseData::Partial { message, .. }), Some(told)) = (with, told.as_object_mut())
            && !message.is_empty()
        {
            told.insert("message".to_owned(), brief(message));
        }
        self.tasks.push(told);
    }

    fn item(self) -> Option<Item> {
        let (seq, at) = self.first?;
        let mut more = JsonMap::from_iter([("tasks".to_owned(), Json::from(self.tasks))]);
        if self.others > 0 {
            more.insert("moreTasks".to_owned(), self.others.into());
        }
        Some(Item { seq, at, phase: Phase::Suspended, counts_as: Phase::Suspended, more })
    }
}

fn brief(message: &str) -> Json {
    text::cut(message, MAX_MESSAGE_CHARS).into()
}

impl Item {
    /// The `type` of a notification.
    fn kind(&self) -> String {
        format!("run.{}", self.counts_as.as_str().to_ascii_lowercase())
    }
}

/// The body of a notification.
fn payload(head: &RunHead, item: &Item) -> String {
    let mut data = json!({
        "run": head.run_id,
        "workflow": head.workflow,
        "namespace": head.namespace,
        "phase": item.phase,
        "seq": item.seq,
    });
    if let Some(data) = data.as_object_mut() {
        if !head.labels.is_empty() {
            data.insert("labels".to_owned(), json!(head.labels));
        }
        data.extend(item.more.clone());
    }
    json!({ "type": item.kind(), "timestamp": item.at.to_rfc3339(), "data": data }).to_string()
}

/// The body of a test notification.
#[cfg(feature = "http")]
pub(super) fn of_nothing(now: Timestamp) -> String {
    let message = "a test: nothing has happened";
    json!({ "type": "phasm.test", "timestamp": now.to_rfc3339(), "data": { "message": message } }).to_string()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use phasm_engine::{
        event::{Facts, Fence, Input, TaskId},
        plan::{Draft, Executors},
        run::Submission,
        tree::Tree,
        value::{Map, Value},
    };

    use super::*;

    /// Returns the endpoints that are notified of a run whose task hangs until this clock runs out, and the bodies.
    fn told(clock: &str) -> Vec<(String, Json)> {
        let document = json!({
            "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "nightly" }, "spec": { "entrypoint": "main",
                "templates": [{ "dag": { "name": "main", "tasks": [{ "name": "job", "executor": { "type": "echo" } }] } }] },
        });
        let document = document.to_string().replace("\"name\":\"job\"", &format!("\"name\":\"job\",{clock}"));
        let tree = Tree::from(&Value::from_json(&document).unwrap());
        let plan = Arc::new(Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap());
        let facts = Facts { os: "".into(), arch: "".into(), vars: Map::new().into(), scheduled: None };
        let submission = Submission {
            run_id: "run".into(),
            parameters: Arc::default(),
            doubts: Vec::new(),
            facts,
            secrets: Vec::new(),
            origin: None,
            trace: None,
            by: None,
        };
        let (mut run, _) = Run::start(plan, submission, Timestamp(0));
        let fence = Fence { task: TaskId(1), attempt: 1, dispatch: 1 };
        let _ = run.step(Timestamp(0), Input::Lent(1));
        let _ = run.step(Timestamp(0), Input::Started(fence));
        let step = run.step(Timestamp(1000), Input::Tick);
        let subscriber =
            |phase: &Phase| Subscriber { endpoint: phase.as_str().into(), on: Arc::from([*phase]) };
        let all = Subscribers(TOLD_PHASES.iter().map(subscriber).collect());
        let head = RunHead {
            run_id: "run".into(),
            workflow: "nightly".into(),
            namespace: "default".into(),
            priority: 0,
            submitted_at: Timestamp(0),
            key: None,
            labels: BTreeMap::new(),
        };
        let moments = [Moment { time: Timestamp(1000), events: Arc::new(step.events) }];
        let notices = all.notices(&head, &run, 0, &moments).into_iter();
        let body = |notice: NewNotice| {
            let kept: Json = serde_json::from_str(&notice.body).unwrap();
            let payload = kept["payload"].as_str().unwrap();
            (notice.endpoint.to_string(), serde_json::from_str(payload).unwrap())
        };
        notices.map(body).collect()
    }

    /// R-T12, R-Y1: an alert on timeouts hears of every clock that ends a run.
    #[test]
    fn what_a_clock_ends_is_told_as_a_timeout() {
        let endpoints =
            |told: &[(String, Json)]| told.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        for clock in ["maxRuntime", "deadline"] {
            let told = told(&format!("\"{clock}\": \"1s\""));
            assert_eq!(endpoints(&told), ["Timeout", "Cancelled"], "{clock}");
            for (_, body) in told {
                let data = &body["data"];
                assert_eq!((&body["type"], &data["phase"]), (&json!("run.timeout"), &json!("Cancelled")));
                assert_eq!(data["reason"], "timeout-policy");
                assert_eq!(data["timedOut"], format!("exceeded {clock} (1 s) in main/job"));
            }
        }
        assert_eq!(endpoints(&told("\"timeout\": \"1s\"")), ["Timeout"]);
        let error = told("\"deadline\": {\"timeout\": \"1s\", \"errorOnTimeout\": true}");
        assert_eq!(endpoints(&error), ["Error"]);
        assert_eq!(error[0].1["data"]["timedOut"], "exceeded deadline (1 s) in main/job");
    }
}
