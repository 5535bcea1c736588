//! Where a command's runs, schedules and saved workflows are: in a store that this process opens, or at a server.

#[cfg(unix)]
pub(super) mod live_request;
mod local;
mod remote;
mod request;
mod target;
mod verdict;

use std::{future::Future, sync::Arc};

use phasm::{
    catalog::{CatalogItem, SavedWorkflow, ScheduleState},
    engine::{time::Timestamp, value::Map},
    store::CatalogKind,
};

pub(super) use self::target::TargetArguments;
use self::{local::LocalBackend, remote::RemoteBackend};
use crate::{
    drive::{self, Answer, DriveArguments},
    exit::Exit,
    failure::Failure,
    input::{names::QualifiedName, parameters::ParameterArgument},
    store::question::ResponseCommand,
    submission::{DocumentArgument, Submission},
    trace::LogLevel,
};

/// A store or a server. Commands call it the same way.
pub(super) trait Backend: CatalogBackend {
    /// Submits a run.
    ///
    /// # Errors
    /// When the document or its parameters have problems, which have been shown, or when it is refused.
    fn submit(&self, submission: &Submission, key: Option<&str>) -> Result<SubmitOutcome, Failure>;

    /// Responds to a task that waits, and prints its question.
    ///
    /// # Errors
    /// When there is no such run or task, when several tasks wait and none is named, or when the response is refused.
    fn respond(&self, run: &str, response: &Response<'_>, then: LocalRun<'_>) -> Result<Exit, Failure>;

    /// Cancels a run, or one task of it.
    ///
    /// # Errors
    /// When there is no such run or task, or when it has ended.
    fn cancel(&self, run: &str, task: Option<&str>, then: LocalRun<'_>) -> Result<Exit, Failure>;

    /// Runs a run again.
    ///
    /// # Errors
    /// When there is no such run, when it has not ended, or when the new one is refused.
    fn rerun(&self, run: &str, rerun: RerunRequest<'_>, then: LocalRun<'_>) -> Result<Exit, Failure>;
}

/// The schedules and saved workflows of a store or a server.
pub(super) trait CatalogBackend {
    /// Adds a schedule, or replaces its document.
    ///
    /// # Errors
    /// When the document has problems, which have been shown, or when it is refused.
    fn put_schedule(&self, document: &DocumentArgument) -> Result<ScheduleOutcome, Failure>;

    /// Suspends a schedule, or resumes it.
    ///
    /// # Errors
    /// When there is no such schedule, or when it is refused.
    fn set_suspended(
        &self,
        name: &QualifiedName,
        is_suspended: bool,
    ) -> Result<CatalogItem<ScheduleState>, Failure>;

    /// Returns at most `count` times at which a schedule starts its next runs.
    ///
    /// # Errors
    /// When there is no such schedule, or when it is refused.
    fn next_times(&self, name: &QualifiedName, count: usize) -> Result<Vec<Timestamp>, Failure>;

    /// Starts a run of a schedule now.
    ///
    /// # Errors
    /// When there is no such schedule, or when the run is refused.
    fn trigger(
        &self,
        name: &QualifiedName,
        parameters: &[ParameterArgument],
        allow_missing: bool,
        key: Option<&str>,
    ) -> Result<TriggerOutcome, Failure>;

    /// Saves a workflow by its name.
    ///
    /// # Errors
    /// When the document has problems, which have been shown, or when it is refused.
    fn save_workflow(&self, document: &DocumentArgument) -> Result<CatalogItem<SavedWorkflow>, Failure>;

    /// Submits a run of a saved workflow.
    ///
    /// # Errors
    /// When there is no such workflow or version, or when the run is refused.
    fn submit_saved(&self, run: SavedRun<'_>) -> Result<SubmitOutcome, Failure>;

    /// Removes a schedule or a saved workflow.
    ///
    /// # Errors
    /// When there is none of that name, or when it is refused.
    fn remove(&self, shelf: CatalogKind, name: &QualifiedName) -> Result<(), Failure>;
}

/// Response to a task that waits.
pub(super) struct Response<'a> {
    /// The task; none for the only one that waits.
    pub(super) task: Option<&'a str>,
    pub(super) payload: Map,
    /// The command that the user typed.
    pub(super) command: ResponseCommand,
    /// Whether the values are compared with those that the task requires before anything is recorded. JSON that the user wrote is
    /// the executor's to judge.
    pub(super) is_checked: bool,
}

/// Result of submitting a run.
pub(super) struct SubmitOutcome {
    pub(super) run_id: Arc<str>,
    /// False if a run with the same key had been submitted before.
    pub(super) is_new: bool,
    /// JSON object to print with `--json`.
    pub(super) json: String,
    pub(super) hint: Option<ServeHint>,
}

/// Result of adding a schedule or replacing its document.
pub(super) struct ScheduleOutcome {
    pub(super) schedule: CatalogItem<ScheduleState>,
    /// False if the schedule was there before.
    pub(super) is_new: bool,
    pub(super) hint: Option<ServeHint>,
}

/// Result of starting a run of a schedule.
pub(super) struct TriggerOutcome {
    pub(super) run_id: Arc<str>,
    /// False for a run that the same trigger under the same key had started before.
    pub(super) is_new: bool,
    pub(super) hint: Option<ServeHint>,
}

/// A run to run again.
#[derive(Clone, Copy)]
pub(super) struct RerunRequest<'a> {
    pub(super) from_failed: bool,
    pub(super) parameters: &'a [ParameterArgument],
    pub(super) key: Option<&'a str>,
}

/// Line for stderr that says how to serve a store which no process serves now.
pub(super) type ServeHint = String;

/// A saved workflow to run.
#[derive(Clone, Copy)]
pub(super) struct SavedRun<'a> {
    pub(super) name: &'a QualifiedName,
    /// Prefix of the digest of a version; the last version if none is given.
    pub(super) digest: Option<&'a str>,
    pub(super) parameters: &'a [ParameterArgument],
    pub(super) key: Option<&'a str>,
}

/// How this process runs a run of a local store on, after it has changed it. A server does so by itself.
#[derive(Clone, Copy)]
pub(super) struct LocalRun<'a> {
    pub(super) arguments: &'a DriveArguments,
    pub(super) answers: &'a [Answer],
    pub(super) log_level: LogLevel,
}

/// Does asynchronous work in a runtime of its own.
fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    drive::runtime()?.block_on(work)
}
