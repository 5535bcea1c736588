//! The reasons why a task run, or a whole run, waits, and since when.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{
    event::RunningQuota,
    phase::Phase,
    plan::Work,
    run::state::{Place, QueueState, State, TaskRun},
    time::{TimeText, Timestamp},
};

/// The reason for a wait, and its begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    /// The reason.
    #[serde(rename = "for")]
    pub what: WaitsFor,
    /// Since when. RFC 3339 where it is shown.
    #[serde(serialize_with = "rfc3339")]
    #[schemars(with = "TimeText")]
    pub since: Timestamp,
    /// When it is over by itself, if it ever is.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "maybe_rfc3339")]
    #[schemars(with = "Option<TimeText>")]
    pub until: Option<Timestamp>,
    /// Path of the container whose `parallelism` or `concurrency` is used up; empty for `spec.parallelism`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The quota that is used up: its tenant, and the number of attempts it allows.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub quota: Option<RunningQuota>,
}

/// The reasons for a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WaitsFor {
    /// A slot of the host.
    Slot,
    /// The tenant's quota of running attempts: that others of its attempts end.
    Quota,
    /// A place under `parallelism` of the run or a dag, or `concurrency` of a loop.
    Parallelism,
    /// A place where its executor begins: a thread of the host, or another host.
    Start,
    /// The end of a retry's delay.
    Retry,
    /// The response of a person.
    Answer,
}

impl WaitsFor {
    /// In a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Quota => "quota",
            Self::Parallelism => "parallelism",
            Self::Start => "start",
            Self::Retry => "retry",
            Self::Answer => "answer",
        }
    }
}

fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

fn maybe_rfc3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::to_rfc3339).serialize(serializer)
}

impl State {
    /// Returns the reason why a task run waits; `None` while an executor is at work, other tasks have to end first, or it has
    /// ended.
    #[must_use]
    pub fn waiting(&self, task: &TaskRun) -> Option<Waiting> {
        let wait = |what, since| Waiting { what, since, until: None, at: None, quota: None };
        match task.phase {
            Phase::Suspended => Some(wait(WaitsFor::Answer, task.suspended_at.unwrap_or(task.created_at))),
            Phase::Ready if task.scope.is_none() => Some(wait(WaitsFor::Start, dispatched_at(task))),
            Phase::Created => match (task.clocks.wake, task.turn) {
                (Some(until), _) => {
                    Some(Waiting { until: Some(until), ..wait(WaitsFor::Retry, ended_at(task)) })
                }
                // Which of the two it is follows from what was last dispatched, and is not the same after a recovery.
                (None, QueueState::Queued(since) | QueueState::Blocked(since, _)) => match self.held_at(task)
                {
                    Some(at) => Some(Waiting { at: Some(at), ..wait(WaitsFor::Parallelism, since.at) }),
                    None => match self.quota() {
                        Some(quota) => {
                            Some(Waiting { quota: Some(quota.clone()), ..wait(WaitsFor::Quota, since.at) })
                        }
                        None => Some(wait(WaitsFor::Slot, since.at)),
                    },
                },
                (None, QueueState::Elsewhere) => self.waiting_in_loop(task),
            },
            Phase::Ready
            | Phase::Running
            | Phase::Succeeded
            | Phase::Failed
            | Phase::Error
            | Phase::Timeout
            | Phase::Skipped
            | Phase::Cancelled => None,
        }
    }

    /// Returns the reason why the run waits while none of its tasks is at work: the wait that ends first.
    #[must_use]
    pub fn run_waiting(&self) -> Option<Waiting> {
        if self.phase().is_terminal() {
            return None;
        }
        let is_leaf = |task: &&TaskRun| matches!(self.node(task).work, Work::Executor(_));
        let mut first: Option<Waiting> = None;
        for task in self.tasks().iter().filter(is_leaf) {
            if task.phase == Phase::Running {
                return None;
            }
            let Some(waiting) = self.waiting(task) else { continue };
            let place = |waiting: &Waiting| (order(waiting.what), waiting.until, waiting.since);
            if first.as_ref().is_none_or(|first| place(&waiting) < place(first)) {
                first = Some(waiting);
            }
        }
        first
    }

    /// The container whose `parallelism` is used up that a leaf stands under; nothing in it for the run's.
    fn held_at(&self, task: &TaskRun) -> Option<String> {
        if task.hook.is_some() {
            return None;
        }
        let run = || self.plan().parallelism.filter(|most| self.in_flight() >= *most).map(|_| String::new());
        let full = self.full_limit(task.index());
        full.map(|limit| self.path(&self[self[limit].owner])).or_else(run)
    }

    /// Iterations that `concurrency` of their loop holds back.
    fn waiting_in_loop(&self, task: &TaskRun) -> Option<Waiting> {
        let is_held = matches!(task.place, Place::Iteration(..)) && task.unmet > 0;
        let each = self.parent(task).filter(|_| is_held)?;
        let (what, at) = (WaitsFor::Parallelism, Some(self.path(each)));
        Some(Waiting { what, since: task.created_at, until: None, at, quota: None })
    }
}

/// Orders waits: those that end by themselves come first.
fn order(what: WaitsFor) -> u8 {
    match what {
        WaitsFor::Start => 0,
        WaitsFor::Slot | WaitsFor::Quota | WaitsFor::Parallelism => 1,
        WaitsFor::Retry => 2,
        WaitsFor::Answer => 3,
    }
}

/// When the last attempt that is over ended.
fn ended_at(task: &TaskRun) -> Timestamp {
    let ended = task.attempts.iter().rev().find_map(|attempt| attempt.finished_at);
    ended.unwrap_or(task.created_at)
}

/// At the earliest: of later attempts only the end of the one before is remembered.
fn dispatched_at(task: &TaskRun) -> Timestamp {
    task.dispatched_at.map_or(task.created_at, |first| first.max(ended_at(task)))
}
