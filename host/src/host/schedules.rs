//! Fires the schedules of a store that are due.
//!
//! ```text
//!  due, changed, a run has ended ──▶ look: the state of its runs ──▶ decide ──▶ cancel, delete ──▶ its next revision,
//!                                                                             with the run that is fired in the same write
//!  the clock of the schedule that is due next ──▲
//! ```
//!
//! Several hosts may look at a schedule: one of them makes the next revision, and the others look again. Work that a host leaves
//! undone when it dies is still in the schedule's row.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use phasm_engine::{
    event::Requester,
    plan::Draft,
    schedule::Cron,
    time::{Millis, Timestamp},
    value::Map,
};

use crate::{
    catalog::{
        self, CatalogItem, Decision, FiringResult, RunStands, SaveError, ScheduleState, ScheduleTrouble,
        change, decide,
    },
    core::{
        HostCore,
        background::{BackgroundTask, PluginChanges, Wake},
    },
    drive::load,
    planner::{SubmitError, SubmitOptions},
    run::{envelope::RequestEnvelope, request::RunRequest},
    store::{CatalogEntry, CatalogKind, DuePlace, EntryName, StoreError},
};

/// EntryQuery that are looked at in one go.
const PAGE: usize = 64;
/// How long a schedule that cannot fire is left alone, at first and at most.
const TRIES_AGAIN: (Millis, Millis) = (10_000, 600_000);
/// Bytes of a message that are kept.
const MAX_MESSAGE_CHARS: usize = 2000;

/// Schedules that cannot fire here, by when they are tried again. Others may have what this host lacks.
#[derive(Default)]
struct ScheduleBackoff(HashMap<EntryName, Backoff>);

struct Backoff {
    /// The host's clock at the next try.
    until: Millis,
    pause: Millis,
    /// Digest of the version of the workflow that failed.
    document: Option<Arc<str>>,
}

fn document(entry: &CatalogEntry) -> Option<Arc<str>> {
    CatalogItem::<ScheduleState>::read(entry).ok().map(|saved| saved.what.document.digest)
}

impl ScheduleBackoff {
    fn waits(&self, entry: &CatalogEntry, elapsed: Millis) -> bool {
        let known = self.0.get(&entry.name);
        known.is_some_and(|known| known.until > elapsed && known.document == document(entry))
    }

    fn add(&mut self, entry: &CatalogEntry, elapsed: Millis) {
        let known = self.0.get(&entry.name);
        let pause = known.map_or(TRIES_AGAIN.0, |known| (known.pause * 2).min(TRIES_AGAIN.1));
        let (until, document) = (elapsed.saturating_add(pause), document(entry));
        self.0.insert(entry.name.clone(), Backoff { until, pause, document });
    }

    /// When the first of them is tried again.
    fn next(&self) -> Option<Millis> {
        self.0.values().map(|known| known.until).min()
    }
}

/// The result of looking at a schedule.
enum CheckResult {
    Done,
    /// The schedule cannot fire; its row has the reason.
    InTrouble,
}

/// Fires the schedules that are due.
pub(super) struct ScheduleTrigger {
    backoff: ScheduleBackoff,
    plugins: PluginChanges,
}

impl ScheduleTrigger {
    pub(super) fn new(core: &HostCore) -> Self {
        Self { backoff: ScheduleBackoff::default(), plugins: PluginChanges::of(core) }
    }
}

impl BackgroundTask for ScheduleTrigger {
    const WORK: &'static str = "fire due schedules";

    fn wake(&self, core: &HostCore) -> Wake {
        let news = Arc::clone(&core.pending_schedules.news);
        let mut changed = core.store.entries_changed();
        let plugins = self.plugins.next();
        Box::pin(async move {
            tokio::select! {
                () = news.notified() => {}
                _ = changed.changed() => {}
                () = plugins => {}
            }
        })
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        if !core.knows_clock() {
            return Ok(None);
        }
        if self.plugins.take() {
            self.backoff = ScheduleBackoff::default();
        }
        round(core, &mut self.backoff).await
    }
}

/// Looks at all that is due, and at what has had a run end; what will have elapsed when the next one is due.
async fn round(shared: &Arc<HostCore>, backoff: &mut ScheduleBackoff) -> Result<Option<Millis>, StoreError> {
    for name in shared.pending_schedules.take() {
        if let Some(entry) = shared.store.entry(&name).await? {
            look(shared, &entry, backoff).await?;
        }
    }
    let mut after: Option<DuePlace> = None;
    loop {
        let page = shared.store.due_entries(after.clone(), PAGE).await?;
        if page.is_empty() {
            return Ok(backoff.next());
        }
        for entry in page {
            let Some(due) = entry.due else { continue };
            if !shared.begins() {
                return Ok(None);
            }
            let now = shared.clock.now();
            if due > now {
                let until = shared.clock.after(Duration::from_millis(due.since(now)));
                return Ok([Some(until), backoff.next()].into_iter().flatten().min());
            }
            after = Some((due, entry.name.clone()));
            if entry.name.shelf == CatalogKind::Schedules && !backoff.waits(&entry, shared.clock.elapsed()) {
                look(shared, &entry, backoff).await?;
                // The schedule may be due again, at once.
                after = None;
                break;
            }
        }
    }
}

/// Looks at a schedule, and does what is to be done.
async fn look(
    shared: &Arc<HostCore>,
    entry: &CatalogEntry,
    backoff: &mut ScheduleBackoff,
) -> Result<(), StoreError> {
    let name = entry.name.clone();
    match look_once(shared, entry).await {
        Ok(CheckResult::Done) => drop(backoff.0.remove(&name)),
        Ok(CheckResult::InTrouble) => backoff.add(entry, shared.clock.elapsed()),
        // Another host was faster; the schedule is read again.
        Err(StoreError::Moved { .. }) => {}
        Err(error) if error.is_passing() || matches!(error, StoreError::Stopped) => return Err(error),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "{name} cannot be looked at");
            backoff.add(entry, shared.clock.elapsed());
        }
    }
    Ok(())
}

async fn look_once(shared: &Arc<HostCore>, entry: &CatalogEntry) -> Result<CheckResult, StoreError> {
    let found: CatalogItem<ScheduleState> = CatalogItem::read(entry)?;
    let (draft, cron) = match catalog::read(&*shared.store, &entry.name, &found.what.document).await {
        Ok(read) => read,
        Err(SaveError::Store(error)) => return Err(error),
        Err(other) => return tell(shared, entry, &found.what, &other.to_string()).await,
    };
    let stands = stand(shared, &found.what).await?;
    let stands = |run_id: &str| stands.get(run_id).copied().unwrap_or(RunStands::Gone);
    let decided = decide(&found.what, &cron, shared.clock.now(), stands);
    for run_id in &decided.delete {
        match shared.store.delete(run_id).await {
            // A damaged run is named where runs are listed; the schedule goes on.
            Ok(_) => shared.planner.artifacts.forget(&entry.name.namespace, vec![Arc::clone(run_id)]).await,
            Err(StoreError::StillOpen { .. } | StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for run_id in &decided.cancel {
        cancel(shared, &entry.name, run_id).await?;
    }
    if let Some(at) = decided.fire {
        return match fire(shared, entry, &cron, draft, &decided, at).await {
            Ok(()) => Ok(CheckResult::Done),
            Err(SubmitError::Store(error)) => Err(error),
            Err(other) => tell(shared, entry, &found.what, &other.to_string()).await,
        };
    }
    let state = ScheduleState { trouble: None, ..decided.state };
    if (&state, decided.due) != (&found.what, found.next) {
        let skipped = skipped(&state, &found.what);
        shared.store.change(change(entry.name.clone(), entry.revision, decided.due, &state, None)).await?;
        shared.gauges.not_fired.add(skipped);
    }
    Ok(CheckResult::Done)
}

/// How many instants of a schedule have started no run since it stood so.
fn skipped(state: &ScheduleState, before: &ScheduleState) -> u64 {
    let is_new = |at: Timestamp| before.firings.iter().all(|known| known.at != at);
    let is_none =
        |what| matches!(what, FiringResult::Forbidden | FiringResult::Crowded | FiringResult::Missed);
    state.firings.iter().filter(|firing| is_none(firing.what) && is_new(firing.at)).count() as u64
}

/// How the runs stand that are open as far as a schedule knows.
async fn stand(
    shared: &HostCore,
    state: &ScheduleState,
) -> Result<BTreeMap<Arc<str>, RunStands>, StoreError> {
    let mut stands = BTreeMap::new();
    for run_id in state.firings.iter().filter_map(catalog::FiringNote::open) {
        let stand = match shared.store.get(run_id).await? {
            None => RunStands::Gone,
            // Whether a run of which the state is damaged has ended is not known; no host executes it.
            Some(row) if row.damaged.is_some() && row.seq == 0 => RunStands::Gone,
            Some(row) if row.status.open => RunStands::Open,
            Some(row) => RunStands::Ended(row.status.phase),
        };
        stands.insert(Arc::clone(run_id), stand);
    }
    Ok(stands)
}

/// Posts the request of a schedule to cancel a run. A host that continues this one's work posts it again.
async fn cancel(shared: &Arc<HostCore>, schedule: &EntryName, run_id: &str) -> Result<(), StoreError> {
    let by = Some(Requester::schedule(&schedule.namespace, &schedule.name));
    let request = RequestEnvelope { request: RunRequest::Cancel, by };
    match shared.store.post(run_id, request.bytes()).await {
        Ok(_) => load::read_requests(shared, run_id).await,
        Err(StoreError::Closed { .. } | StoreError::NotFound { .. } | StoreError::MailboxFull { .. }) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Starts the run of an instant, with the schedule's next revision.
async fn fire(
    shared: &Arc<HostCore>,
    entry: &CatalogEntry,
    cron: &Cron,
    draft: Draft,
    decided: &Decision,
    at: Timestamp,
) -> Result<(), SubmitError> {
    let planner = &shared.planner;
    let plan = planner.plan_draft(draft).await?;
    let target = shared.admission_target();
    let _admission = planner.admit(&target, &plan.namespace).await?;
    let by = Requester::schedule(&entry.name.namespace, &entry.name.name);
    let options = SubmitOptions { by: Some(by), ..SubmitOptions::default() };
    let run = planner.scheduled_run(&plan, &entry.name, &Map::new(), &options, at).await?;
    let (state, due) = decided.started(cron, at, run.id());
    let change = change(entry.name.clone(), entry.revision, due, &state, None);
    planner.store_fired(&target, run, change).await?;
    shared.gauges.fired.one_more();
    shared.due.notify_one();
    Ok(())
}

/// Says in a schedule's row why it cannot fire.
async fn tell(
    shared: &HostCore,
    entry: &CatalogEntry,
    state: &ScheduleState,
    why: &str,
) -> Result<CheckResult, StoreError> {
    let why: Arc<str> = why.chars().take(MAX_MESSAGE_CHARS).collect::<String>().into();
    if state.trouble.as_ref().is_some_and(|known| known.why == why) {
        return Ok(CheckResult::InTrouble);
    }
    tracing::warn!("{} cannot fire; it is tried again: {why}", entry.name);
    let trouble = Some(ScheduleTrouble { why, since: shared.clock.now() });
    let state = ScheduleState { trouble, ..state.clone() };
    shared.gauges.in_trouble.one_more();
    match shared.store.change(change(entry.name.clone(), entry.revision, entry.due, &state, None)).await {
        Ok(_) | Err(StoreError::Moved { .. }) => Ok(CheckResult::InTrouble),
        Err(error) => Err(error),
    }
}
