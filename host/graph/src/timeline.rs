//! A run in time: a row for each box of its diagram, with what happened when.

use phasm_engine::{
    phase::Phase,
    run::{Attempt, Run, TaskRun},
    text,
    time::Timestamp,
};

use crate::{
    diagram::{Diagram, Limits},
    look::Look,
    suspensions::Suspensions,
};

/// Meaning of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A container, from its first dispatch to its end.
    Container(Phase),
    /// An attempt, with what it came to.
    Attempt(Phase),
    /// Until it began, or the delay before another attempt.
    Wait,
    /// From the suspension to the response.
    Suspension,
}

/// A length of time in which something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Meaning of the bar.
    pub what: What,
    /// Since then.
    pub from: Timestamp,
    /// Until then.
    pub to: Timestamp,
    /// All of it, for people.
    pub title: String,
}

/// A line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The task run that the row shows.
    pub look: Look,
    /// How deep that stands.
    pub depth: usize,
    /// Bars in the order in which they are drawn; later ones cover those before.
    pub bars: Vec<Bar>,
}

/// A run in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Diagram whose boxes the rows show.
    pub diagram: Diagram,
    /// The beginning: when the run was submitted.
    pub from: Timestamp,
    /// Its end, or now.
    pub to: Timestamp,
    /// Containers and what is in them, as one reads them.
    pub rows: Vec<Row>,
}

impl Timeline {
    /// A run in time, as of `now`. Without `suspensions` that the journal told, only the current one of a task run is known.
    #[must_use]
    pub fn of(run: &Run, suspensions: &Suspensions, now: Timestamp, limits: Limits) -> Self {
        let diagram = Diagram::of_run(run, limits);
        let times = run.times();
        let now = if run.is_over() { run.now() } else { now.max(run.now()) };
        let row = |(at, depth): (usize, usize)| {
            let look = diagram.boxes.get(at)?.look.clone();
            let task = look.task.and_then(|task| run.task(task));
            let bars = task.map(|task| bars(run, task, suspensions, now)).unwrap_or_default();
            Some(Row { look, depth, bars })
        };
        let rows: Vec<_> = diagram.read().into_iter().filter_map(row).collect();
        let last = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.to).max();
        let end = times.finished_at.filter(|_| run.is_over()).unwrap_or(now);
        Self { from: times.submitted_at, to: last.unwrap_or(end).max(end), rows, diagram }
    }
}

fn bars(run: &Run, task: &TaskRun, suspensions: &Suspensions, now: Timestamp) -> Vec<Bar> {
    if run.children(task).len() > 0 {
        return container(task, now);
    }
    let mut bars = Vec::new();
    let mut since = task.created_at;
    for attempt in &task.attempts {
        let begin = attempt.started_at.or(attempt.finished_at).unwrap_or(now);
        bars.extend(bar(What::Wait, since, begin, "waited"));
        let end = attempt.finished_at.unwrap_or(now);
        if attempt.started_at.is_some() {
            bars.push(attempted(attempt, begin, end));
        }
        since = end;
    }
    if !task.phase.is_terminal() && task.attempts.last().is_none_or(|last| last.finished_at.is_some()) {
        bars.extend(bar(What::Wait, since, now, "waits"));
    }
    let mut suspended = suspensions.of(task.id).to_vec();
    if suspended.is_empty() && task.phase == Phase::Suspended {
        suspended.extend(task.suspended_at.map(|from| (from, None)));
    }
    let suspension = |(from, to): (Timestamp, Option<Timestamp>)| {
        bar(What::Suspension, from, to.or(task.finished_at).unwrap_or(now), "waited for an answer")
    };
    bars.extend(suspended.into_iter().filter_map(suspension));
    bars
}

fn container(task: &TaskRun, now: Timestamp) -> Vec<Bar> {
    let Some(from) = task.started_at.or(task.dispatched_at) else { return Vec::new() };
    let to = task.finished_at.unwrap_or(now).max(from);
    let title = format!("{}, {}", task.phase, span(from, to));
    vec![Bar { what: What::Container(task.phase), from, to, title }]
}

/// Nothing, if it took no time.
fn bar(what: What, from: Timestamp, to: Timestamp, told: &str) -> Option<Bar> {
    (from < to).then(|| Bar { what, from, to, title: format!("{told}, {}", span(from, to)) })
}

fn attempted(attempt: &Attempt, from: Timestamp, to: Timestamp) -> Bar {
    let to = to.max(from);
    let title = format!("attempt {}: {}, {}", attempt.number, attempt.phase, span(from, to));
    Bar { what: What::Attempt(attempt.phase), from, to, title }
}

fn span(from: Timestamp, to: Timestamp) -> String {
    format!("{} from {}", text::elapsed(to.since(from)), from.to_rfc3339())
}
