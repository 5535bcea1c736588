//! A validated workflow: names resolved, defaults and precedence applied, expressions compiled.
//!
//! [`Plan::build`] is the only way to make one; it reports every problem of a document at once. Nothing in a plan
//! changes while runs execute it, so runs share it.

mod arguments;
mod assemble;
mod build;
mod comparing;
mod executors;
mod graph;
mod index;
mod items;
mod kinds;
mod lints;
mod merge;
mod names;
mod nesting;
mod order;
mod passing;
mod reading;
mod references;
mod shapes;
mod shared;
mod sources;
pub(crate) mod types;
mod upstream;
mod variables;
mod visible;
mod ways;

use std::{collections::BTreeMap, sync::Arc};

pub use self::{
    arguments::bind_arguments,
    executors::{Catalogue, ExecutorInfo, Recorded, check_defaults},
    variables::WithVariables,
};
use crate::{
    expr::{Expr, Interpolated},
    outcome::PhaseConditions,
    policy::Policy,
    problem::Problem,
    retry::RetryPolicy,
    time::Millis,
    timeout::TimeoutPolicy,
    value::{Map, Value},
};

/// A workflow ready to run.
#[derive(Debug)]
pub struct Plan {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `metadata.version`.
    pub version: Option<Arc<str>>,
    /// `metadata.labels`.
    pub labels: BTreeMap<Arc<str>, Value>,
    /// `kind: CronWorkflow`: validated, but nothing runs it yet.
    pub cron: bool,
    /// `spec.arguments`: the parameters a run may be given.
    pub arguments: Vec<Parameter>,
    /// `spec.timeout`; `None` when switched off.
    pub timeout: Option<Millis>,
    /// `spec.priority`, 0 to 1000, higher first.
    pub priority: u16,
    /// `spec.parallelism`: leaf task runs in Ready or Running at once.
    pub parallelism: Option<u32>,
    /// The call of `spec.entrypoint`.
    pub root: Node,
    /// All templates, in document order.
    pub templates: Vec<Template>,
    /// `spec.hooks`.
    pub hooks: Hooks,
    /// Every hook written in the document, as often as a call site has it.
    pub hook_calls: Vec<Hook>,
    /// Doubts that stop nothing.
    pub warnings: Vec<Problem>,
    /// The document itself, as a journal keeps it.
    pub document: Value,
    /// By executor type, the default policies of plugins' manifests that were applied, as a journal keeps them.
    pub defaults: Map,
}

impl Plan {
    /// Every call of the document: the root, those in templates, hooks.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let nested = self.templates.iter().flat_map(|template| match &template.kind {
            TemplateKind::Task => &[],
            TemplateKind::Wrapper(call) => std::slice::from_ref(call.as_ref()),
            TemplateKind::Dag(dag) => dag.nodes.as_slice(),
            TemplateKind::Loop(each) => std::slice::from_ref(&each.body),
            TemplateKind::Pipeline(pipeline) => pipeline.nodes.as_slice(),
        });
        let hooks = self.hook_calls.iter().map(|hook| &hook.node);
        std::iter::once(&self.root).chain(nested).chain(hooks)
    }

    /// The hook of that number.
    #[must_use]
    pub fn hook(&self, id: HookId) -> Option<&Hook> {
        self.hook_calls.get(id)
    }

    /// The kind of a template.
    #[must_use]
    pub fn kind(&self, template: TemplateId) -> Option<&TemplateKind> {
        self.templates.get(template).map(|template| &template.kind)
    }
}

/// Index into [`Plan::templates`].
pub type TemplateId = usize;

/// Index of a node in its dag or pipeline.
pub type NodeIndex = usize;

/// Index into [`Plan::hook_calls`].
pub type HookId = usize;

/// A named template.
#[derive(Debug)]
pub struct Template {
    /// Its unique name.
    pub name: Arc<str>,
    /// Declared inputs.
    pub inputs: Vec<Parameter>,
    /// Declared outputs: a whitelist, with values to fill in.
    pub outputs: Vec<Parameter>,
    /// What it is.
    pub kind: TemplateKind,
}

/// The four kinds of template, and the wrapper, which is a task to everybody outside.
#[derive(Debug)]
pub enum TemplateKind {
    /// One executor; everything that runs is merged into the calling [`Node`].
    Task,
    /// Attempts, each of which makes this call of a dag, loop or pipeline afresh (R-R9). Its arguments see the
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
    /// Whether a failure cancels everything not yet dispatched (R-S3).
    pub fail_fast: bool,
    /// Leaf task runs of the sub-tree in Ready or Running at once (R-S11).
    pub parallelism: Option<u32>,
}

/// A loop over a body (R-S5).
#[derive(Debug)]
pub struct Loop {
    /// The body's call; its name is the body template's.
    pub body: Node,
    /// What it runs over.
    pub over: LoopOver,
    /// Open iterations at once; `None` is unlimited.
    pub concurrency: Option<u32>,
    /// Iterations at most.
    pub max_iterations: Option<u32>,
    /// How outputs of iterations become the loop's.
    pub aggregate: Aggregate,
}

/// What a loop runs over.
#[derive(Debug)]
pub enum LoopOver {
    /// `items`, or the values `sequence` yields.
    Items(Vec<Interpolated>),
    /// `itemsFrom`: an array or JSON text, evaluated when the loop opens.
    ItemsFrom(Expr),
    /// `repeatCondition`: after each iteration, whether there is another.
    Repeat(Expr),
}

/// `aggregate` of a loop.
#[derive(Debug)]
pub struct Aggregate {
    /// Which iterations count.
    pub strategy: AggregateStrategy,
    /// The names to aggregate; `None` is all.
    pub parameters: Option<Vec<Arc<str>>>,
}

/// `aggregate.strategy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregateStrategy {
    /// The last succeeded iteration by index.
    #[default]
    Last,
    /// The first succeeded iteration by index.
    First,
    /// One list per name, aligned with the iterations, null for what did not succeed.
    List,
}

/// A pipeline's tasks (seed 002).
#[derive(Debug)]
pub struct Pipeline {
    /// In document order.
    pub nodes: Vec<Node>,
    /// Position by label.
    pub index: BTreeMap<Arc<str>, NodeIndex>,
    /// Jumps at most (R-N3).
    pub max_jumps: u32,
}

/// A call of some work, with everything from manifest, template and call site merged (the nearer level's object
/// replaces the farther one's).
#[derive(Debug)]
pub struct Node {
    /// `taskName`.
    pub name: Arc<str>,
    /// The template called; `None` for an inline executor.
    pub template: Option<TemplateId>,
    /// What is done.
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

/// What a node does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Call an executor: a leaf.
    Executor(Arc<ExecutorCall>),
    /// Run the dag, loop or pipeline template.
    Container(TemplateId),
    /// Attempts of the call that the wrapper template makes ([`TemplateKind::Wrapper`]).
    Wrapper(TemplateId),
}

/// The call of an executor.
#[derive(Clone, Debug)]
pub struct ExecutorCall {
    /// `executor.type`: `name`, `name@version` or `sha256:…`.
    pub executor_type: Arc<str>,
    /// `executor.config`, always an object.
    pub config: Interpolated,
    /// `resources.memory` in bytes; only ever lowers the operator's limit.
    pub memory: Option<u64>,
}

/// A declared parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Checked when bound (inputs) or warned about (outputs).
    pub kind: ParameterType,
    /// `value`.
    pub value: Option<Interpolated>,
    /// `valueFrom`.
    pub value_from: Option<ValueFrom>,
    /// `default`.
    pub default: Option<Interpolated>,
    /// `enum`; empty is unrestricted.
    pub allowed: Vec<Value>,
}

/// The types a parameter may declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterType {
    /// Anything.
    #[default]
    Any,
    /// Text.
    String,
    /// Any number.
    Number,
    /// A number without fraction (1.0 is one).
    Integer,
    /// A truth value.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
}

/// A value passed by a call.
#[derive(Debug)]
pub struct Argument {
    /// The input's name.
    pub name: Arc<str>,
    /// `value`.
    pub value: Option<Interpolated>,
    /// `valueFrom`.
    pub value_from: Option<ValueFrom>,
}

/// Where a value comes from.
#[derive(Debug)]
pub enum ValueFrom {
    /// `parameter`, `path` or `expression`.
    Expression(Expr),
    /// `secretKeyRef`: the journal keeps the reference, the host reads the value at each dispatch.
    Secret(SecretRef),
}

/// Names one secret of the operator's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SecretRef {
    /// The secret.
    pub name: Arc<str>,
    /// The key within it.
    pub key: Arc<str>,
}

/// What surrounds a node's work.
#[derive(Debug, Default)]
pub struct Settings {
    /// `timeout`: absolute from the first dispatch (R-T2); a container's from its first leaf's.
    pub timeout: Option<Millis>,
    /// `maxRuntime` of each attempt.
    pub max_runtime: Option<TimeoutPolicy>,
    /// `maxInactivity` of each attempt.
    pub max_inactivity: Option<TimeoutPolicy>,
    /// `deadline` across attempts and delays.
    pub deadline: Option<TimeoutPolicy>,
    /// `retry` or `policy`; they count as one field.
    pub recovery: Option<Recovery>,
    /// Which of the node's own phases its scope tolerates; a dag's or loop's default already applied.
    pub continue_on: Tolerance,
    /// Overrides of the computed phase.
    pub phase_conditions: PhaseConditions,
    /// Task templates run beside the phases.
    pub hooks: Hooks,
}

/// What happens after an attempt.
#[derive(Debug)]
pub enum Recovery {
    /// The Aether or Steep spelling.
    Retry(RetryPolicy),
    /// NoETL's rules.
    Policy(Policy),
}

/// `continueOn`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tolerance {
    /// Failed is tolerated.
    pub failed: bool,
    /// Error is tolerated.
    pub error: bool,
    /// Timeout, and Cancelled by a timeout policy, are tolerated.
    pub timeout: bool,
}

/// Whose names an expression sees (R-E2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Written on a call: the container's inputs and what is upstream.
    Node,
    /// Written in a template: its own inputs; as a task, `tasks.<template>` is itself.
    Template,
    /// Written on an inline node's own config or outputs: its own inputs over the container's.
    Inline,
}

/// An expression and whose names it sees.
#[derive(Debug)]
pub struct Condition {
    /// The expression.
    pub expr: Expr,
    /// Where it was written.
    pub level: Level,
}

/// Hooks by the event that fires them (R-S12).
pub type Hooks = BTreeMap<HookType, HookId>;

/// The events hooks are named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookType {
    /// First Running.
    OnStart,
    /// Succeeded.
    OnSuccess,
    /// Failed.
    OnFailure,
    /// Error, and Timeout when there is no onTimeout.
    OnError,
    /// Timeout.
    OnTimeout,
    /// Suspended.
    OnSuspend,
    /// Resumed.
    OnResume,
    /// Cancelled.
    OnCancel,
    /// Any end.
    OnExit,
}

impl HookType {
    /// The field of the document (`onExit`).
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnStart => "onStart",
            Self::OnSuccess => "onSuccess",
            Self::OnFailure => "onFailure",
            Self::OnError => "onError",
            Self::OnTimeout => "onTimeout",
            Self::OnSuspend => "onSuspend",
            Self::OnResume => "onResume",
            Self::OnCancel => "onCancel",
            Self::OnExit => "onExit",
        }
    }
}

/// One hook: a call of a task template outside all scopes.
#[derive(Debug)]
pub struct Hook {
    /// The call; its arguments also see `hook.*`. Its timeout is set: its own, else 5 minutes.
    pub node: Node,
    /// Asked when the hook fires; sees what the arguments see.
    pub when: Option<Expr>,
    /// Whose names its arguments and `when` see; those of spec.hooks see no level at all.
    pub level: Level,
}

#[cfg(test)]
mod tests;
