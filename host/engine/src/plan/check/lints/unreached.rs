//! Tasks that can never run.

use crate::{
    document::{ActionDoc, DagDoc, PipelineDoc, PolicyDoc, RecoveryDoc, TaskDoc},
    plan::{
        check::calls::effective_recovery,
        resolve::{graph::Graph, index::Index},
    },
    problem::codes::warnings::UNREACHED_TASK,
};

/// Warns about the tasks that a dag's entrypoints leave out (R-S6).
pub(super) fn check_dag(index: &Index<'_>, dag: &DagDoc, graph: &Graph) {
    let left_out = dag.tasks.list.iter().enumerate().filter(|(position, _)| !graph.is_kept(*position));
    for (_, task) in left_out {
        warn(index, task, "does not follow from the entrypoints", "an entrypoint that leads to it");
    }
}

/// Warns about the tasks of a pipeline that neither their order nor a jump leads to.
pub(super) fn check_pipeline<'a>(index: &Index<'a>, pipeline: &'a PipelineDoc) {
    let tasks = &pipeline.tasks;
    if !tasks.sound {
        return;
    }
    let mut reached = vec![false; tasks.list.len()];
    let mut open = vec![0];
    while let Some(position) = open.pop() {
        let (Some(task), Some(slot)) = (tasks.list.get(position), reached.get_mut(position)) else {
            continue;
        };
        if std::mem::replace(slot, true) {
            continue;
        }
        let ways = Ways::of(effective_recovery(index, task));
        open.extend(ways.jumps.iter().filter_map(|label| tasks.position(label)));
        // A task whose `when` is false is passed over.
        open.extend((ways.goes_on || task.when.is_some()).then_some(position + 1));
    }
    for (task, _) in tasks.list.iter().zip(reached).filter(|(_, reached)| !reached) {
        warn(index, task, "is never entered", "a task before it that continues, or a jump to it");
    }
}

/// Where a task of a pipeline may lead.
struct Ways<'a> {
    goes_on: bool,
    jumps: Vec<&'a str>,
}

impl<'a> Ways<'a> {
    fn of(recovery: Option<&'a RecoveryDoc>) -> Self {
        match recovery {
            Some(RecoveryDoc::Policy(policy)) if !policy.rules.is_empty() => Self::by(policy),
            Some(RecoveryDoc::Policy(_) | RecoveryDoc::Retry(_)) | None => {
                Self { goes_on: true, jumps: Vec::new() }
            }
        }
    }

    fn by(policy: &'a PolicyDoc) -> Self {
        let mut ways = Self { goes_on: !policy.is_exhaustive(), jumps: Vec::new() };
        for rule in &policy.rules {
            match &rule.action {
                ActionDoc::Continue => ways.goes_on = true,
                ActionDoc::Jump(to) => ways.jumps.extend(to.iter().map(|name| &*name.value)),
                ActionDoc::Retry { .. } | ActionDoc::Break | ActionDoc::Fail => {}
            }
        }
        ways
    }
}

fn warn(index: &Index<'_>, task: &TaskDoc, why: &str, expected: &str) {
    let Some(name) = &task.name else { return };
    let message = format!("task `{}` {why}; expected {expected}", name.value);
    index.report.warning(name.problem(&UNREACHED_TASK, message));
}
