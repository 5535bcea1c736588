//! Requests to a server about schedules and saved workflows.

use phasm::{
    catalog::{self, CatalogItem, SavedWorkflow, ScheduleState},
    engine::{
        plan::{Draft, Executors},
        time::Timestamp,
        value::Value,
    },
    store::CatalogKind,
};
use phasm_server::client::{DocumentText, RemoteError};

use super::{
    super::{SavedRun, ScheduleOutcome, SubmitOutcome, TriggerOutcome},
    RemoteBackend, id_of, problem_of,
};
use crate::{
    failure::Failure,
    input::{
        document::Text,
        names::{QualifiedName, no_schedule, no_workflow, not_found},
        parameters::ParameterArgument,
    },
    problems::{self, Source},
    submission::{self, DocumentArgument},
};

/// Adds a schedule, or replaces its document.
///
/// # Errors
/// When its document has problems, which have been shown, or is refused.
pub(super) async fn put_schedule(
    server: &RemoteBackend<'_>,
    document: &DocumentArgument,
) -> Result<ScheduleOutcome, Failure> {
    let (text, draft) = document.for_server(server.screen, server.json)?;
    let namespace = draft.namespace().unwrap_or_default();
    let cron = text.cron(draft, server.screen, server.json)?;
    let before = catalog::schedule(&server.remote, &namespace, &cron.name).await.map_err(Failure::host)?;
    let name = QualifiedName::new(&namespace, &cron.name);
    let kept = server.remote.put(CatalogKind::Schedules, name.pair(), document_text(&text)).await;
    let schedule = kept.map_err(|error| server.refused(&text, error))?;
    Ok(ScheduleOutcome { schedule, is_new: before.is_none(), hint: None })
}

/// Saves a workflow.
///
/// # Errors
/// Same as [`Self::put_schedule`].
pub(super) async fn save_workflow(
    server: &RemoteBackend<'_>,
    document: &DocumentArgument,
) -> Result<CatalogItem<SavedWorkflow>, Failure> {
    let (text, draft) = document.for_server(server.screen, server.json)?;
    if let Some(cron) = draft.cron() {
        return Err(submission::is_no_workflow(&cron.name, &text, &server.target()));
    }
    let namespace = draft.namespace().unwrap_or_default();
    let name = match draft.name() {
        Some(name) => QualifiedName::new(&namespace, &name),
        None => return Err(nameless(server, &text, draft)),
    };
    let kept = server.remote.put(CatalogKind::Workflows, name.pair(), document_text(&text)).await;
    kept.map_err(|error| server.refused(&text, error))
}

/// Returns a document as it is sent to a server.
fn document_text(text: &Text) -> DocumentText<'_> {
    DocumentText { file: &text.name, text: &text.text }
}

/// A document without a name has problems.
fn nameless(server: &RemoteBackend<'_>, text: &Text, draft: Draft) -> Failure {
    let found = draft.plan(&Executors::any(), &Value::Null).err().unwrap_or_default();
    problems::refuse(server.screen, text.source(), &found, server.json)
}

/// Suspends a schedule, or resumes it.
///
/// # Errors
/// When there is none, or it is refused.
pub(super) async fn set_suspended(
    server: &RemoteBackend<'_>,
    name: &QualifiedName,
    is_suspended: bool,
) -> Result<CatalogItem<ScheduleState>, Failure> {
    match server.remote.pause(name.pair(), is_suspended).await {
        Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &server.remote).await),
        paused => paused.map_err(Failure::server),
    }
}

/// Returns the next times of a schedule.
///
/// # Errors
/// When there is none, or it is refused.
pub(super) async fn next_times(
    server: &RemoteBackend<'_>,
    name: &QualifiedName,
    count: usize,
) -> Result<Vec<Timestamp>, Failure> {
    match server.remote.next_instants(name.pair(), count).await {
        Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &server.remote).await),
        instants => instants.map_err(Failure::server),
    }
}

/// Starts a run of a schedule. Returns its id.
///
/// # Errors
/// When there is none, or it is refused.
pub(super) async fn trigger(
    server: &RemoteBackend<'_>,
    name: &QualifiedName,
    given: &[ParameterArgument],
    allow_missing: bool,
) -> Result<TriggerOutcome, Failure> {
    submission::no_missing(allow_missing)?;
    match server.remote.trigger(name.pair(), &ParameterArgument::pairs(given)).await {
        Ok(said) => Ok(TriggerOutcome { run_id: id_of(&said), hint: None }),
        Err(RemoteError::Refused { status: 404, .. }) => Err(no_schedule(name, &server.remote).await),
        Err(error) => Err(refused_parameters(server, name, error)),
    }
}

/// Submits a saved workflow. Returns what was answered.
///
/// # Errors
/// When there is none, or it is refused.
pub(super) async fn submit_saved(
    server: &RemoteBackend<'_>,
    run: SavedRun<'_>,
) -> Result<SubmitOutcome, Failure> {
    let SavedRun { name, digest, parameters: given, key } = run;
    let saved = catalog::saved_workflow(&server.remote, &name.namespace, &name.name).await;
    let Some(saved) = saved.map_err(Failure::host)? else {
        return Err(no_workflow(name, &server.remote).await);
    };
    if saved.what.version(digest).is_none() {
        return Err(name.no_version());
    }
    let asked = server.remote.run(name.pair(), digest, &ParameterArgument::pairs(given), key).await;
    asked.map(|said| server.outcome(&said)).map_err(|error| refused_parameters(server, name, error))
}

/// Removes what is kept by a name.
///
/// # Errors
/// When there is none, or it is refused.
pub(super) async fn remove(
    server: &RemoteBackend<'_>,
    shelf: CatalogKind,
    name: &QualifiedName,
) -> Result<(), Failure> {
    match server.remote.remove(shelf, name.pair()).await.map_err(Failure::server)? {
        true => Ok(()),
        false => Err(not_found(shelf, name, &server.remote).await),
    }
}

/// Shows errors in parameters, which have no place in a document that is here.
fn refused_parameters(server: &RemoteBackend<'_>, name: &QualifiedName, error: RemoteError) -> Failure {
    match &error {
        RemoteError::Refused { problems, .. } if !problems.is_empty() => {
            let (name, found) = (name.word(), problems.iter().map(|told| problem_of("", told)));
            let source = Source { name: &name, text: "" };
            problems::refuse(server.screen, source, &found.collect::<Vec<_>>(), server.json)
        }
        RemoteError::Refused { .. } | RemoteError::Unreached { .. } => Failure::server(error),
    }
}
