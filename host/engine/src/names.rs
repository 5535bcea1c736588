//! The names that expressions may begin with: one file each, with where it is visible, what it holds, what to write
//! instead where it is not visible, and its value while a run goes on.
//!
//! A new root is one file in here and its line in [`ROOTS`]. Submitting asks [`find`] whether a name means something where
//! it stands; running asks [`value`], which sees the run through [`RunContext`].

mod args;
mod children;
mod ctx;
mod hook;
mod inputs;
mod iter;
mod iteration;
mod label;
mod outcome;
mod own;
mod prev;
mod result;
mod run_context;
mod shape;
mod synonyms;
mod system;
mod tasks;
mod vars;
mod workflow;
mod workload;

use std::sync::Arc;

use crate::value::{Map, Value};

pub(crate) use self::{
    run_context::{AttemptFacts, Firing, PipelineProgress, RunContext, System, Workflow},
    shape::{DeclarationSite, Shape},
    synonyms::{instead_of_member, instead_of_root},
    tasks::{LastAttempt, TASK, TaskResult},
    workflow::workflow_parameter,
};

/// All of them, in the order in which messages list them.
pub(crate) static ROOTS: [&Root; 23] = [
    &workflow::WORKFLOW,
    &system::SYSTEM,
    &vars::VARS,
    &inputs::INPUTS,
    &tasks::TASKS,
    &iteration::LOOP,
    &iteration::ITERATOR,
    &iteration::LOOP_ITER,
    &hook::HOOK,
    &outcome::OUTCOME,
    &iter::ITER,
    &ctx::CTX,
    &prev::PREV,
    &own::TASK,
    &own::ATTEMPT,
    &args::ARGS,
    &workload::WORKLOAD,
    &children::CHILDREN,
    &result::PHASE,
    &result::CODE,
    &result::MSG,
    &result::OUTPUTS,
    &result::RETRIES,
];

/// A name that expressions may begin with.
pub(crate) struct Root {
    pub(crate) name: &'static str,
    /// Whether it is visible where an expression sees this.
    pub(crate) visible: fn(Visibility) -> bool,
    /// Shape of its value.
    pub(crate) shape: Shape,
    /// Hint for expressions that cannot see it; empty where it is visible everywhere.
    pub(crate) hint: &'static str,
    /// The value at the path behind the name; null where there is none.
    value: fn(&dyn RunContext, Members<'_>) -> Value,
}

/// The common part of the names of pipelines.
const PIPELINE: Root = Root {
    name: "",
    visible: |sees| sees.pipeline,
    shape: Shape::Any,
    hint: "only the tasks of a pipeline see it",
    value: |_, _| Value::Null,
};

/// The members behind a name, outermost first.
pub(crate) type Members<'p> = &'p [Arc<str>];

/// The names that an expression sees in its place, besides those that are visible everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visibility {
    /// Inputs, a template's or a node's.
    pub(crate) inputs: bool,
    /// Tasks, the own one included.
    pub(crate) tasks: bool,
    /// The iteration of a loop.
    pub(crate) iteration: bool,
    /// The phase change that fired a hook.
    pub(crate) hook: bool,
    /// An attempt that has finished.
    pub(crate) attempt: bool,
    /// A container that is about to end.
    pub(crate) container: bool,
    /// How many children a container has.
    pub(crate) children: bool,
    /// The course of a pipeline.
    pub(crate) pipeline: bool,
    /// The task's own name and attempt.
    pub(crate) task: bool,
    /// Outcome that policy rules judge.
    pub(crate) outcome: bool,
}

/// The root of that name.
pub(crate) fn find(name: &str) -> Option<&'static Root> {
    ROOTS.into_iter().find(|root| root.name == name)
}

/// The value at `path` for an expression that sees `run`; what is neither a root nor a label is one of the operator's
/// variables.
pub(crate) fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    let Some((name, rest)) = path.split_first() else { return Value::Null };
    let value = match find(name) {
        Some(root) => (root.value)(run, rest),
        None => label::value(run, name, rest).unwrap_or_else(|| vars::value(run, path)),
    };
    #[cfg(test)]
    tests::record(path, &value);
    value
}

/// The value that the last segment of `path` is a member of.
pub(crate) fn owner(run: &dyn RunContext, path: Members<'_>) -> Value {
    iteration::owner_of_field(run, path)
        .unwrap_or_else(|| path.split_last().map_or(Value::Null, |(_, owner)| value(run, owner)))
}

/// The member of `value` at `path`.
pub(crate) fn walk(value: &Value, path: Members<'_>) -> Value {
    path.iter().try_fold(value, |value, key| value.member(key)).cloned().unwrap_or_default()
}

/// The member of an object at `path`, without copying what is not asked for.
fn member_of(map: &Arc<Map>, path: Members<'_>) -> Value {
    match path.split_first() {
        None => Value::Object(Arc::clone(map)),
        Some((key, rest)) => map.get(key).map_or(Value::Null, |value| walk(value, rest)),
    }
}

#[cfg(test)]
mod tests;
