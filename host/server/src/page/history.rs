//! A run as its journal tells it, with what only the journal knows.

use std::sync::Arc;

use phasm::{
    RecoverError,
    engine::{
        event::{Event, PolicyEvaluation, TaskId},
        plan::RuleMatch,
        run::Run,
    },
    fair_queue::Holder,
    journal::LargeValues,
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
    /// Values that the run lacks because of their size.
    pub(crate) large: LargeValues,
    pub(crate) suspensions: Suspensions,
    pub(crate) told: TaskHistory,
}

/// Reads a run without large values, and the history of one of its task runs with all of them.
pub(crate) async fn read(
    app: &AppState,
    run_id: &Arc<str>,
    task: Option<TaskId>,
    holder: &Holder,
) -> Result<RunHistory, RecoverError> {
    let (mut suspensions, mut told) = (Suspensions::default(), TaskHistory::default());
    let read = app.host.outline(run_id, task, holder, |time, events| {
        suspensions.note(time, events);
        events.iter().for_each(|event| note(&mut told, event, task));
    });
    let (run, large) = read.await?;
    Ok(RunHistory { run, large, suspensions, told })
}

fn note(told: &mut TaskHistory, event: &Event, wanted: Option<TaskId>) {
    if let Event::PolicyEvaluated(evaluated) = event
        && Some(evaluated.fence.task) == wanted
    {
        let PolicyEvaluation { rule, fence, .. } = evaluated.as_ref();
        told.rule = Some((*rule, fence.attempt));
    }
}
