//! Schedules: what they say, what they have come to, and what people do with them.

use std::sync::Arc;

use phasm_engine::{
    event::Requester,
    phase::Phase,
    plan::{Draft, Executors, Plan},
    problem::Problems,
    schedule::Cron,
    time::{TimeText, Timestamp},
    value::{Map, Value},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CatalogItem, CatalogPage, SaveError, Version, WrittenDocument, find, instant, list, named, saved_text,
    update,
};
use crate::{
    reader,
    store::{CatalogKind, EntryName, ReadStore, Store, StoreError, view},
};

/// The label of a run that says which schedule has fired it.
pub const SCHEDULE_LABEL: &str = "phasm/schedule";
/// The label of a run that says for which instant it was fired.
pub const SCHEDULED_LABEL: &str = "phasm/scheduled-at";

/// The state of a schedule: its workflow, and its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Schedule")]
pub struct ScheduleState {
    /// Its workflow file.
    pub document: Version,
    /// The workflow name of its runs.
    pub workflow: Arc<str>,
    /// `schedule`, as written.
    pub schedule: Arc<str>,
    /// `timezone`.
    pub timezone: Arc<str>,
    /// `concurrencyPolicy`.
    #[schemars(extend("enum" = ["Allow", "Forbid", "Replace"]))]
    pub concurrency_policy: Arc<str>,
    /// Whether it pauses, and who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Suspension>,
    /// Whatever came up to here was decided.
    #[serde(with = "instant")]
    #[schemars(with = "TimeText")]
    pub decided: Timestamp,
    /// Results of its due times, the last one last: all open ones, and the latest of the others.
    #[serde(default)]
    pub firings: Vec<FiringNote>,
    /// Why it cannot fire now; it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ScheduleTrouble>,
}

/// The origin of a schedule's suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Suspension {
    /// Its workflow file: `suspend: true`.
    ByDocument,
    /// A request. A new version of the file does not end it.
    ByHand,
}

/// The result of one due time of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Firing")]
pub struct FiringNote {
    /// The time.
    #[serde(with = "instant")]
    #[schemars(with = "TimeText")]
    pub at: Timestamp,
    /// The last of the times that this stands for, where it stands for several that were missed.
    #[serde(default, with = "instant::maybe", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub until: Option<Timestamp>,
    /// The result.
    pub what: FiringResult,
    /// The run that was started.
    #[serde(default, rename = "runID", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Arc<str>>,
    /// The caller that triggered the run, if one did and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Requester>,
    /// The phase in which the run ended, once that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Short reason for the run's end, or a remark on it, from the run's row; not stored with the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<Arc<str>>,
    /// Whether it is to be cancelled, as another one replaces it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
}

impl FiringNote {
    /// Its run, if that is open as far as is known.
    #[must_use]
    pub fn open(&self) -> Option<&Arc<str>> {
        self.run_id.as_ref().filter(|_| self.phase.is_none())
    }

    /// Whether a run was started, also where that is deleted now.
    #[must_use]
    pub const fn was_started(&self) -> bool {
        matches!(self.what, FiringResult::Started | FiringResult::Triggered)
    }
}

/// The result of a due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum FiringResult {
    /// A run was started.
    Started,
    /// A run was triggered by a request.
    Triggered,
    /// Nothing, as an earlier run was open (`Forbid`).
    Forbidden,
    /// Nothing, as too many runs of the schedule were open.
    Crowded,
    /// None: the time was missed by too much, or a later one was due as well.
    Missed,
}

impl FiringResult {
    /// In a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Triggered => "triggered",
            Self::Forbidden => "not started: another one was open",
            Self::Crowded => "not started: too many were open",
            Self::Missed => "missed",
        }
    }
}

/// Why a schedule cannot fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleTrouble {
    /// The message.
    pub why: Arc<str>,
    /// Since when.
    #[serde(with = "instant")]
    #[schemars(with = "TimeText")]
    pub since: Timestamp,
}

impl ScheduleState {
    fn new(document: Version, plan: &Plan, cron: &Cron, now: Timestamp) -> Self {
        Self {
            document,
            workflow: Arc::clone(&plan.name),
            schedule: Arc::clone(&cron.written),
            timezone: cron.schedule.zone.to_string().into(),
            concurrency_policy: cron.concurrency.as_str().into(),
            suspended: cron.suspend.then_some(Suspension::ByDocument),
            decided: now,
            firings: Vec::new(),
            trouble: None,
        }
    }

    /// The state after an earlier version: the history stays, and so does a suspension by request.
    fn after(self, earlier: &Self) -> Self {
        let by_hand = earlier.suspended.filter(|by| *by == Suspension::ByHand);
        let same_times = (&earlier.schedule, &earlier.timezone) == (&self.schedule, &self.timezone);
        // Decisions that were due at the times before belong to no run any more.
        let decided = if same_times && earlier.suspended.is_none() { earlier.decided } else { self.decided };
        let (suspended, firings) = (by_hand.or(self.suspended), earlier.firings.clone());
        Self { suspended, decided, firings, ..self }
    }

    /// Whether a run is to be cancelled yet.
    fn replaces(&self) -> bool {
        self.firings.iter().any(|firing| firing.replaced && firing.open().is_some())
    }

    /// The time at which the schedule needs a decision next.
    pub(super) fn due(&self, cron: &Cron) -> Option<Timestamp> {
        if self.replaces() {
            // At once.
            return Some(self.decided);
        }
        if self.suspended.is_some() {
            return None;
        }
        cron.schedule.next_after(self.decided)
    }
}

impl CatalogItem<ScheduleState> {
    /// How it stands, in a word: `active`, `suspended`, `in trouble` (it cannot fire, and is tried again) or `over` (it does not come
    /// any more).
    #[must_use]
    pub const fn standing(&self) -> &'static str {
        match (self.what.suspended, &self.what.trouble, self.next) {
            (Some(_), ..) => "suspended",
            (None, Some(_), _) => "in trouble",
            (None, None, Some(_)) => "active",
            (None, None, None) => "over",
        }
    }
}

fn of(namespace: &str, name: &str) -> EntryName {
    named(CatalogKind::Schedules, namespace, name)
}

/// Saves a schedule by the name of its workflow, in the namespace of its runs. An existing one gets this version: its history
/// stays, and a suspension by request. Times before now are not made up for. `plan` is the plan of the text.
///
/// # Errors
/// [`SaveError`]; nothing was changed.
pub async fn put_schedule(
    store: &dyn Store,
    plan: &Plan,
    written: WrittenDocument<'_>,
    by: Option<&str>,
    now: Timestamp,
) -> Result<CatalogItem<ScheduleState>, SaveError> {
    let cron = plan.cron.as_ref().ok_or(SaveError::NoSchedule)?;
    let version = Version::new(written, by, now);
    update(store, of(&plan.namespace, &cron.name), |found: Option<&CatalogItem<ScheduleState>>| {
        if found.is_some_and(|found| found.what.document.digest == version.digest) {
            return None;
        }
        let new = ScheduleState::new(version.clone(), plan, cron, now);
        let state = match found {
            Some(found) => new.after(&found.what),
            None => new,
        };
        let due = state.due(cron);
        Some((state, due, Some(vec![version.text(Some(written.text))])))
    })
    .await
}

/// The schedule of that name, if there is one, with what its runs have come to by now.
///
/// # Errors
/// When the store cannot be read.
pub async fn schedule(
    store: &dyn ReadStore,
    namespace: &str,
    name: &str,
) -> Result<Option<CatalogItem<ScheduleState>>, StoreError> {
    let Some(mut found) = find::<ScheduleState>(store, &of(namespace, name)).await? else { return Ok(None) };
    for firing in &mut found.what.firings {
        let Some(run_id) = &firing.run_id else { continue };
        let row = store.get(run_id).await?.filter(|row| !row.status.open && row.damaged.is_none());
        let Some(row) = row else { continue };
        firing.phase = Some(row.status.phase);
        firing.remark = row.remark;
    }
    Ok(Some(found))
}

/// The first `limit` schedules, of a namespace or of all, by namespace and name; those behind `after`, if it is given.
///
/// # Errors
/// When the store cannot be read.
pub async fn schedules(
    store: &dyn ReadStore,
    namespace: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> Result<CatalogPage<ScheduleState>, StoreError> {
    list(store, CatalogKind::Schedules, namespace, after, limit).await
}

/// Has a schedule pause until it is resumed, whatever its document says. One that pauses already goes on doing so.
///
/// # Errors
/// [`SaveError::NotFound`], or when the store fails.
pub async fn suspend_schedule(
    store: &dyn Store,
    namespace: &str,
    name: &str,
) -> Result<CatalogItem<ScheduleState>, SaveError> {
    update(store, of(namespace, name), |found: Option<&CatalogItem<ScheduleState>>| {
        let found = found?;
        let by_hand = ScheduleState { suspended: Some(Suspension::ByHand), ..found.what.clone() };
        // A run that was to be cancelled still is.
        let due = by_hand.replaces().then_some(by_hand.decided);
        Some((by_hand, due, None))
    })
    .await
}

/// Resumes a paused schedule from `now` on. Missed runs are not started.
///
/// # Errors
/// [`SaveError::NotFound`], or when the store fails, or its document cannot be read any more.
pub async fn resume_schedule(
    store: &dyn Store,
    namespace: &str,
    name: &str,
    now: Timestamp,
) -> Result<CatalogItem<ScheduleState>, SaveError> {
    let name = of(namespace, name);
    let found: CatalogItem<ScheduleState> =
        find(store, &name).await?.ok_or_else(|| SaveError::not_found(&name))?;
    let (_, cron) = read(store, &name, &found.what.document).await?;
    update(store, name, |found: Option<&CatalogItem<ScheduleState>>| {
        let found = found.filter(|found| found.what.suspended.is_some())?;
        let decided = found.what.decided.max(now);
        let goes_on = ScheduleState { suspended: None, decided, ..found.what.clone() };
        let due = goes_on.due(&cron);
        Some((goes_on, due, None))
    })
    .await
}

/// Deletes a schedule; false if there is none. Its runs stay, and go on.
///
/// # Errors
/// When the store fails.
pub async fn remove_schedule(store: &dyn Store, namespace: &str, name: &str) -> Result<bool, StoreError> {
    store.remove_entry(&of(namespace, name)).await
}

/// The next `count` instants of a schedule that is kept, or fewer if it ends before, as if it did not pause.
///
/// # Errors
/// [`SaveError::NotFound`], or when the store cannot be read, or its document cannot.
pub async fn next_instants(
    store: &dyn ReadStore,
    namespace: &str,
    name: &str,
    now: Timestamp,
    count: usize,
) -> Result<Vec<Timestamp>, SaveError> {
    let name = of(namespace, name);
    let found: CatalogItem<ScheduleState> =
        find(store, &name).await?.ok_or_else(|| SaveError::not_found(&name))?;
    let (_, cron) = read(store, &name, &found.what.document).await?;
    let first = cron.schedule.next_after(found.what.decided.max(now));
    Ok(std::iter::successors(first, |at| cron.schedule.next_after(*at)).take(count).collect())
}

/// The document of a schedule, read.
///
/// # Errors
/// [`SaveError::Problems`] where this Phasm cannot read it, or when the store cannot be read.
pub async fn schedule_document(
    store: &dyn ReadStore,
    saved: &CatalogItem<ScheduleState>,
) -> Result<Draft, SaveError> {
    let (draft, _) = read(store, &of(&saved.namespace, &saved.name), &saved.what.document).await?;
    Ok(draft)
}

/// Parameters of a schedule's run, given as texts: a parameter that the workflow declares as a string is the text, other texts
/// are parsed as JSON where they are JSON.
///
/// # Errors
/// The errors of [`schedule_document`], and all texts that cannot be read.
pub async fn given_parameters<'a>(
    store: &dyn ReadStore,
    saved: &CatalogItem<ScheduleState>,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Map, SaveError> {
    // Which executors there are changes nothing of what is declared.
    let plan = schedule_document(store, saved).await?.plan(&Executors::any(), &Value::Null).ok();
    let (mut given, mut problems) = (Map::new(), Vec::new());
    for (name, text) in texts {
        let value = match &plan {
            Some(plan) => view::parameter(plan, name, text),
            None => view::undeclared(name, text),
        };
        match value {
            Ok(value) => given.extend([(name.into(), value)]),
            Err(problem) => problems.push(*problem),
        }
    }
    if problems.is_empty() { Ok(given) } else { Err(Problems::from(problems).into()) }
}

/// A document that is kept for a schedule, and when it starts.
///
/// # Errors
/// [`SaveError::Problems`] where this Phasm cannot read it, or when the store cannot be read.
pub(crate) async fn read(
    store: &dyn ReadStore,
    name: &EntryName,
    version: &Version,
) -> Result<(Draft, Cron), SaveError> {
    let text = saved_text(store, &version.digest).await?;
    let text = text.ok_or_else(|| StoreError::Corrupt {
        path: "store".into(),
        found: format!("{name} has no workflow file {}", version.digest),
    })?;
    let named = |found| Problems::from(found).of_file(Arc::clone(&version.file));
    let draft = Draft::read(&reader::read(&version.file, &text).map_err(named)?);
    match draft.cron().cloned() {
        Some(cron) => Ok((draft, cron)),
        None => Err(match draft.plan(&Executors::any(), &Value::Null) {
            Err(problems) => named(problems).into(),
            Ok(_) => SaveError::NoSchedule,
        }),
    }
}
