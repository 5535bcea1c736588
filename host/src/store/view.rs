//! Runs as programs are shown them, the same on the command line and over HTTP: rows of a store and what they wait for, logs,
//! problems. A run in full is a [`RunView`](phasm_engine::run::RunView), an event an [`EventView`](crate::journal::EventView).

use std::collections::BTreeSet;

use phasm_engine::{
    event::TaskId,
    path::Path,
    phase::Phase,
    plan::{ParameterType, Plan},
    problem::{Problem, codes::source::NUMBER_RANGE},
    run::Run,
    time::{TimeText, Timestamp},
    tree::Span,
    value::{JsonError, Value},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::{AttemptLog, HostId, ReadStore, RunRow, StoreError};
use phasm_sandbox::executor::Level;

/// Party that continues a run, as far as its store shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run has ended.
    Ended,
    /// A process that holds the store.
    Driven,
    /// Only suspended tasks keep it open; a person has to respond.
    Parked,
    /// The process that holds the store, when its time has come.
    Waiting,
    /// No process has begun it; the next that serves the store does.
    Queued,
    /// No process continues it until it is recovered.
    Orphaned,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ended, Self::Driven, Self::Parked, Self::Waiting, Self::Queued, Self::Orphaned];

    /// Its word for people. Lists show next to it why a run is `waiting`.
    #[must_use]
    pub const fn for_people(self) -> &'static str {
        if matches!(self, Self::Parked) { "waiting" } else { self.label() }
    }

    /// Its word as `status` in JSON.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Driven => "running",
            Self::Parked => "suspended",
            Self::Queued => "queued",
            Self::Ended | Self::Waiting | Self::Orphaned => self.word(),
        }
    }

    /// Its earlier word, `state` in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Driven => "driven",
            Self::Parked => "parked",
            Self::Waiting => "waiting",
            Self::Queued | Self::Orphaned => "orphaned",
        }
    }

    /// Returns the host that runs a run whose row is in this state.
    #[must_use]
    pub fn host(self, row: &RunRow) -> Option<&str> {
        row.owner.as_ref().filter(|_| self == Self::Driven).map(HostId::as_str)
    }

    /// Returns the state of a run, in a store that is held by a process or not.
    #[must_use]
    pub fn of(row: &RunRow, is_held: bool) -> Self {
        if !row.status.open {
            Self::Ended
        } else if row.status.rest.is_some_and(|rest| rest.parked) {
            // Also where a process still has it in memory: nothing happens in it until a person responds.
            Self::Parked
        } else if is_held && row.owner.is_some() {
            Self::Driven
        } else if is_held && row.wake_at.is_some() {
            Self::Waiting
        } else if row.status.phase == Phase::Created && row.owner.is_none() {
            Self::Queued
        } else {
            Self::Orphaned
        }
    }
}

/// Whether the owners of some rows are there.
#[derive(Clone, Debug, Default)]
pub struct Presence {
    is_held: bool,
    /// Owners that are there, for a store that knows.
    live: Option<BTreeSet<HostId>>,
}

impl Presence {
    /// Looks up the owners of these rows, in a store that is held by a process or not.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn of(store: &dyn ReadStore, is_held: bool, rows: &[RunRow]) -> Result<Self, StoreError> {
        let owners: BTreeSet<_> = rows.iter().filter_map(|row| row.owner.clone()).collect();
        let live =
            if owners.is_empty() { None } else { store.live_hosts(owners.into_iter().collect()).await? };
        Ok(Self { is_held, live })
    }

    /// Returns the state of one of the rows: no process continues a run of a host that is gone, until another one claims it.
    #[must_use]
    pub fn state(&self, row: &RunRow) -> RunState {
        let is_live = |owner: &HostId| self.live.as_ref().is_none_or(|live| live.contains(owner));
        RunState::of(row, self.is_held && row.owner.as_ref().is_none_or(is_live))
    }
}

/// Reasons why a run waits, as far as its row shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RowWaiting")]
pub struct RowWaits<'r> {
    /// `answer`, `time`, `host`, `missing` where the last host that had it lacked something, or `quota` where one of its tenant keeps leaves waiting.
    #[serde(rename = "for")]
    #[schemars(extend("enum" = ["answer", "time", "host", "missing", "quota"]))]
    pub what: &'static str,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub since: Option<String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub until: Option<String>,
    /// Missing requirement, or exhausted quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'r str>,
}

impl<'r> RowWaits<'r> {
    /// Returns nothing for a run that has ended, and for a run that is driven only the reason that its host gives.
    #[must_use]
    pub fn of(row: &'r RunRow, state: RunState) -> Option<Self> {
        let until = |at: Option<Timestamp>| at.map(Timestamp::to_rfc3339);
        let waits = |what| Self { what, since: None, until: None, why: None };
        // The note of an owner is about a quota of its tenant, which does not matter once the owner is gone.
        let is_left = state == RunState::Orphaned && row.owner.is_some();
        match (state, row.note.as_ref().filter(|_| !is_left)) {
            (RunState::Ended, _) | (RunState::Driven, None) => None,
            (RunState::Driven, Some(note)) => {
                let since = Some(note.since.to_rfc3339());
                Some(Self { since, why: Some(&note.why), ..waits("quota") })
            }
            (_, Some(note)) => {
                let since = Some(note.since.to_rfc3339());
                Some(Self { since, why: Some(&note.why), ..waits("missing") })
            }
            (RunState::Parked, None) => {
                Some(Self { until: until(row.status.rest.and_then(|rest| rest.until)), ..waits("answer") })
            }
            (RunState::Waiting, None) => Some(Self { until: until(row.wake_at), ..waits("time") }),
            (RunState::Queued | RunState::Orphaned, None) => Some(waits("host")),
        }
    }

    /// Returns whether a host could not continue it.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.what == "missing"
    }
}

/// One run of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Row")]
pub struct RowView<'r> {
    /// The run's id.
    #[serde(rename = "runID")]
    pub run_id: &'r str,
    /// `metadata.name`.
    pub workflow: &'r str,
    /// `metadata.namespace`.
    pub namespace: &'r str,
    /// The phase of the run.
    pub phase: Phase,
    /// Whether anything of it has not ended.
    pub open: bool,
    /// Party that continues it: none for `ended`, a host for `running`, people for `suspended`, a host at its next time for `waiting`,
    /// the next host that serves the store for `queued`, `phasm recover` for `orphaned`.
    #[schemars(extend("enum" = ["ended", "running", "suspended", "waiting", "queued", "orphaned"]))]
    pub status: &'static str,
    /// The same in earlier words, `driven` for `running` and `parked` for `suspended`. Deprecated: it stays for this format version.
    #[schemars(extend("enum" = ["ended", "driven", "parked", "waiting", "orphaned"], "deprecated" = true))]
    pub state: &'static str,
    /// The host that runs it, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'r str>,
    /// `spec.priority`.
    pub priority: u16,
    /// RFC 3339.
    #[schemars(with = "TimeText")]
    pub submitted_at: String,
    /// RFC 3339.
    #[schemars(with = "Option<TimeText>")]
    pub finished_at: Option<String>,
    /// Reason why it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<RowWaits<'r>>,
    /// Short reason for its end, or a remark on it, where the phase alone does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<&'r str>,
    /// Parts of the stored row that are not as they were written, if any; placeholders stand for their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<&'r str>,
}

impl<'r> RowView<'r> {
    /// Returns the view of a row, in a store that is held by a process or not.
    #[must_use]
    pub fn of(row: &'r RunRow, state: RunState) -> Self {
        let RunRow { head, status, .. } = row;
        Self {
            waiting: RowWaits::of(row, state),
            run_id: &head.run_id,
            workflow: &head.workflow,
            namespace: &head.namespace,
            phase: status.phase,
            open: status.open,
            status: state.label(),
            state: state.word(),
            host: state.host(row),
            priority: head.priority,
            submitted_at: head.submitted_at.to_rfc3339(),
            finished_at: status.finished_at.map(Timestamp::to_rfc3339),
            remark: row.remark.as_deref(),
            damaged: row.damaged.as_deref(),
        }
    }
}

/// Submission that was accepted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Submitted")]
pub struct SubmittedView<'r> {
    /// The run's id.
    #[serde(rename = "runID")]
    pub run_id: &'r str,
    /// `metadata.name`.
    pub workflow: &'r str,
    /// False if there was a run with that key.
    pub is_new: bool,
}

/// Log of one attempt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Log")]
pub struct LogView<'l> {
    /// `scope/taskName`.
    pub task: String,
    /// The task run's id.
    #[serde(rename = "taskRunID")]
    pub task_run_id: String,
    /// From 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// From 1.
    #[schemars(range(min = 1))]
    pub dispatch: u32,
    /// Where the attempt stands, as far as the journal that was read knows.
    pub phase: Option<Phase>,
    /// How many bytes before it were not kept.
    pub bytes_cut: u64,
    /// Lines that are kept.
    pub lines: Vec<LineView<'l>>,
    /// Whether the stored log is not as it was written; then no lines are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// One line of a log.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LogLine")]
pub struct LineView<'l> {
    /// How severe it is.
    pub level: Option<Level>,
    /// The line, without its end.
    pub text: &'l str,
}

impl<'l> LogView<'l> {
    /// Shows a log of a run, of which `text` is what is kept.
    #[must_use]
    pub fn of(run: &Run, log: &AttemptLog, text: &'l str) -> Self {
        let task = run.task(TaskId(log.task));
        let attempt =
            task.and_then(|task| task.attempts.iter().find(|attempt| attempt.number == log.attempt));
        Self {
            task: task.map(|task| run.path(task)).unwrap_or_default(),
            task_run_id: run.task_run_id(TaskId(log.task)),
            attempt: log.attempt,
            dispatch: log.dispatch,
            phase: attempt.map(|attempt| attempt.phase),
            bytes_cut: log.cut,
            lines: text.lines().map(LineView::of).collect(),
            damaged: log.damaged,
        }
    }
}

impl<'l> LineView<'l> {
    /// A line as it is kept: its level, and what was written.
    #[must_use]
    pub fn of(line: &'l str) -> Self {
        let known = |word: &str| Level::ALL.into_iter().find(|level| level.as_str() == word);
        match line.split_once(' ').and_then(|(word, text)| Some((known(word)?, text))) {
            Some((level, text)) => Self { level: Some(level), text },
            None => Self { level: None, text: line },
        }
    }
}

/// One error or warning; every member is always there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct ProblemView {
    /// Name of the text.
    pub file: String,
    /// The catalogue's code.
    pub code: &'static str,
    /// Path in the workflow file.
    pub path: String,
    /// From 1; 0 when there is no source text.
    pub line: u32,
    /// From 1; 0 when there is no source text.
    pub column: u32,
    /// The offending value, shortened.
    pub value: Option<Value>,
    /// The fault, and the expected value.
    pub message: String,
    /// Advice how to correct it.
    pub hint: Option<String>,
}

impl ProblemView {
    /// Shows a problem of the text of that name.
    #[must_use]
    pub fn of(file: &str, problem: &Problem) -> Self {
        let Problem { code, path, line, column, value, message, hint, .. } = problem.clone();
        Self { file: file.to_owned(), code, path, line, column, value, message, hint }
    }
}

/// Reads `text` as the value of a parameter: the text itself where a string is declared, else JSON if it parses, else text.
///
/// # Errors
/// Fails like [`undeclared`].
pub fn parameter(plan: &Plan, name: &str, text: &str) -> Result<Value, Box<Problem>> {
    let declared = plan.arguments.iter().find(|parameter| parameter.name.as_ref() == name);
    if declared.is_some_and(|parameter| parameter.kind == ParameterType::String) {
        return Ok(text.into());
    }
    undeclared(name, text)
}

/// Reads `text` as the value called `name`, for which no type is declared: JSON if it parses, else text.
///
/// # Errors
/// Fails where it is JSON with a number that would become another one (P005).
pub fn undeclared(name: &str, text: &str) -> Result<Value, Box<Problem>> {
    match Value::from_json(text) {
        Ok(value) => Ok(value),
        Err(JsonError::Syntax(_)) => Ok(text.into()),
        Err(JsonError::Number(complaint)) => {
            let message = format!("`{name}`: {complaint}");
            let problem = Problem::new(&NUMBER_RANGE, &Path::root(), Span::default(), message);
            Err(Box::new(
                problem.with_hint("declare the parameter as a string, or write the number in double quotes"),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::{Labels, Rest, RunHead, RunStatus};

    /// R-L4: a run that waits for people is parked, whether or not a host has it in memory.
    #[test]
    fn what_waits_for_people_is_parked_wherever_it_is() {
        let row = |parked: Option<bool>, owner: Option<&str>| {
            let rest = parked.map(|parked| Rest { parked, until: None });
            let status = RunStatus { phase: Phase::Running, finished_at: None, open: true, rest };
            let head = Arc::new(RunHead {
                run_id: "run".into(),
                workflow: "w".into(),
                namespace: "default".into(),
                priority: 500,
                submitted_at: Timestamp(0),
                key: None,
                labels: Labels::new(),
            });
            RunRow {
                remark: None,
                damaged: None,
                number: 1,
                head,
                status,
                seq: 1,
                owner: owner.map(Into::into),
                wake_at: None,
                note: None,
            }
        };
        for (parked, owner, is_held, state) in [
            (Some(true), Some("h"), true, RunState::Parked),
            (Some(true), None, true, RunState::Parked),
            (Some(true), Some("h"), false, RunState::Parked),
            (Some(false), Some("h"), true, RunState::Driven),
            (None, Some("h"), true, RunState::Driven),
            (None, Some("h"), false, RunState::Orphaned),
        ] {
            assert_eq!(RunState::of(&row(parked, owner), is_held), state, "{parked:?} {owner:?} {is_held}");
        }
    }

    #[test]
    fn a_number_that_would_become_another_one_is_no_value() {
        for text in ["7", "7.5", "[1e3]", "seven", "18446744073709551616 apples", "\"18446744073709551616\""]
        {
            assert!(undeclared("n", text).is_ok(), "{text}");
        }
        for text in
            ["18446744073709551616", "{\"id\": [-9223372036854775809]}", "1e400", "9007199254740993.0"]
        {
            let problem = undeclared("n", text).unwrap_err();
            assert_eq!(problem.code, "P005", "{text}");
            assert!(problem.message.starts_with("`n`: number "), "{problem}");
        }
    }

    #[test]
    fn a_line_begins_with_its_level() {
        for (line, level, text) in [
            ("warn a b", Some(Level::Warn), "a b"),
            ("info ", Some(Level::Info), ""),
            ("other text", None, "other text"),
            ("info", None, "info"),
        ] {
            let found = LineView::of(line);
            assert_eq!((found.level, found.text), (level, text));
        }
    }
}
