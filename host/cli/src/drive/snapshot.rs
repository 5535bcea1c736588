//! A run at one moment, as far as a terminal shows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use phasm::engine::{
    event::{Reason, TaskId},
    phase::Phase,
    plan::Work,
    run::{Progress, Run, TaskRun, Waiting},
    time::Timestamp,
};

use super::summary;

/// A run at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot {
    pub(super) workflow: Arc<str>,
    pub(super) phase: Phase,
    /// Why it ended so, where the phase alone does not say.
    pub(super) reason: Option<Reason>,
    /// Failures and rejections in a run that Succeeded.
    pub(super) remarks: Vec<String>,
    pub(super) progress: Progress,
    pub(super) submitted_at: Timestamp,
    pub(super) finished_at: Option<Timestamp>,
    /// Results of its tasks, once it has ended.
    pub(super) tally: Option<String>,
    /// The tree, from the root downwards.
    pub(super) rows: Vec<Row>,
    /// Active leaves that are not among the rows.
    pub(super) hidden: usize,
}

/// One task run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) depth: usize,
    pub(super) name: Arc<str>,
    pub(super) path: String,
    pub(super) phase: Phase,
    pub(super) reason: Option<Reason>,
    /// Failures and rejections in it, if it Succeeded.
    pub(super) remarks: Vec<String>,
    pub(super) attempt: u32,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
    /// The end of a retry's delay.
    pub(super) wake_at: Option<Timestamp>,
    pub(super) waiting: Option<Waiting>,
    pub(super) message: Arc<str>,
}

impl Snapshot {
    /// Looks at a run: all of it if it has at most `most` task runs, else what is active with the scopes around it.
    pub(super) fn of(run: &Run, most: usize) -> Self {
        let tasks = run.tasks();
        let (shown, hidden) = if tasks.len() <= most {
            (tasks.iter().map(|task| task.id).collect(), 0)
        } else {
            active(run, most)
        };
        let times = run.times();
        Self {
            workflow: run.plan().name.clone(),
            phase: run.phase(),
            reason: tasks.first().and_then(|root| root.reason),
            remarks: tasks.first().map(|root| run.remarks(root)).unwrap_or_default(),
            progress: run.progress(),
            submitted_at: times.submitted_at,
            finished_at: times.finished_at,
            tally: run.phase().is_terminal().then(|| summary::tally(&leaves(run))),
            rows: tree(run, &shown),
            hidden,
        }
    }
}

/// The phases of what executors work on, hooks apart.
fn leaves(run: &Run) -> Vec<Phase> {
    let is_leaf = |task: &&TaskRun| task.hook.is_none() && matches!(run.node(task).work, Work::Executor(_));
    run.tasks().iter().filter(is_leaf).map(|task| Reason::counts_as(task.phase, task.reason)).collect()
}

/// The first active leaves with the scopes around them, at most `most` in all, and how many more are active.
fn active(run: &Run, most: usize) -> (BTreeSet<TaskId>, usize) {
    let (mut shown, mut hidden) = (BTreeSet::new(), 0);
    for task in run.tasks().iter().filter(|task| is_active(task)) {
        if shown.len() >= most {
            hidden += 1;
            continue;
        }
        let mut at = Some(task);
        while let Some(task) = at.filter(|task| shown.insert(task.id)) {
            at = run.above(task);
        }
    }
    (shown, hidden)
}

/// Whether a leaf is being executed, is suspended, or will be retried.
fn is_active(task: &TaskRun) -> bool {
    task.in_flight() || task.phase == Phase::Suspended || task.clocks.wake.is_some()
}

/// The rows of a tree: parents before children, siblings in the order of execution.
fn tree(run: &Run, shown: &BTreeSet<TaskId>) -> Vec<Row> {
    let mut children: BTreeMap<Option<TaskId>, Vec<&TaskRun>> = BTreeMap::new();
    for task in run.tasks_in_order().into_iter().filter(|task| shown.contains(&task.id)) {
        children.entry(run.above(task).map(|above| above.id)).or_default().push(task);
    }
    let mut rows = Vec::with_capacity(shown.len());
    let mut ahead: Vec<&TaskRun> = children.remove(&None).unwrap_or_default();
    while let Some(task) = ahead.pop() {
        rows.push(Row::of(run, task));
        ahead.extend(children.remove(&Some(task.id)).into_iter().flatten().rev());
    }
    rows
}

impl Row {
    fn of(run: &Run, task: &TaskRun) -> Self {
        let of = task.hook.and(run.above(task));
        Self {
            depth: of.map_or(task.depth, |of| of.depth + 1) as usize,
            name: run.label(task).into(),
            path: run.path(task),
            phase: task.phase,
            reason: task.reason,
            remarks: if run.phase().is_terminal() { run.remarks(task) } else { Vec::new() },
            attempt: task.attempt,
            started_at: task.started_at,
            finished_at: task.finished_at,
            wake_at: task.clocks.wake,
            waiting: run.waiting(task),
            message: task.message.clone(),
        }
    }
}
