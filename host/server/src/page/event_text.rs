//! Events of a run in words.

use phasm::{
    Phase,
    engine::{
        event::{
            AttemptEnd, Event, Outputs, PhaseChange, PhaseData, Requester, RetrySchedule, RunningQuota,
            SubmissionRecord,
        },
        run::EventView,
        text,
    },
};
use serde_json::Value;

/// Longest response in a sentence, in bytes.
const MAX_RESPONSE_BYTES: usize = 200;
/// Outputs or parameters that a sentence names.
const MAX_NAMES: usize = 8;

/// Types of events, as readers of the journal see them, each with its words.
pub(super) const TYPES: [(&str, &str); 22] = [
    ("run.submitted", "Run submitted"),
    ("run.phase", "Run: new phase"),
    ("run.cancel.requested", "Cancellation of the run"),
    ("run.waiting", "Waiting for a slot"),
    ("scope.opened", "Tasks created"),
    ("task.phase", "Task: new phase"),
    ("task.attempt.started", "Attempt started"),
    ("task.attempt.done", "Attempt succeeded"),
    ("task.attempt.failed", "Attempt failed"),
    ("task.attempt.metered", "Resources used"),
    ("task.retry.scheduled", "Retry scheduled"),
    ("task.timeout", "Time limit exceeded"),
    ("task.resumed", "Response"),
    ("task.cancel.requested", "Cancellation of a task"),
    ("task.reused", "Result reused"),
    ("task.done", "Task done"),
    ("task.failed", "Task failed"),
    ("policy.task.evaluated", "Policy evaluated"),
    ("hook.fired", "Hook started"),
    ("hook.failed", "Hook failed"),
    ("engine.warning", "Warning"),
    ("engine.broken", "Internal error"),
];

/// Returns the words for a type of events.
pub(super) fn words(name: &'static str) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words)
}

/// Returns the data of an event as a sentence; empty if its type says everything.
pub(super) fn sentence(view: &EventView<'_>, json: &Value) -> String {
    let data = |name: &str| json.pointer(&format!("/data/{name}"));
    let said = |name: &str| data(name).map(plain).unwrap_or_default();
    match view.event() {
        Event::Submitted(submitted) => submission(submitted),
        Event::RunPhase(phase) => phase.to_string(),
        Event::CancelRequested => String::new(),
        Event::CancelRequestedBy(by) => by_whom(Some(by)),
        Event::TaskCancelRequested(_, by) => by_whom(by.as_ref()),
        Event::Held(Some(RunningQuota { tenant, running })) => {
            format!("The tenant {tenant} has {running} attempts running, which is its quota.")
        }
        Event::Held(None) => "No slot is free.".to_owned(),
        Event::ScopeOpened(_) => match data("tasks").and_then(Value::as_u64) {
            Some(1) => "1 task".to_owned(),
            Some(count) => format!("{count} tasks"),
            None => String::new(),
        },
        Event::Repeated(_) => "The loop has another iteration.".to_owned(),
        Event::Reused(_) => format!("The result is the one in run {}.", said("of")),
        Event::Phase(change) => phase_change(change),
        Event::AttemptStarted(fence) => format!("Attempt {} was dispatched to its executor.", fence.attempt),
        Event::AttemptEnded(ended) => attempt_end(ended),
        Event::Metered(fence, _) => format!("Attempt {}", fence.attempt),
        Event::TimedOut(_, limit) => format!("{} is exceeded.", limit.as_str()),
        Event::Resumed(resumed) => {
            let payload = data("payload").map(Value::to_string).unwrap_or_default();
            let by = resumed.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!("Response{by}: {}", text::cut(&payload, MAX_RESPONSE_BYTES))
        }
        Event::PolicyEvaluated(_) => format!("Rule {}: {}", said("rule"), said("do")),
        Event::RetryScheduled(RetrySchedule { attempt, delay_ms, .. }) => {
            format!("Attempt {attempt} starts in {}.", text::length(*delay_ms))
        }
        Event::TaskEnded(..) => said("phase"),
        Event::HookFired(_) => format!("{} of {}", said("hookType"), said("hookOf")),
        Event::HookFailed(failed) => failed.message.to_string(),
        Event::Warning(warning) => warning.message.to_string(),
        Event::Broken(message) => message.to_string(),
    }
}

/// A value in a sentence: text without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn by_whom(by: Option<&Requester>) -> String {
    by.map(|by| format!("by {by}")).unwrap_or_default()
}

fn submission(submitted: &SubmissionRecord) -> String {
    let by = submitted.by.as_ref().map(|by| format!("by {by}"));
    let rerun = submitted.rerun.as_ref().map(|rerun| format!("rerun of {}", rerun.run_id));
    let parameters = names("parameters", submitted.parameters.keys().map(|name| &**name));
    [by, rerun, parameters].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn phase_change(change: &PhaseChange) -> String {
    let PhaseChange { from, to, reason, with, .. } = change;
    let (message, outputs) = match with.as_deref() {
        Some(PhaseData::Refused { reason, by }) => {
            let by = by.as_ref().map(|by| format!(" of {by}")).unwrap_or_default();
            return format!("The response{by} was refused: {reason}");
        }
        Some(PhaseData::Partial { message, outputs } | PhaseData::Result { message, outputs }) => {
            (&**message, names_of(outputs))
        }
        Some(PhaseData::Bound { .. }) | None => ("", None),
    };
    let reason = reason.map(|reason| format!(" ({})", reason.for_people())).unwrap_or_default();
    with_details(format!("{from} → {to}{reason}"), message, outputs)
}

fn attempt_end(ended: &AttemptEnd) -> String {
    let AttemptEnd { fence, phase, code, message, outputs, duration_ms, .. } = ended;
    let after = duration_ms.map(|length| format!(" after {}", text::elapsed(length))).unwrap_or_default();
    let end = match phase {
        Phase::Succeeded => format!("Attempt {} succeeded{after}", fence.attempt),
        Phase::Suspended => format!("Attempt {} suspended its task{after}", fence.attempt),
        Phase::Failed => format!("Attempt {} failed with code {code}{after}", fence.attempt),
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Error
        | Phase::Timeout
        | Phase::Skipped
        | Phase::Cancelled => format!("Attempt {} ended as {phase} with code {code}{after}", fence.attempt),
    };
    with_details(end, message, names_of(outputs))
}

/// `begin: message; outputs: a, b`.
fn with_details(begin: String, message: &str, outputs: Option<String>) -> String {
    let message = if message.is_empty() { begin } else { format!("{begin}: {message}") };
    [Some(message), outputs].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn names_of(outputs: &Outputs) -> Option<String> {
    names("outputs", outputs.iter().map(|output| &*output.name))
}

/// `kind: a, b`, of as many as a sentence has; `None` without any.
fn names<'n>(kind: &str, mut all: impl Iterator<Item = &'n str>) -> Option<String> {
    let named: Vec<&str> = all.by_ref().take(MAX_NAMES).collect();
    let more = all.count();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{kind}: {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use phasm::engine::event::{Fence, TaskId};

    use super::*;

    #[test]
    fn ends_of_attempts_are_sentences() {
        let fence = Fence { task: TaskId(1), attempt: 2, dispatch: 1 };
        let ended = |phase, code, message: &str| AttemptEnd {
            fence,
            phase,
            code,
            message: message.into(),
            outputs: Outputs::default(),
            duration_ms: Some(1300),
            condition: None,
            metered: phasm::engine::usage::ResourceUsage::default(),
        };
        assert_eq!(attempt_end(&ended(Phase::Succeeded, 0, "")), "Attempt 2 succeeded after 1.3 s");
        assert_eq!(
            attempt_end(&ended(Phase::Failed, 2, "no disk")),
            "Attempt 2 failed with code 2 after 1.3 s: no disk"
        );
        assert_eq!(
            attempt_end(&ended(Phase::Error, 1, "no route")),
            "Attempt 2 ended as Error with code 1 after 1.3 s: no route"
        );
    }

    #[test]
    fn changes_of_phase_are_sentences() {
        let change = |with| PhaseChange {
            task: TaskId(1),
            from: Phase::Running,
            to: Phase::Suspended,
            reason: None,
            with: Some(Box::new(with)),
        };
        let outputs = Outputs::default();
        let partial = PhaseData::Partial { message: "Release it?".into(), outputs };
        assert_eq!(phase_change(&change(partial)), "Running → Suspended: Release it?");
        let refused = PhaseData::Refused { reason: "not by ada".into(), by: Some(Requester::key("ada")) };
        assert_eq!(phase_change(&change(refused)), "The response of ada was refused: not by ada");
    }

    #[test]
    fn a_sentence_names_some_of_many() {
        let all = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        assert_eq!(
            names("outputs", all.into_iter()).as_deref(),
            Some("outputs: a, b, c, d, e, f, g, h and 2 more")
        );
        assert_eq!(names("outputs", [].into_iter()), None);
    }
}
