//! Notifications of a record: their recipients and contents.

use std::sync::Arc;

use phasm_engine::{
    event::{Event, PhaseChange, PhaseData, TaskId},
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
        self.told(head, &Item { seq, at, phase: Phase::Error, more }).collect()
    }

    fn told(&self, head: &RunHead, item: &Item) -> impl Iterator<Item = NewNotice> {
        let subscribers = self.0.iter().filter(|hearer| hearer.on.contains(&item.phase));
        subscribers.map(|hearer| NewNotice {
            seq: item.seq,
            endpoint: Arc::clone(&hearer.endpoint),
            due: item.at,
            body: Progress::new(kind(item.phase), item.at, payload(head, item)).body(),
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
                let message = run.tasks().first().map(|root| &root.message).filter(|said| !said.is_empty());
                let message = message.filter(|_| phase.is_terminal());
                let more = message.map(|message| ("message".to_owned(), brief(message)));
                items.push(Item { seq, at, phase: *phase, more: more.into_iter().collect() });
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
        Some(Item { seq, at, phase: Phase::Suspended, more })
    }
}

fn brief(message: &str) -> Json {
    text::cut(message, MAX_MESSAGE_CHARS).into()
}

/// The `type` of a notification.
fn kind(phase: Phase) -> String {
    format!("run.{}", phase.as_str().to_ascii_lowercase())
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
    json!({ "type": kind(item.phase), "timestamp": item.at.to_rfc3339(), "data": data }).to_string()
}

/// The body of a test notification.
#[cfg(feature = "http")]
pub(super) fn of_nothing(now: Timestamp) -> String {
    let message = "a test: nothing has happened";
    json!({ "type": "phasm.test", "timestamp": now.to_rfc3339(), "data": { "message": message } }).to_string()
}
