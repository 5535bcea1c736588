//! Lines about the callers that asked something of a run.

use phasm::engine::run::{Run, TaskRun};

use crate::terminal::text;

/// Responses that are listed.
const MAX_RESPONSES: usize = 20;
/// Characters of a refusal or a comment.
const MAX_REASON_CHARS: usize = 200;

/// Returns a line for each caller that is known: of the submission, of responses and of cancellations.
pub(super) fn lines(run: &Run) -> String {
    let submitted = run.submitted_by().map(|by| format!("submitted by {by}"));
    let cancelled = run.cancelled_by().map(|by| format!("cancelled by {by}"));
    let all: Vec<String> = run.tasks().iter().flat_map(|task| of_task(run, task)).collect();
    let more = all.len().saturating_sub(MAX_RESPONSES);
    let more = (more > 0).then(|| format!("{} before these", text::count(more, "response")));
    let last = all.into_iter().rev().take(MAX_RESPONSES).collect::<Vec<_>>().into_iter().rev();
    let lines = submitted.into_iter().chain(more).chain(last).chain(cancelled);
    lines.map(|line| format!("{}\n", text::clean(&line))).collect()
}

fn of_task(run: &Run, task: &TaskRun) -> Vec<String> {
    let path = run.path(task);
    let at = task.resumed_at().map(|at| format!(" at {}", at.to_rfc3339())).unwrap_or_default();
    let comment = run.comment(task).map(|comment| format!(": {}", text::short(comment, MAX_REASON_CHARS)));
    let comment = comment.unwrap_or_default();
    let response = run.response(task).map(|response| format!("{path} {response}{at}{comment}"));
    let refused = task.refused_by().zip(task.refusal());
    let refused = refused.map(|(by, why)| {
        format!("{path} refused a response by {by}: {}", text::short(why, MAX_REASON_CHARS))
    });
    let cancelled = task.cancelled_by().map(|by| format!("{path} cancelled by {by}"));
    [response, refused, cancelled].into_iter().flatten().collect()
}
