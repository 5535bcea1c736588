//! A run as its journal tells it, with what only the journal knows.

use std::{collections::VecDeque, sync::Arc};

use phasm::{
    Map, RecoverError, Requester, Value,
    engine::{
        event::{Event, PhaseChange, PhaseData, PolicyEvaluation, Resumption, TaskId},
        plan::RuleMatch,
        run::Run,
        time::Timestamp,
    },
    fair_queue::Holder,
    journal::LargeValues,
};
use phasm_graph::Suspensions;

use crate::state::AppState;

/// Responses of a task that are kept for its page: the last.
const MAX_RESPONSES: usize = 50;

/// History of one task run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskHistory {
    /// Which rule decided last, and in which attempt.
    pub(crate) rule: Option<(RuleMatch, u32)>,
    /// The responses that it was given, in their order.
    pub(crate) responses: VecDeque<GivenResponse>,
}

/// One response to a suspended task.
#[derive(Clone, Debug)]
pub(crate) struct GivenResponse {
    pub(crate) by: Option<Requester>,
    pub(crate) at: Timestamp,
    payload: Arc<Map>,
    /// Why the executor refused it, if it did.
    pub(crate) refused: Option<Arc<str>>,
}

impl GivenResponse {
    /// Returns what the response says, in a word.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.payload.get("approved") {
            Some(Value::Bool(true)) => "Approved",
            Some(Value::Bool(false)) => "Rejected",
            Some(_) | None => "Responded",
        }
    }

    /// Returns the name that the response has, which nothing checks.
    pub(crate) fn name(&self) -> Option<&str> {
        self.payload.get("by").and_then(Value::as_str)
    }

    pub(crate) fn comment(&self) -> Option<&str> {
        self.payload.get("comment").and_then(Value::as_str).filter(|comment| !comment.is_empty())
    }
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
        events.iter().for_each(|event| note(&mut told, time, event, task));
    });
    let (run, large) = read.await?;
    Ok(RunHistory { run, large, suspensions, told })
}

fn note(told: &mut TaskHistory, at: Timestamp, event: &Event, wanted: Option<TaskId>) {
    if let Event::PolicyEvaluated(evaluated) = event
        && Some(evaluated.fence.task) == wanted
    {
        let PolicyEvaluation { rule, fence, .. } = evaluated.as_ref();
        told.rule = Some((*rule, fence.attempt));
    } else if let Event::Resumed(Resumption { task, payload, by }) = event
        && Some(*task) == wanted
    {
        if told.responses.len() == MAX_RESPONSES {
            told.responses.pop_front();
        }
        let (payload, by) = (Arc::clone(payload), by.clone());
        told.responses.push_back(GivenResponse { by, at, payload, refused: None });
    } else if let Event::Phase(PhaseChange { task, with: Some(with), .. }) = event
        && Some(*task) == wanted
        && let PhaseData::Refused { reason, .. } = with.as_ref()
        && let Some(last) = told.responses.back_mut()
    {
        last.refused = Some(Arc::clone(reason));
    }
}
