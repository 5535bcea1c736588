//! The interface through which names read a run.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    outcome::Output,
    phase::Phase,
    settings::HookType,
    time::{Millis, Timestamp},
    value::{Map, Value},
};

use super::TaskResult;

/// A run as one expression sees it. Names that are not visible there give `None`.
pub(crate) trait RunContext {
    fn workflow(&self) -> Workflow<'_>;

    fn system(&self) -> System<'_>;

    /// The input of that name, the nearest first.
    fn input(&self, _name: &str) -> Option<Value> {
        None
    }

    /// All inputs.
    fn inputs(&self) -> Map {
        Map::new()
    }

    /// The task of that name.
    fn task(&self, _name: &Arc<str>) -> Option<TaskResult> {
        None
    }

    /// Number of the container's children, in all or in the phase of that name; or the list of their phases, codes or messages.
    fn children(&self, _of: &str) -> Option<Value> {
        None
    }

    /// Index and item of the nearest iteration.
    fn iteration(&self) -> Option<(u32, Value)> {
        None
    }

    /// The phase change that fired the hook.
    fn firing(&self) -> Option<Firing> {
        None
    }

    /// The judged result: a finished attempt, or a container about to end.
    fn judged(&self) -> Option<TaskResult> {
        None
    }

    /// Data of an attempt that policy rules see besides its result.
    fn attempted(&self) -> Option<AttemptFacts<'_>> {
        None
    }

    /// The course of the pipeline around.
    fn pipeline_progress(&self) -> Option<PipelineProgress<'_>> {
        None
    }

    /// The outputs of the pipeline's task of that label, none before it ended; `None` where there is no such label.
    fn label(&self, _label: &Arc<str>) -> Option<Option<Arc<Vec<Output>>>> {
        None
    }

    /// Values set by `set_ctx`.
    fn ctx(&self) -> Option<&Arc<Map>> {
        None
    }

    /// The task's own name and the number of its attempt.
    fn own(&self) -> Option<(Arc<str>, u32)> {
        None
    }
}

/// The run itself.
pub(crate) struct Workflow<'a> {
    pub(crate) name: &'a Arc<str>,
    pub(crate) namespace: &'a Arc<str>,
    pub(crate) id: &'a Arc<str>,
    pub(crate) phase: Phase,
    /// The time for which a schedule started it.
    pub(crate) scheduled: Option<Timestamp>,
    /// The caller that submitted it, if it is known.
    pub(crate) submitted_by: Option<&'a Arc<str>>,
    pub(crate) labels: &'a BTreeMap<Arc<str>, Value>,
    pub(crate) parameters: &'a Arc<Map>,
}

/// Facts about the host.
pub(crate) struct System<'a> {
    pub(crate) os: &'a Arc<str>,
    pub(crate) arch: &'a Arc<str>,
    pub(crate) vars: &'a Value,
}

/// The phase change that fired a hook.
pub(crate) struct Firing {
    pub(crate) hook: HookType,
    pub(crate) task: Arc<str>,
    pub(crate) seen: TaskResult,
}

/// An attempt as policy rules see it, besides its result.
pub(crate) struct AttemptFacts<'a> {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// The executor's detail.
    pub(crate) detail: &'a Value,
    /// From its start, if the executor started.
    pub(crate) duration: Option<Millis>,
    /// Whether a clock ended it.
    pub(crate) expired: bool,
}

/// How far a pipeline has come.
pub(crate) struct PipelineProgress<'a> {
    /// Values set by `set_iter`.
    pub(crate) iter: &'a Arc<Map>,
    /// The outputs of the task that ended last.
    pub(crate) previous: Option<Arc<Vec<Output>>>,
    /// The pipeline's inputs.
    pub(crate) inputs: Map,
}
