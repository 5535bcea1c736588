//! Templates: what can be called.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    expr::{Expr, ValueTemplate},
    settings::Aggregate,
};

use super::{Node, NodeIndex, Parameter};

/// A named template.
#[derive(Debug)]
pub struct Template {
    /// Its unique name.
    pub name: Arc<str>,
    /// Declared inputs.
    pub inputs: Vec<Parameter>,
    /// Declared outputs: a whitelist, with values to fill in.
    pub outputs: Vec<Parameter>,
    /// The kind, with its data.
    pub kind: TemplateKind,
}

/// The four kinds of template, and the wrapper, which is a task to everybody outside.
#[derive(Debug)]
pub enum TemplateKind {
    /// One executor; everything that runs is merged into the calling [`Node`].
    Task,
    /// Attempts, each of which makes this call of a dag, loop or pipeline afresh. Its arguments see the
    /// wrapper's inputs.
    Wrapper(Box<Node>),
    /// Nodes with dependencies.
    Dag(Dag),
    /// One body, many iterations.
    Loop(Box<Loop>),
    /// Tasks in order, steered by rules.
    Pipeline(Pipeline),
}

impl TemplateKind {
    /// The calls in it.
    #[must_use]
    pub fn calls(&self) -> &[Node] {
        match self {
            Self::Task => &[],
            Self::Wrapper(call) => std::slice::from_ref(call.as_ref()),
            Self::Dag(dag) => &dag.nodes,
            Self::Loop(each) => std::slice::from_ref(&each.body),
            Self::Pipeline(pipeline) => &pipeline.nodes,
        }
    }

    /// The word the run view uses (`templateType`).
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Task | Self::Wrapper(_) => "task",
            Self::Dag(_) => "dag",
            Self::Loop(_) => "loop",
            Self::Pipeline(_) => "pipeline",
        }
    }
}

/// A dag's tasks. With `entrypoints`, only the nodes that exist.
#[derive(Debug)]
pub struct Dag {
    /// In document order.
    pub nodes: Vec<Node>,
    /// Position by name.
    pub index: BTreeMap<Arc<str>, NodeIndex>,
    /// Whether a failure cancels everything not yet dispatched.
    pub fail_fast: bool,
    /// Leaf task runs of the sub-tree in Ready or Running at once.
    pub parallelism: Option<u32>,
}

/// A loop over a body.
#[derive(Debug)]
pub struct Loop {
    /// The body's call; its name is the body template's.
    pub body: Node,
    /// The source of its iterations.
    pub over: LoopOver,
    /// Open iterations at once; `None` is unlimited.
    pub concurrency: Option<u32>,
    /// Iterations at most.
    pub max_iterations: Option<u32>,
    /// How outputs of iterations become the loop's.
    pub aggregate: Aggregate,
}

/// The source of a loop's iterations.
#[derive(Debug)]
pub enum LoopOver {
    /// `items`, or the values `sequence` yields.
    Items(Vec<ValueTemplate>),
    /// `itemsFrom`: an array or JSON text, evaluated when the loop opens.
    ItemsFrom(Expr),
    /// `repeatCondition`: after each iteration, whether there is another.
    Repeat(Expr),
}

/// A pipeline's tasks (NoETL).
#[derive(Debug)]
pub struct Pipeline {
    /// In document order.
    pub nodes: Vec<Node>,
    /// Position by label.
    pub index: BTreeMap<Arc<str>, NodeIndex>,
    /// Jumps at most.
    pub max_jumps: u32,
}
