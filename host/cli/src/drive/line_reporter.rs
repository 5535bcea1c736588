//! Reports events line by line, where a live view cannot be drawn.

use std::{cmp::Ordering, collections::BTreeMap};

use phasm::engine::{
    event::{Event, PhaseChange, Reason, TaskId},
    phase::Phase,
    run::{EventView, Run},
};
use serde_json::Value;

use super::notices;
use crate::terminal::{text, waiting};

/// Task runs above which good ends are counted instead of told, and lines such a run has at most for the others.
const MAX_REPORTED_TASKS: u64 = 100;
/// Attempts that are executed again and have a line each; further ones are counted.
const MAX_REPEATED: usize = 20;

/// Makes lines of a run's journal: one for each change worth telling.
#[derive(Debug, Default)]
pub(crate) struct LineReporter {
    tasks: u64,
    ended: u64,
    /// The tenths of a large run that were told.
    tenths: u64,
    /// Lines about single task runs.
    told: u64,
    last: Option<Attempt>,
    /// Whether the next refusal of a response has been told.
    refusal_is_told: bool,
    /// Responses whose tasks have not yet taken or refused them: the line by the task's path.
    responses: BTreeMap<String, String>,
    /// Whether what is refused has a line of its own.
    refusals_are_told: bool,
    /// Cancelled tasks since the last line.
    swept: Vec<CancelledTasks>,
}

/// Task runs that were cancelled before they were tried, for one reason.
#[derive(Debug)]
struct CancelledTasks {
    count: u64,
    /// The line of the first of them.
    line: String,
    /// Why it was, in parentheses.
    reason: String,
}

impl CancelledTasks {
    fn line(self) -> String {
        let Self { count, line, reason } = self;
        match count {
            1 => line,
            _ => format!("{count} task runs {}{reason} before they began\n", text::phase(Phase::Cancelled)),
        }
    }
}

/// How the last attempt ended, and whose it was: its task's phase follows.
#[derive(Debug)]
struct Attempt {
    path: String,
    phase: String,
    message: String,
    /// Nothing, if the executor never started.
    millis: Option<u64>,
}

impl LineReporter {
    /// Starts after the events that a run already has.
    pub(crate) fn after(run: &Run) -> Self {
        let below = run.tasks().iter().filter(|task| task.depth > 0);
        let ended = below.clone().filter(|task| task.phase.is_terminal()).count();
        Self::counting(below.count() as u64, ended as u64)
    }

    /// Lines about attempts that ran when the process before ended: they are executed again, which the journal need not say.
    pub(crate) fn repeated(run: &Run) -> Vec<String> {
        let mut lines: Vec<String> = run
            .tasks()
            .iter()
            .filter(|task| task.in_flight() && task.phase == Phase::Running)
            .map(|task| {
                told(
                    &run.path(task),
                    task.attempt.into(),
                    "was running",
                    " when its process ended; it is executed again",
                )
            })
            .collect();
        let more = lines.len().saturating_sub(MAX_REPEATED);
        if more > 0 {
            lines.truncate(MAX_REPEATED);
            lines.push(format!("{more} more were running, and are executed again\n"));
        }
        lines
    }

    /// The same, where the command has told that its response was refused.
    pub(crate) fn after_refusal(self) -> Self {
        Self { refusal_is_told: true, ..self }
    }

    /// The same, where the log says what is refused.
    pub(super) fn beside_log(self, refusals_are_told: bool) -> Self {
        Self { refusals_are_told, ..self }
    }

    fn counting(tasks: u64, ended: u64) -> Self {
        Self { tasks, ended, tenths: tenths(ended, tasks), ..Self::default() }
    }

    /// The line of one event, if it is worth one.
    pub(super) fn line(&mut self, view: &EventView<'_>) -> Option<String> {
        if self.tells(view.event()) {
            return self.telling(&view.json());
        }
        if let Some(line) = waiting::changed(view.event()) {
            return joined(self.swept(), Some(line));
        }
        self.ended += u64::from(is_end(view.event()));
        let swept = if matches!(view.event(), Event::RunPhase(_)) { self.swept() } else { None };
        joined(swept, self.tenth())
    }

    /// Whether there may be more to say of an event than that a task run has ended.
    fn tells(&self, event: &Event) -> bool {
        match event {
            Event::ScopeOpened(_) => true,
            Event::Phase(PhaseChange { to: Phase::Succeeded | Phase::Skipped, .. }) => {
                self.tasks <= MAX_REPORTED_TASKS
            }
            Event::Phase(PhaseChange { to, .. }) => to.is_terminal() || *to == Phase::Suspended,
            Event::AttemptStarted(_) => self.tasks <= MAX_REPORTED_TASKS,
            Event::AttemptEnded(ended) => self.tasks <= MAX_REPORTED_TASKS || ended.phase != Phase::Succeeded,
            Event::RetryScheduled(_) | Event::TimedOut(..) | Event::Resumed(..) => true,
            Event::Submitted(_)
            | Event::RunPhase(_)
            | Event::CancelRequested
            | Event::CancelRequestedBy(_)
            | Event::TaskCancelRequested(..)
            | Event::Held(_)
            | Event::Repeated(_)
            | Event::Reused(_)
            | Event::PolicyEvaluated(_)
            | Event::TaskEnded(..)
            | Event::Metered(..)
            | Event::HookFired(_)
            | Event::HookFailed(_)
            | Event::Warning(_)
            | Event::Broken(_) => false,
        }
    }

    fn telling(&mut self, event: &Value) -> Option<String> {
        let refused = event.pointer("/data/refused").is_some_and(Value::is_string);
        let resumed =
            notices::path(event).filter(|_| event["type"] != "task.resumed" && !is_redispatch(event));
        let resumed = resumed.and_then(|path| self.responses.remove(&path)).filter(|_| !refused);
        let line = joined(resumed, self.change(event));
        let swept = if line.is_some() { self.swept() } else { None };
        let line = joined(swept, line).and_then(|line| self.ration(line));
        joined(line, self.tenth())
    }

    fn change(&mut self, event: &Value) -> Option<String> {
        let data = &event["data"];
        let attempt = event["attempt"].as_u64().unwrap_or(0);
        let path = notices::path(event);
        match event["type"].as_str()? {
            "scope.opened" => {
                self.tasks += data["tasks"].as_u64().unwrap_or(0);
                None
            }
            "task.attempt.started" if self.tasks <= MAX_REPORTED_TASKS => {
                Some(told(&path?, attempt, "Running", ""))
            }
            "task.attempt.done" | "task.attempt.failed" => {
                self.last = Some(Attempt {
                    path: path?,
                    phase: data["phase"].as_str().unwrap_or_default().to_owned(),
                    message: self.brief(data["message"].as_str().unwrap_or_default()).to_owned(),
                    millis: data["durationMs"].as_u64(),
                });
                None
            }
            "task.retry.scheduled" => {
                let next = data["attempt"].as_u64().unwrap_or(0);
                let delay = text::elapsed(data["delayMs"].as_u64().unwrap_or(0));
                let path = path?;
                let ended = self.last.take().filter(|last| last.path == path)?;
                let message = text::after(": ", &ended.message);
                let rest = format!("{message}; attempt {next} in {delay}");
                Some(told(&path, attempt, &styled(&ended.phase), &rest))
            }
            // The phase says that an attempt timed out.
            "task.timeout" => {
                let which = data["which"].as_str().filter(|which| *which != "timeout")?;
                Some(told(&path?, attempt, which, " has passed"))
            }
            // A response that is refused resumes nothing, so the line waits for what follows.
            "task.resumed" => {
                let path = path?;
                let line = told(&path, attempt, "resumed", &by(data));
                self.responses.insert(path, line);
                None
            }
            "task.phase" => self.phase(&path?, event),
            _ => None,
        }
    }

    fn brief<'m>(&self, message: &'m str) -> &'m str {
        if self.refusals_are_told { text::without_refusals(message) } else { message }
    }

    fn phase(&mut self, path: &str, event: &Value) -> Option<String> {
        let (data, attempt) = (&event["data"], event["attempt"].as_u64().unwrap_or(0));
        let phase = phase_of(data["to"].as_str()?)?;
        let message = self.brief(data["message"].as_str().unwrap_or_default());
        if let Some(why) = data["refused"].as_str() {
            if std::mem::take(&mut self.refusal_is_told) {
                return None;
            }
            let why = format!(": the response{} was refused: {why}", by(data));
            return Some(told(path, attempt, &text::phase(phase), &why));
        }
        if phase == Phase::Suspended {
            return Some(told(path, attempt, &text::phase(phase), &text::after(": ", message)));
        }
        if !phase.is_terminal() || (attempt == 0 && event["scope"] == "") {
            return None;
        }
        self.ended += 1;
        let last = self.last.take().filter(|last| last.path == path);
        if self.tasks > MAX_REPORTED_TASKS && matches!(phase, Phase::Succeeded | Phase::Skipped) {
            return None;
        }
        let reason: Option<Reason> = serde_json::from_value(data["reason"].clone()).unwrap_or_default();
        let words = reason.map(|reason| format!(" ({})", reason.for_people())).unwrap_or_default();
        if phase == Phase::Cancelled && attempt == 0 && last.is_none() {
            self.sweep(path, words);
            return None;
        }
        let took = last.as_ref().and_then(|last| last.millis);
        let took = took.map(|millis| format!(" in {}", text::elapsed(millis))).unwrap_or_default();
        let why = last.as_ref().map_or(message, |last| &last.message);
        let why = if phase == Phase::Succeeded { String::new() } else { text::after(": ", why) };
        let ended = text::ended(phase, reason);
        Some(told(path, attempt, &ended, &format!("{took}{why}")))
    }

    /// Counts a task run that was cancelled before it was tried.
    fn sweep(&mut self, path: &str, reason: String) {
        match self.swept.last_mut().filter(|swept| swept.reason == reason) {
            Some(swept) => swept.count += 1,
            None => {
                let line = told(path, 0, &text::phase(Phase::Cancelled), &reason);
                self.swept.push(CancelledTasks { count: 1, line, reason });
            }
        }
    }

    fn swept(&mut self) -> Option<String> {
        let lines: String = self.swept.drain(..).map(CancelledTasks::line).collect();
        Some(lines).filter(|lines| !lines.is_empty())
    }

    /// Lets the first lines of a large run pass.
    fn ration(&mut self, line: String) -> Option<String> {
        if self.tasks <= MAX_REPORTED_TASKS {
            return Some(line);
        }
        self.told += 1;
        match self.told.cmp(&MAX_REPORTED_TASKS) {
            Ordering::Less => Some(line),
            Ordering::Equal => Some(line + "from here on task runs are only counted\n"),
            Ordering::Greater => None,
        }
    }

    /// A line for every tenth of a large run.
    fn tenth(&mut self) -> Option<String> {
        let tenths = tenths(self.ended, self.tasks);
        if self.tasks <= MAX_REPORTED_TASKS || tenths <= self.tenths {
            return None;
        }
        self.tenths = tenths;
        Some(format!("{} of {} task runs have ended\n", self.ended, self.tasks))
    }
}

/// Whether an event hands an attempt to its executor again, after a response: nothing has come of it yet.
fn is_redispatch(event: &Value) -> bool {
    event["type"] == "task.phase"
        && matches!(event.pointer("/data/to").and_then(Value::as_str), Some("Ready" | "Running"))
        || event["type"] == "task.attempt.started"
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some([one, other].concat()),
        (one, other) => one.or(other),
    }
}

/// Whether a task run has ended; the root is none.
fn is_end(event: &Event) -> bool {
    matches!(event, Event::Phase(PhaseChange { task, to, .. }) if to.is_terminal() && *task != TaskId::ROOT)
}

fn tenths(ended: u64, tasks: u64) -> u64 {
    ended * 10 / tasks.max(1)
}

fn phase_of(name: &str) -> Option<Phase> {
    Phase::ALL.into_iter().find(|phase| phase.as_str() == name)
}

fn styled(name: &str) -> String {
    phase_of(name).map_or_else(|| name.to_owned(), text::phase)
}

/// The caller of an event, if it is known.
fn by(data: &Value) -> String {
    data["by"].as_str().map(|by| format!(" by {by}")).unwrap_or_default()
}

fn told(path: &str, attempt: u64, what: &str, rest: &str) -> String {
    let attempt = if attempt > 0 { format!("#{attempt}") } else { String::new() };
    format!("{path}{attempt} {what}{rest}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &str, path: &str, attempt: u64, data: &Value) -> Value {
        let (scope, name) = path.rsplit_once('/').unwrap_or(("", path));
        json!({ "type": kind, "scope": scope, "taskName": name, "attempt": attempt, "data": data })
    }

    fn lines(events: &[Value]) -> Vec<String> {
        let mut plain = LineReporter::default();
        let lines = events.iter().filter_map(|event| plain.telling(event));
        lines.map(|line| anstream::adapter::strip_str(&line).to_string()).collect()
    }

    #[test]
    fn a_task_is_told_from_start_to_end() {
        let to = |to: &str| json!({ "to": to, "reason": null });
        let ended =
            |phase: &str, message: &str| json!({ "phase": phase, "message": message, "durationMs": 1500 });
        let told = lines(&[
            event("task.phase", "main/a", 1, &to("Ready")),
            event("task.attempt.started", "main/a", 1, &json!({})),
            event("task.phase", "main/a", 1, &to("Running")),
            event("task.attempt.failed", "main/a", 1, &ended("Failed", "no\nluck")),
            event("task.retry.scheduled", "main/a", 1, &json!({ "attempt": 2, "delayMs": 2000 })),
            event("task.attempt.started", "main/a", 2, &json!({})),
            event("task.phase", "main/a", 2, &json!({ "to": "Suspended", "message": "ask" })),
            event("task.resumed", "main/a", 2, &json!({})),
            event(
                "task.phase",
                "main/a",
                2,
                &json!({ "to": "Suspended", "refused": "not you", "by": "ada" }),
            ),
            event("task.resumed", "main/a", 2, &json!({ "by": "bob" })),
            event("task.timeout", "main/a", 2, &json!({ "which": "maxRuntime" })),
            event("task.attempt.failed", "main/a", 2, &ended("Timeout", "late")),
            event("task.phase", "main/a", 2, &json!({ "to": "Error", "reason": "retry-exhausted" })),
        ]);
        let expected = [
            "main/a#1 Running\n",
            "main/a#1 Failed: no\\nluck; attempt 2 in 2.0 s\n",
            "main/a#2 Running\n",
            "main/a#2 Waiting: ask\n",
            "main/a#2 Waiting: the response by ada was refused: not you\n",
            "main/a#2 resumed by bob\nmain/a#2 maxRuntime has passed\n",
            "main/a#2 Error (retry-exhausted) in 1.5 s: late\n",
        ];
        assert_eq!(told, expected);
    }

    /// R-L2: what was refused is told where it happens, and at the end of the run.
    #[test]
    fn a_refusal_is_told_once_where_the_log_tells_it() {
        let message = "GET http://a.example: not sent; refused: not granted; `http = [\"GET http://a.example\"]` grants it";
        let ended = |message| json!({ "phase": "Error", "message": message, "durationMs": 5 });
        let events = |message| {
            [
                event("task.attempt.failed", "main/a", 1, &ended(message)),
                event("task.phase", "main/a", 1, &json!({ "to": "Error", "reason": null })),
            ]
        };
        let told = |plain: LineReporter, message| {
            let mut plain = plain;
            let lines = events(message).iter().filter_map(|event| plain.telling(event)).collect::<String>();
            anstream::adapter::strip_str(&lines).to_string()
        };
        let beside = |message| told(LineReporter::default().beside_log(true), message);
        assert_eq!(beside(message), "main/a#1 Error in 5 ms: GET http://a.example: not sent\n");
        assert_eq!(beside("refused: a FIFO"), "main/a#1 Error in 5 ms: refused\n");
        assert!(told(LineReporter::default(), message).ends_with("` grants it\n"));
    }

    #[test]
    fn what_was_never_tried_is_told_too_but_the_root_is_not() {
        let told = lines(&[
            event("task.phase", "main/b", 0, &json!({ "to": "Skipped", "reason": "when" })),
            event("task.phase", "main/c", 0, &json!({ "to": "Error", "message": "no value" })),
            event("task.phase", "main", 0, &json!({ "to": "Error" })),
        ]);
        assert_eq!(told, ["main/b Skipped (`when` is false)\n", "main/c Error: no value\n"]);
    }

    /// A loop that fails has as many iterations that were never tried as it had left.
    #[test]
    fn what_is_swept_away_is_told_in_a_line() {
        let cancelled = |path: &str, why: &str| {
            event("task.phase", path, 0, &json!({ "to": "Cancelled", "reason": why }))
        };
        let mut events = vec![event("task.phase", "main/l[0]", 1, &json!({ "to": "Failed" }))];
        events.extend((1..9).map(|at| cancelled(&format!("main/l[{at}]"), "scope-failed")));
        events.push(cancelled("main/other", "user"));
        events.push(event("task.phase", "main/l", 1, &json!({ "to": "Failed" })));
        let expected = [
            "main/l[0]#1 Failed\n",
            "8 task runs Cancelled (not run, as another task failed) before they began\nmain/other Cancelled (user)\nmain/l#1 Failed\n",
        ];
        assert_eq!(lines(&events), expected);
    }

    /// A run of 1000 tasks; `every` n-th fails.
    fn large(every: usize) -> Vec<String> {
        let mut events = vec![event("scope.opened", "main", 0, &json!({ "tasks": 1000 }))];
        for at in 0..1000 {
            let path = format!("main/t{at}");
            events.push(event("task.attempt.started", &path, 1, &json!({})));
            let to = if at % every == every - 1 { "Failed" } else { "Succeeded" };
            events.push(event("task.phase", &path, 1, &json!({ "to": to })));
        }
        lines(&events)
    }

    #[test]
    fn a_large_run_is_told_in_tenths_and_failures() {
        let told = large(501);
        assert_eq!(told.len(), 11, "{told:?}");
        assert!(told.contains(&"main/t500#1 Failed\n".to_owned()), "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("1000 of 1000 task runs have ended\n"));
    }

    /// A run that was taken up has opened its scopes before anybody listened.
    #[test]
    fn a_large_run_that_was_taken_up_is_told_in_tenths_too() {
        let mut plain = LineReporter::counting(1000, 600);
        let ends = (600..1000)
            .map(|at| event("task.phase", &format!("main/t{at}"), 1, &json!({ "to": "Succeeded" })));
        let told: Vec<_> = ends.filter_map(|event| plain.telling(&event)).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        assert_eq!(told.first().map(String::as_str), Some("700 of 1000 task runs have ended\n"));
    }

    #[test]
    fn a_large_run_that_fails_does_not_flood() {
        let told = large(1).concat();
        assert_eq!(told.lines().count(), 111, "{told}");
        assert!(told.contains("main/t99#1 Failed\nfrom here on task runs are only counted\n"), "{told}");
    }
}
