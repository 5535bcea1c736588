//! The data that a run passes to a rerun of it.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Run,
    state::{ContainerProgress, State, TaskRun},
};
use crate::{
    event::{PastResult, Rerun},
    phase::{Phase, TaskKind},
    value::{Map, Value},
};

impl Run {
    /// Returns the data that a rerun with `parameters` starts from; with `from_failed` this includes the results of tasks that
    /// have succeeded, which are not executed again.
    #[must_use]
    pub fn rerun(&self, parameters: &Map, from_failed: bool) -> Rerun {
        let names = parameters.keys().chain(self.parameters().keys());
        let changed = names.filter(|name| parameters.get(*name) != self.parameters().get(*name)).cloned();
        let mut rerun = Rerun { run_id: self.id().clone(), changed: changed.collect(), ..Rerun::default() };
        if from_failed {
            rerun.results = results(self);
            rerun.items = items(self);
        }
        rerun
    }
}

/// Returns the results of tasks that have succeeded and count by themselves.
fn results(run: &State) -> BTreeMap<Arc<str>, PastResult> {
    let succeeded = run.tasks().iter().filter(|task| task.phase == Phase::Succeeded);
    succeeded
        .filter(|task| counts_alone(run, task))
        .map(|task| (run.path(task).into(), past_result(task)))
        .collect()
}

fn items(run: &State) -> BTreeMap<Arc<str>, Arc<Vec<Value>>> {
    let items = |task| match &run.scope(task)?.progress {
        ContainerProgress::Loop(progress) if !progress.items.is_empty() && counts_alone(run, task) => {
            Some((run.path(task).into(), Arc::clone(&progress.items)))
        }
        ContainerProgress::Loop(_)
        | ContainerProgress::Dag
        | ContainerProgress::Pipeline(_)
        | ContainerProgress::Attempts => None,
    };
    run.tasks().iter().filter_map(items).collect()
}

/// Whether only dags and loops are around: what a pipeline's task or an attempt's child came to depends on the course
/// that led to it, so these count as a whole (R-F3). Nor do hook runs count.
fn counts_alone(run: &State, task: &TaskRun) -> bool {
    let around = std::iter::successors(run.parent(task), |task| run.parent(task));
    let steers = |task: &TaskRun| {
        let is_pipeline = run.scope(task).is_some_and(|scope| scope.pipeline().is_some());
        is_pipeline || run.kind(task) == TaskKind::Wrapper
    };
    task.hook.is_none() && !around.into_iter().any(steers)
}

fn past_result(task: &TaskRun) -> PastResult {
    PastResult {
        inputs: Arc::clone(&task.inputs),
        config: task.config.clone(),
        code: task.code,
        message: Arc::clone(&task.message),
        outputs: Arc::clone(&task.outputs),
        retries: task.retries,
        resumed_by: task.resumed_by().cloned(),
    }
}
