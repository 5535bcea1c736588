//! A run for people: how it ended, what came out, what went wrong.

use std::collections::BTreeSet;

use phasm::engine::{
    event::Reason,
    phase::Phase,
    run::{RunView, TaskView, WaitsFor},
};

use super::super::{hint::Way, text, waits};

/// Lines a list has at most.
const MOST_LINES: usize = 20;
/// Characters of a value or message at most.
const LONGEST: usize = 200;

/// What to print about a run; `open` is said of one that has not ended, `way` leads back to it.
pub(crate) fn of(view: &RunView, open: &str, way: Option<&Way>) -> String {
    with_tree(view, open, "", way)
}

/// The same with lines that show its tasks.
pub(crate) fn with_tree(view: &RunView, open: &str, tree: &str, way: Option<&Way>) -> String {
    let mut page = headline(view, open);
    let message = briefly(view);
    if !message.is_empty() && view.phase != Phase::Succeeded {
        page += &format!("  {}\n", text::short(message, LONGEST));
    }
    page += tree;
    let outputs: Vec<_> = view
        .outputs
        .iter()
        .map(|output| [text::short(&output.name, 40).into_owned(), text::value(&output.value, LONGEST)])
        .collect();
    page += &table("outputs", &outputs);
    let suspended = rows(view, |task| task.phase == Phase::Suspended);
    page += &table("suspended", &suspended);
    if let (Some(way), Some([path, _])) = (way, suspended.first()) {
        page += &how_to_answer(way, &view.run_id, path);
    }
    page += &waiting(view);
    page += &table("not succeeded", &rows(view, is_notable));
    match view.tasks.iter().filter(|task| is_leaf(task) && is_swept_away(task)).count() {
        0 => {}
        n => page += &format!("{} cancelled, as the scope had ended\n", text::count(n, "task")),
    }
    if let Some(way) = way.filter(|_| is_unfinished(view.phase)) {
        page += &format!("run the rest again: {}\n", way.command(&["rerun", &view.run_id, "--from-failed"]));
    }
    page
}

/// Why it ended so, without what the lines about its tasks say.
fn briefly(view: &RunView) -> &str {
    let told = view.tasks.iter().filter(|task| is_notable(task) && !task.message.is_empty());
    let shorter = told.filter_map(|task| view.message.strip_suffix(&*task.message)?.strip_suffix(": "));
    shorter.min_by_key(|message| message.len()).unwrap_or(&view.message)
}

fn headline(view: &RunView, open: &str) -> String {
    let took = view.duration_ms.map(|millis| format!(" in {}", text::elapsed(millis))).unwrap_or_default();
    let made_here = view.tasks.iter().filter(|task| task.reused.is_none());
    let retries: u32 = made_here.map(|task| task.retries).sum();
    let retries = match retries {
        0 => String::new(),
        n => format!(", {} {}", n, if n == 1 { "retry" } else { "retries" }),
    };
    let phase = if view.phase.is_terminal() {
        text::phase(view.phase)
    } else {
        format!("{open} {}", text::phase(view.phase))
    };
    let reason = view.reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
    let reused = match view.tasks.iter().filter(|task| task.reused.is_some()).count() {
        0 => String::new(),
        n => format!(" ({n} reused)"),
    };
    let tasks = if view.phase.is_terminal() {
        tally(&worked_on(view))
    } else {
        format!("{} tasks", view.progress.replace('/', " of "))
    };
    format!(
        "{} {phase}{reason}{took}, {tasks}{reused}{retries} {}\n",
        text::bold(&view.workflow),
        text::dim(format_args!("({})", view.run_id))
    )
}

/// Whether the run ended before everything was done.
fn is_unfinished(phase: Phase) -> bool {
    phase.is_terminal() && !matches!(phase, Phase::Succeeded | Phase::Skipped)
}

/// The phases of what executors work on.
fn worked_on(view: &RunView) -> Vec<Phase> {
    let parents: BTreeSet<&str> =
        view.tasks.iter().filter_map(|task| task.parent_run_id.as_deref()).collect();
    let is_work = |task: &&TaskView| task.template_type == "task" && !parents.contains(&*task.run_id);
    view.tasks.iter().filter(is_work).map(|task| task.phase).collect()
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

/// What became of a task, in a word.
const ENDS: [(Phase, &str); 6] = [
    (Phase::Succeeded, "succeeded"),
    (Phase::Failed, "failed"),
    (Phase::Error, "in error"),
    (Phase::Timeout, "timed out"),
    (Phase::Cancelled, "cancelled"),
    (Phase::Skipped, "skipped"),
];

/// The root is told in the headline, other containers follow from their tasks.
fn is_leaf(task: &TaskView) -> bool {
    task.template_type == "task" && !task.scope.is_empty()
}

/// A leaf whose end deserves a line.
fn is_notable(task: &TaskView) -> bool {
    let ended_badly = task.phase.is_terminal() && !matches!(task.phase, Phase::Succeeded | Phase::Skipped);
    is_leaf(task) && ended_badly && !is_swept_away(task)
}

/// Whether a task was cancelled because of another, or of the whole.
fn is_swept_away(task: &TaskView) -> bool {
    let whole = [Reason::ScopeFailed, Reason::ScopeTimeout, Reason::WorkflowTimeout];
    task.phase == Phase::Cancelled && task.reason.is_some_and(|reason| whole.contains(&reason))
}

fn rows(view: &RunView, wanted: impl Fn(&TaskView) -> bool) -> Vec<[String; 2]> {
    let row = |task: &TaskView| [path(task), result(task)];
    view.tasks.iter().filter(|task| wanted(task)).map(row).collect()
}

fn path(task: &TaskView) -> String {
    if task.scope.is_empty() {
        task.task_name.to_string()
    } else {
        format!("{}/{}", task.scope, task.task_name)
    }
}

/// The command that answers a suspended task. What the answer holds only whoever answers knows.
fn how_to_answer(way: &Way, run: &str, task: &str) -> String {
    format!("answer with, its values between the braces: {}\n", way.command(&["resume", run, task, "{}"]))
}

/// What leaves wait for that nobody is asked about.
fn waiting(view: &RunView) -> String {
    let row = |task: &TaskView| {
        let waiting = task.waiting.as_ref().filter(|waiting| waiting.what != WaitsFor::Answer)?;
        Some([path(task), waits::since(waiting)])
    };
    table("waiting", &view.tasks.iter().filter_map(row).collect::<Vec<_>>())
}

/// `Failed (retry-exhausted) code 2 after 3 attempts: the service was busy`.
fn result(task: &TaskView) -> String {
    let reason = task.reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
    let code = task.code.map(|code| format!(" code {code}")).unwrap_or_default();
    let attempts = match task.attempts.len() {
        0 | 1 => String::new(),
        n => format!(" after {n} attempts"),
    };
    let message = text::after(": ", &task.message);
    format!("{}{reason}{code}{attempts}{message}", text::phase(task.phase))
}

fn table(title: &str, rows: &[[String; 2]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = rows.iter().take(MOST_LINES);
    let width = shown.clone().map(|[name, _]| name.chars().count()).max().unwrap_or(0);
    let lines: String = shown.map(|[name, value]| format!("  {name:<width$}  {value}\n")).collect();
    let more = match rows.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        n => format!("  … and {n} more\n"),
    };
    format!("{}\n{lines}{more}", text::bold(format_args!("{title}:")))
}
