//! A run as its journal tells it, with what only the journal knows.

use std::sync::Arc;

use phasm::{
    RecoverError,
    engine::{
        event::{Event, PolicyEvaluation, TaskId},
        plan::RuleMatch,
        run::Run,
    },
    journal,
};
use phasm_graph::Suspensions;

use crate::state::AppState;

/// History of one task run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskHistory {
    /// Which rule decided last, and in which attempt.
    pub(crate) rule: Option<(RuleMatch, u32)>,
}

/// A run, the times its tasks were suspended, and the history of one of its tasks.
pub(crate) struct RunHistory {
    pub(crate) run: Run,
    pub(crate) suspensions: Suspensions,
    pub(crate) told: TaskHistory,
}

/// Reads a run, and the history of one of its task runs.
pub(crate) async fn read(
    app: &AppState,
    run_id: &Arc<str>,
    task: Option<TaskId>,
) -> Result<RunHistory, RecoverError> {
    let records = app.host.store().load(run_id).await?;
    let (mut suspensions, mut told) = (Suspensions::default(), TaskHistory::default());
    let run = journal::replay(run_id, &records, |_, _, time, events| {
        suspensions.note(time, events);
        events.iter().for_each(|event| note(&mut told, event, task));
    })?;
    Ok(RunHistory { run, suspensions, told })
}

fn note(told: &mut TaskHistory, event: &Event, wanted: Option<TaskId>) {
    if let Event::PolicyEvaluated(evaluated) = event
        && Some(evaluated.fence.task) == wanted
    {
        let PolicyEvaluation { rule, fence, .. } = evaluated.as_ref();
        told.rule = Some((*rule, fence.attempt));
    }
}
