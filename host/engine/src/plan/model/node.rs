//! Calls: the root, tasks, loop bodies, wrapped containers and hooks.

use std::sync::Arc;

use crate::expr::{Expr, ValueTemplate};

use super::{Argument, NodeIndex, Parameter, Settings, TemplateId};

/// A call of some work, with everything from manifest, template and call site merged (the nearer level's object
/// replaces the farther one's).
#[derive(Debug)]
pub struct Node {
    /// `taskName`.
    pub name: Arc<str>,
    /// The template called; `None` for an inline executor.
    pub template: Option<TemplateId>,
    /// The work.
    pub work: Work,
    /// Nodes of the same dag that must be satisfied first.
    pub dependencies: Vec<NodeIndex>,
    /// Nodes of the same dag that wait for this one.
    pub dependents: Vec<NodeIndex>,
    /// Evaluated once, when ready to dispatch; sees what a node sees.
    pub when: Option<Expr>,
    /// `arguments` of the call; they see what a node sees.
    pub arguments: Vec<Argument>,
    /// Declared inputs of the template or the inline node; calls of one template share them.
    pub inputs: Arc<[Parameter]>,
    /// Declared outputs of the template or the inline node; likewise.
    pub outputs: Arc<[Parameter]>,
    /// Timeouts, retry, tolerance, conditions, hooks; shared where calls add nothing of their own.
    pub settings: Arc<Settings>,
}

/// The work of a node.
#[derive(Clone, Debug)]
pub enum Work {
    /// Node an executor: a leaf.
    Executor(Arc<ExecutorCall>),
    /// Run the dag, loop or pipeline template.
    Container(TemplateId),
    /// Attempts of the call that the wrapper template makes ([`TemplateKind::Wrapper`](super::TemplateKind::Wrapper)).
    Wrapper(TemplateId),
}

/// The call of an executor.
#[derive(Clone, Debug)]
pub struct ExecutorCall {
    /// `executor.type`: `name`, `name@version` or `sha256:…`.
    pub executor_type: Arc<str>,
    /// `executor.config`, always an object.
    pub config: ValueTemplate,
    /// `resources.memory` in bytes; only ever lowers the operator's limit.
    pub memory: Option<u64>,
}
