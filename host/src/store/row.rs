//! A run as a store shows it: what never changes, where it stands, who has it.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    phase::Phase,
    run::Run,
    time::{Millis, Timestamp},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HostId;

/// Part of a run that never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunHead {
    /// Unique in the store.
    #[serde(rename = "runID")]
    pub run_id: Arc<str>,
    /// `metadata.name`.
    pub workflow: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `spec.priority`, higher first.
    pub priority: u16,
    /// When the run was submitted.
    pub submitted_at: Timestamp,
    /// Key of the submission, chosen by the caller, by which a repeated submission is found; unique in the namespace.
    pub key: Option<Arc<str>>,
    /// `metadata.labels`, as text.
    pub labels: Labels,
}

/// Words by which runs are found.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// Where a run stands after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// Its phase.
    pub phase: Phase,
    /// When `phase` became terminal.
    pub finished_at: Option<Timestamp>,
    /// Whether a restart has to continue the run: it has not ended, or its hook runs have not.
    pub open: bool,
    /// Reason why the run only waits, if no part of it is executed or could be: no host needs it in memory.
    pub rest: Option<Rest>,
}

/// Reason why a run only waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "KeptRest")]
pub struct Rest {
    /// Whether only suspended tasks keep it open.
    pub parked: bool,
    /// When a clock of its runs out, if one does.
    pub until: Option<Timestamp>,
}

/// Clocks that run out sooner are awaited in memory.
const NEAR: Millis = 60_000;

impl Rest {
    /// Whether it is worth unloading the run. A run that no event would wake must not be unloaded; and the end of a near clock is
    /// measured by the run's own time, from which another host's wall clock may be hours away.
    fn lasts(&self, now: Timestamp) -> bool {
        self.until.map_or(self.parked, |until| until.since(now) >= NEAR)
    }
}

impl RunStatus {
    pub(crate) fn of(run: &Run) -> Self {
        let rest = Rest { parked: run.is_parked(), until: run.next_wait() };
        Self {
            phase: run.phase(),
            finished_at: run.times().finished_at,
            open: !run.is_over(),
            rest: Some(rest).filter(|rest| run.rests() && rest.lasts(run.now())),
        }
    }
}

/// A run without its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "KeptRow")]
pub struct RunRow {
    /// The run's place in the order of submission, unique in the store and never used again.
    pub number: u64,
    /// Part that never changes.
    #[serde(flatten)]
    pub head: Arc<RunHead>,
    /// Where it stands.
    #[serde(flatten)]
    pub status: RunStatus,
    /// How many events its journal has.
    pub seq: u64,
    /// The host that runs it, if there is one; it may be gone.
    pub owner: Option<HostId>,
    /// Time at which the run is due, if it has no owner and gets no request before; none if only a request wakes it.
    pub wake_at: Option<Timestamp>,
    /// Reason why the last host could not continue it; none as soon as a host owns it.
    pub note: Option<Note>,
    /// Short reason for its end, or a remark on it, where the phase alone does not say: `Timed out: exceeded maxRuntime (1 s)`,
    /// `2 of 500 failed (tolerated)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<Arc<str>>,
    /// Parts of the row that are not as they were written, if any. Placeholders stand for their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<Arc<str>>,
}

/// Parts of a run's row that are as they were written.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Soundness {
    /// Part that never changes.
    pub(super) head: bool,
    /// Where the run stands.
    pub(super) state: bool,
    /// Its owner, when it is due, and the note.
    pub(super) lease: bool,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Soundness {
    /// Returns the same of a run that has ended: it has no owner and is never due, whatever its row says.
    pub(super) fn without_lease(self) -> Self {
        Self { lease: true, ..self }
    }

    /// Says which parts are damaged.
    pub(super) fn complaint(self) -> Option<Arc<str>> {
        let Self { head, state, lease } = self;
        let parts =
            [(head, "its name, namespace or labels"), (state, "its state"), (lease, "its owner or due time")];
        let bad: Vec<&str> =
            parts.into_iter().filter(|(is_sound, _)| !is_sound).map(|(_, part)| part).collect();
        (!bad.is_empty()).then(|| format!("{} differ from the checksum", bad.join(" and ")).into())
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl RunHead {
    /// Returns placeholders; id and namespace, as far as they can be read, say which run it may be.
    pub(super) fn damaged(run_id: String, namespace: String) -> Self {
        Self {
            run_id: run_id.into(),
            workflow: "?".into(),
            namespace: namespace.into(),
            priority: 0,
            submitted_at: Timestamp(0),
            key: None,
            labels: Labels::new(),
        }
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl RunStatus {
    /// Returns placeholders.
    pub(super) const fn damaged(open: bool) -> Self {
        Self { phase: Phase::Error, finished_at: None, open, rest: None }
    }
}

/// Why a host left a run to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "KeptNote")]
pub struct Note {
    /// Missing requirement.
    pub why: Arc<str>,
    /// Since when.
    pub since: Timestamp,
}

/// How many runs are open, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// A host has them, which may be gone.
    pub owned: u64,
    /// Runs without an owner that are due.
    pub due: u64,
    /// Runs without an owner whose clock wakes them later.
    pub waiting: u64,
    /// Runs without an owner that wait for an approval.
    pub parked: u64,
    /// Letters to them that wait for an answer.
    pub letters: u64,
    /// Time at which the first run without an owner is due.
    pub next: Option<Timestamp>,
}

impl Census {
    /// Counts one more.
    pub(super) fn count(&mut self, RunRow { owner, wake_at, status, .. }: &RunRow, now: Timestamp) {
        let later = wake_at.filter(|at| owner.is_none() && *at > now);
        self.next = self.next.into_iter().chain(later).min();
        let counted = match (owner, wake_at) {
            (Some(_), _) => &mut self.owned,
            (None, Some(at)) if *at <= now => &mut self.due,
            (None, Some(_)) if !status.rest.is_some_and(|rest| rest.parked) => &mut self.waiting,
            (None, _) => &mut self.parked,
        };
        *counted += 1;
    }
}

/// Which runs [`ReadStore::list`](super::ReadStore::list) returns: those that fit every field that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// In one of these namespaces; in any, if there are none.
    pub namespaces: Vec<Arc<str>>,
    /// Runs of this workflow only.
    pub workflow: Option<Arc<str>>,
    /// In this phase.
    pub phase: Option<Phase>,
    /// Submitted before the run of this [`RunRow::number`]: the next page after the one that ended there.
    pub before: Option<u64>,
    /// Submitted as the run of this number or after it, which bounds what is looked at.
    pub from: u64,
    /// Submitted at that instant or later.
    pub since: Option<Timestamp>,
    /// With this label.
    pub label: Option<(Arc<str>, Arc<str>)>,
    /// Only those that have not ended.
    pub open: bool,
}

impl Filter {
    /// Whether runs are looked for by their namespaces: unless another index finds fewer of them.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(super) fn is_by_namespace(&self) -> bool {
        !self.namespaces.is_empty() && (self.from > 0 || (!self.open && self.since.is_none()))
    }

    /// Whether a row that was read may be shown. An index has no checksum: the row itself says what it is.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(super) fn shows(&self, row: &RunRow) -> bool {
        row.damaged.is_some() || self.fits(row)
    }

    /// The label as it stands in the text of a row's labels.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(super) fn label_text(&self) -> Option<String> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        self.label.as_ref().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)))
    }

    pub(super) fn fits(&self, row: &RunRow) -> bool {
        let same = |wanted: &Option<Arc<str>>, found: &Arc<str>| wanted.as_ref().is_none_or(|w| w == found);
        (self.namespaces.is_empty() || self.namespaces.contains(&row.head.namespace))
            && row.number >= self.from
            && same(&self.workflow, &row.head.workflow)
            && self.phase.is_none_or(|phase| phase == row.status.phase)
            && self.before.is_none_or(|number| row.number < number)
            && self.since.is_none_or(|since| row.head.submitted_at >= since)
            && self.label.as_ref().is_none_or(|(key, value)| row.head.labels.get(key) == Some(value))
            && (row.status.open || !self.open)
    }
}
