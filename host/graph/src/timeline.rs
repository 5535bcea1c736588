//! A run in time: a row for each node of its diagram, with a bar for each thing that took time.

use phasm_engine::{
    phase::Phase,
    run::{Attempt, Run, TaskRun, WaitsFor},
    text,
    time::Timestamp,
};

use crate::{
    diagram::Diagram,
    iterations::Iterations,
    label::Label,
    model::Limits,
    readiness,
    suspensions::{Suspension, Suspensions},
};

/// Meaning of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarKind {
    /// A container, from its first dispatch to its end.
    Container(Phase),
    /// An attempt, with the phase it ended in.
    Attempt(Phase),
    /// The time from readiness to the start.
    Queue,
    /// The time between an attempt and the next.
    RetryDelay,
    /// From the suspension to the response.
    Suspension,
}

/// A length of time in which something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Meaning of the bar.
    pub kind: BarKind,
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
    /// Its description, for people.
    pub title: String,
}

/// A line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The task run that the row shows.
    pub label: Label,
    /// Number of containers around it.
    pub depth: usize,
    /// Bars in the order in which they are drawn; later ones cover those before.
    pub bars: Vec<Bar>,
    /// Number of attempts, where there are several. It stands behind the last bar.
    pub attempts: Option<u32>,
    /// Duration, or `queued`; empty without bars. It stands behind the number of attempts.
    pub took: String,
    /// Number of iterations of a loop that is one node, and of those that failed: `500 iterations, 2 Failed`.
    pub iterations: Option<String>,
}

/// A run in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Diagram whose nodes the rows show.
    pub diagram: Diagram,
    /// The beginning: when the run was submitted.
    pub from: Timestamp,
    /// Its end, or now.
    pub to: Timestamp,
    /// Containers and their content, in reading order.
    pub rows: Vec<Row>,
}

impl Timeline {
    /// Returns the timeline of a run at `now`. Where `suspensions` from the journal are missing, only the current one is drawn.
    #[must_use]
    pub fn of(run: &Run, suspensions: &Suspensions, now: Timestamp, limits: Limits) -> Self {
        let diagram = Diagram::of_run(run, limits);
        let times = run.times();
        let now = if run.is_over() { run.now() } else { now.max(run.now()) };
        let row = |(at, depth): (usize, usize)| {
            let node = diagram.nodes.get(at)?;
            let label = node.label.clone();
            let task = label.task.and_then(|task| run.task(task));
            let bars = task.map(|task| bars(run, task, suspensions, now)).unwrap_or_default();
            let shown = task.filter(|_| !bars.is_empty());
            let attempts = shown.map(|task| task.attempt).filter(|attempt| *attempt > 1);
            let took = shown.map(|task| took(task, now)).unwrap_or_default();
            let iterations = node.iterations.as_ref().map(Iterations::summary);
            Some(Row { label, depth, bars, attempts, took, iterations })
        };
        let rows: Vec<_> = diagram.in_reading_order().into_iter().filter_map(row).collect();
        let last = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.to).max();
        let end = times.finished_at.filter(|_| run.is_over()).unwrap_or(now);
        Self { from: times.submitted_at, to: last.unwrap_or(end).max(end), rows, diagram }
    }
}

fn bars(run: &Run, task: &TaskRun, suspensions: &Suspensions, now: Timestamp) -> Vec<Bar> {
    if run.children(task).len() > 0 {
        return container(task, now);
    }
    let mut bars = attempts(run, task, now);
    bars.extend(waiting(run, task, now));
    let mut suspended = suspensions.of(task.id).to_vec();
    if suspended.is_empty() && task.phase == Phase::Suspended {
        suspended.extend(task.suspended_at.map(|from| Suspension { from, to: None }));
    }
    let suspension = |Suspension { from, to }| {
        bar(BarKind::Suspension, from, to.or(task.finished_at).unwrap_or(now), "waited for approval")
    };
    bars.extend(suspended.into_iter().filter_map(suspension));
    bars
}

/// Returns the bars of the attempts of a task run, and of the times before each.
fn attempts(run: &Run, task: &TaskRun, now: Timestamp) -> Vec<Bar> {
    let mut bars = Vec::new();
    // Earlier attempts than the kept ones have no bars.
    let is_first = task.attempts.first().is_some_and(|first| first.number == 1);
    let mut before = readiness::ready_at(run, task).filter(|_| is_first).map(|ready| (BarKind::Queue, ready));
    for attempt in &task.attempts {
        let begin = attempt.started_at.or(attempt.finished_at).unwrap_or(now);
        bars.extend(before.and_then(|(kind, since)| gap(kind, since, begin)));
        let end = attempt.finished_at.unwrap_or(now);
        if attempt.started_at.is_some() {
            bars.push(attempt_bar(attempt, begin, end));
        }
        before = Some((BarKind::RetryDelay, end));
    }
    bars
}

/// Returns the bars of a task run that waits for a slot, or for the end of a retry's delay.
fn waiting(run: &Run, task: &TaskRun, now: Timestamp) -> Vec<Bar> {
    let waits = !task.has_open_attempt() && task.unmet == 0;
    let Some(waiting) = run.waiting(task).filter(|_| waits) else { return Vec::new() };
    let is_delay = waiting.what == WaitsFor::Retry;
    let delay_end = if is_delay { now } else { waiting.since };
    let ended = task.attempts.last().and_then(|last| last.finished_at);
    let delay = ended.and_then(|ended| gap(BarKind::RetryDelay, ended, delay_end));
    delay.into_iter().chain(gap(BarKind::Queue, waiting.since, now).filter(|_| !is_delay)).collect()
}

/// Returns the time since the start of a task run, up to its end.
fn took(task: &TaskRun, now: Timestamp) -> String {
    let begin = task.started_at.or_else(|| task.attempts.first()?.finished_at);
    let end = task.finished_at.unwrap_or(now);
    begin.map_or_else(|| "queued".to_owned(), |begin| text::elapsed(end.since(begin)))
}

fn container(task: &TaskRun, now: Timestamp) -> Vec<Bar> {
    let Some(from) = task.started_at.or(task.dispatched_at) else { return Vec::new() };
    let to = task.finished_at.unwrap_or(now).max(from);
    let title = format!("{}, {}", task.phase, span(from, to));
    vec![Bar { kind: BarKind::Container(task.phase), from, to, title }]
}

/// Returns the bar of a time without work, unless it took no time.
fn gap(kind: BarKind, from: Timestamp, to: Timestamp) -> Option<Bar> {
    let verb = if kind == BarKind::RetryDelay { "waited for its retry" } else { "queued" };
    bar(kind, from, to, verb)
}

/// Returns a bar, unless it took no time.
fn bar(kind: BarKind, from: Timestamp, to: Timestamp, verb: &str) -> Option<Bar> {
    (from < to).then(|| Bar { kind, from, to, title: format!("{verb}, {}", span(from, to)) })
}

fn attempt_bar(attempt: &Attempt, from: Timestamp, to: Timestamp) -> Bar {
    let to = to.max(from);
    let title = format!("attempt {}: {}, {}", attempt.number, attempt.phase, span(from, to));
    Bar { kind: BarKind::Attempt(attempt.phase), from, to, title }
}

fn span(from: Timestamp, to: Timestamp) -> String {
    format!("{} from {}", text::elapsed(to.since(from)), from.to_rfc3339())
}
