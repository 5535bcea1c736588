//! A run for people: how it ended, what came out, what went wrong.

use std::collections::BTreeSet;

use phasm::{
    engine::{
        event::{Reason, TaskId},
        phase::Phase,
        plan::Work,
        run::{Run, TaskRun, WaitsFor},
    },
    store::view::RunState,
};

use super::callers;
use crate::{
    command_line::Target,
    store::question::Question,
    terminal::{text, waiting},
};

/// Lines a list has at most.
const MAX_LINES: usize = 20;
/// Characters of a value or message at most.
const MAX_VALUE_CHARS: usize = 200;

/// Returns the text about a run; `open` is the word for one that has not ended, `target` says how to reach it.
pub(crate) fn of(run: &Run, open: &str, target: Option<&Target>) -> String {
    brief(run, open, "", target)
}

/// The same with lines that show its tasks, and with the callers that asked something of it.
pub(crate) fn with_tree(run: &Run, open: &str, tree: &str, target: Option<&Target>) -> String {
    format!("{}{}", brief(run, open, tree, target), callers::lines(run))
}

fn brief(run: &Run, open: &str, tree: &str, target: Option<&Target>) -> String {
    let mut page = headline(run, open);
    if let Some(clock) = run.tasks().first().and_then(|root| run.exceeded(root)) {
        page += &format!("  Timed out: {clock}\n");
    }
    let message = briefly(run);
    if !message.is_empty() && run.phase() != Phase::Succeeded {
        page += &format!("  {}\n", text::short(message, text::MAX_MESSAGE_CHARS));
    }
    page += tree;
    let outputs = run.tasks().first().map(|root| root.outputs.iter()).into_iter().flatten();
    let output =
        |name: &str, value| [text::short(name, 40).into_owned(), text::value(value, MAX_VALUE_CHARS)];
    page += &table("outputs", outputs.map(|each| output(&each.name, &each.value)));
    let suspended = || tasks(run).filter(|task| task.phase == Phase::Suspended);
    page += &table("waiting for a response", suspended().map(|task| question(run, task)));
    if let Some(target) = target {
        page.extend(suspended().take(MAX_LINES).map(|task| Question::of(run, task).commands(target)));
    }
    page += &table("waiting", tasks(run).filter_map(|task| waiting(run, task)));
    page += &table("not succeeded", notable(run).map(|task| row(run, task)));
    match tasks(run).filter(|task| is_leaf(run, task) && is_swept_away(task)).count() {
        0 => {}
        n => {
            page += &format!(
                "{} not finished because another one failed or the time was up\n",
                text::count(n, "task")
            );
        }
    }
    if let Some(target) = target.filter(|_| is_unfinished(run.phase())) {
        page += &format!("run the rest again: {}\n", target.command(&["rerun", run.id(), "--from-failed"]));
    }
    page
}

/// All but hook runs, which belong to what they are hooks of.
fn tasks(run: &Run) -> impl Iterator<Item = &TaskRun> {
    run.tasks().iter().filter(|task| task.hook.is_none())
}

/// Why it ended so, without what the lines about its tasks say.
fn briefly(run: &Run) -> &str {
    let Some(root) = run.tasks().first() else { return "" };
    let told = notable(run).filter(|task| !task.message.is_empty());
    let shorter = told.filter_map(|task| {
        let shorter = root.message.strip_suffix(&*task.message)?.strip_suffix(": ")?;
        let quoted = format!("; task {}", run.node(task).name);
        Some(shorter.strip_suffix(&*quoted).unwrap_or(shorter))
    });
    shorter.min_by_key(|message| message.len()).unwrap_or_else(|| run.cause(root))
}

fn headline(run: &Run, open: &str) -> String {
    let times = run.times();
    let took = times.finished_at.map(|end| format!(" in {}", text::elapsed(end.since(times.submitted_at))));
    let retries: u32 = tasks(run).filter(|task| !task.reused).map(|task| task.retries).sum();
    let retries = match retries {
        0 => String::new(),
        n => format!(", {} {}", n, if n == 1 { "retry" } else { "retries" }),
    };
    let root = run.tasks().first();
    let phase = text::ended(run.phase(), root.and_then(|root| root.reason));
    let remarks = root.map(|root| run.remarks(root)).unwrap_or_default();
    let says_it_all = run.phase() == Phase::Running && open == RunState::Driven.label();
    let is_waiting = run.is_parked() && open == RunState::Parked.label();
    let phase = if run.phase().is_terminal() {
        text::remarked(phase, &remarks)
    } else if says_it_all {
        phase
    } else if is_waiting {
        text::styled(text::colour(Phase::Suspended), format_args!("waiting for {}", awaited(run)))
    } else {
        format!("{open} {phase}")
    };
    let reused = match tasks(run).filter(|task| task.reused).count() {
        0 => String::new(),
        n => format!(" ({n} reused)"),
    };
    let tally = if run.phase().is_terminal() {
        tally(&worked_on(run))
    } else {
        format!("{} tasks", run.progress().to_string().replace('/', " of "))
    };
    format!(
        "{} {phase}{}, {tally}{reused}{retries} {}\n",
        text::bold(&run.plan().name),
        took.unwrap_or_default(),
        text::dim(format_args!("({})", run.id()))
    )
}

/// Returns the word for the response that the tasks of a run wait for: approval, where all of them do.
fn awaited(run: &Run) -> &'static str {
    let mut awaited = tasks(run)
        .filter(|task| task.phase == Phase::Suspended)
        .map(|task| Question::of(run, task).waits_for());
    let first = awaited.next().unwrap_or("a response");
    if awaited.all(|other| other == first) { first } else { "responses" }
}

/// Whether the run ended before everything was done.
fn is_unfinished(phase: Phase) -> bool {
    phase.is_terminal() && !matches!(phase, Phase::Succeeded | Phase::Skipped)
}

/// The phases of what executors work on.
fn worked_on(run: &Run) -> Vec<Phase> {
    let parents: BTreeSet<TaskId> = tasks(run).filter_map(|task| Some(run.parent(task)?.id)).collect();
    let is_work = |task: &&TaskRun| is_task(run, task) && !parents.contains(&task.id);
    tasks(run).filter(is_work).map(|task| Reason::counts_as(task.phase, task.reason)).collect()
}

/// `12 tasks: 10 succeeded, 1 timed out, 1 skipped`.
pub(super) fn tally(leaves: &[Phase]) -> String {
    let ended = ENDS.iter().filter_map(|(phase, word)| {
        let count = leaves.iter().filter(|leaf| *leaf == phase).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let ended = ended.collect::<Vec<_>>().join(", ");
    let tasks = text::count(leaves.len(), "task");
    if ended.is_empty() { tasks } else { format!("{tasks}: {ended}") }
}

/// Returns a word for the result of a task.
const ENDS: [(Phase, &str); 6] = [
    (Phase::Succeeded, "succeeded"),
    (Phase::Failed, "failed"),
    (Phase::Error, "in error"),
    (Phase::Timeout, "timed out"),
    (Phase::Cancelled, "cancelled"),
    (Phase::Skipped, "skipped"),
];

/// Whether it is no dag, loop or pipeline.
fn is_task(run: &Run, task: &TaskRun) -> bool {
    matches!(run.node(task).work, Work::Executor(_) | Work::Wrapper(_))
}

/// The root is told in the headline, other containers follow from their tasks.
fn is_leaf(run: &Run, task: &TaskRun) -> bool {
    is_task(run, task) && run.above(task).is_some()
}

/// Leaves whose end deserves a line.
fn notable(run: &Run) -> impl Iterator<Item = &TaskRun> {
    let ended_badly = |task: &&TaskRun| {
        task.phase.is_terminal() && !matches!(task.phase, Phase::Succeeded | Phase::Skipped)
    };
    tasks(run).filter(ended_badly).filter(|task| is_leaf(run, task) && !is_swept_away(task))
}

/// Whether a task was cancelled because of another, or of the whole, and says nothing of its own.
fn is_swept_away(task: &TaskRun) -> bool {
    let whole = [Reason::ScopeFailed, Reason::ScopeTimeout, Reason::WorkflowTimeout];
    task.phase == Phase::Cancelled
        && task.message.is_empty()
        && task.reason.is_some_and(|reason| whole.contains(&reason))
}

fn row(run: &Run, task: &TaskRun) -> [String; 2] {
    [run.path(task), result(run, task)]
}

/// A task that waits for a response, and its question.
fn question(run: &Run, task: &TaskRun) -> [String; 2] {
    [run.path(task), text::short(&Question::of(run, task).words(), MAX_VALUE_CHARS).into_owned()]
}

/// Returns what a leaf waits for, other than an answer.
fn waiting(run: &Run, task: &TaskRun) -> Option<[String; 2]> {
    let waiting = run.waiting(task).filter(|waiting| waiting.what != WaitsFor::Answer)?;
    Some([run.path(task), waiting::since(&waiting)])
}

/// `Failed (retry-exhausted) code 2 after 3 attempts: the service was busy`,
/// `Timed out: exceeded maxRuntime (1 s), Cancelled after 2 attempts`.
fn result(run: &Run, task: &TaskRun) -> String {
    let code = task.code.map(|code| format!(" code {code}")).unwrap_or_default();
    let attempts = match task.attempts.len() {
        0 | 1 => String::new(),
        n => format!(" after {n} attempts"),
    };
    if let Some(clock) = run.exceeded(task) {
        let (style, phase) = (text::colour(Phase::Timeout), task.phase);
        let cause = text::after(": ", run.cause(task));
        return format!("{}: {clock}, {phase}{code}{attempts}{cause}", text::styled(style, "Timed out"));
    }
    let condition = task.attempts.last().filter(|attempt| attempt.condition.is_some());
    let condition = condition.and_then(|attempt| run.reason_of(task, attempt));
    let condition = condition.map(|condition| format!(" ({condition})")).unwrap_or_default();
    let message = text::after(": ", &task.message);
    let unretried = run.not_retried(task).map(|why| format!(" (not retried: {why})")).unwrap_or_default();
    format!("{}{code}{condition}{attempts}{message}{unretried}", text::ended(task.phase, task.reason))
}

/// The first rows, and how many there are besides.
fn table(title: &str, mut rows: impl Iterator<Item = [String; 2]>) -> String {
    let shown: Vec<_> = rows.by_ref().take(MAX_LINES).collect();
    if shown.is_empty() {
        return String::new();
    }
    let width = shown.iter().map(|[name, _]| name.chars().count()).max().unwrap_or(0);
    let lines: String = shown.iter().map(|[name, value]| format!("  {name:<width$}  {value}\n")).collect();
    let more = match rows.count() {
        0 => String::new(),
        n => format!("  … and {n} more\n"),
    };
    format!("{}\n{lines}{more}", text::bold(format_args!("{title}:")))
}
