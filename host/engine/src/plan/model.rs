//! The parts of a plan.

mod hook;
mod node;
mod parameter;
mod pinned;
mod policy;
mod retry;
mod setting;
mod settings;
mod template;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::schedule::Cron;
use crate::{
    json_text::JsonText, path::Path, problem::Problem, settings::SecretRef, time::Millis, value::Value,
};

pub use self::{
    hook::{Hook, Hooks},
    node::{ExecutorCall, Node, Work},
    parameter::{Argument, Parameter, ValueFrom},
    pinned::{PinnedExecutor, PinnedExecutors},
    policy::{Policy, PolicyRule, RuleAction, RuleMatch, Verdict},
    retry::{RetryFilter, RetryPolicy},
    setting::SettingExpression,
    settings::{Condition, Level, PhaseConditions, Recovery, Settings},
    template::{Dag, Loop, LoopOver, Pipeline, Template, TemplateKind},
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
    /// `kind: CronWorkflow`: when it starts by itself.
    pub cron: Option<Cron>,
    /// `spec.arguments`: the parameters a run may be given.
    pub arguments: Vec<Parameter>,
    /// Paths in the workflow file at which they are declared, in the same order.
    pub argument_paths: Vec<Path>,
    /// Path of their list or object, or of the place for it.
    pub arguments_path: Path,
    /// `spec.timeout`; `None` when switched off.
    pub timeout: Option<Millis>,
    /// Whether it counts active time only: none in which the run only waits for people.
    pub timeout_pauses: bool,
    /// `spec.priority`, 0 to 1000, higher first.
    pub priority: u16,
    /// `spec.parallelism`: leaf task runs in Ready or Running at once.
    pub parallelism: Option<u32>,
    /// The call of `spec.entrypoint`.
    pub root: Node,
    /// All templates, in document order.
    pub templates: Vec<Template>,
    /// `spec.notify`: endpoints that are notified of its runs.
    pub notify: Vec<Arc<str>>,
    /// `spec.hooks`.
    pub hooks: Hooks,
    /// Every hook written in the document, as often as a call site has it.
    pub hook_calls: Vec<Hook>,
    /// Doubts that stop nothing.
    pub warnings: Vec<Problem>,
    /// The document itself, as a journal keeps it.
    pub document: JsonText,
    /// The executors in use, as a journal records them.
    pub executors: PinnedExecutors,
    /// Timeouts, delays and counts that are expressions of the parameters.
    pub settings: Vec<SettingExpression>,
}

impl Plan {
    /// Returns the executor that `node` calls, if it is resolved.
    #[must_use]
    pub fn pinned(&self, node: &Node) -> Option<&PinnedExecutor> {
        let Work::Executor(call) = &node.work else { return None };
        self.executors.get(&call.executor_type)
    }

    /// Every call of the document: the root, those in templates, hooks.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let nested = self.templates.iter().flat_map(|template| template.kind.calls());
        let hooks = self.hook_calls.iter().map(|hook| &hook.node);
        std::iter::once(&self.root).chain(nested).chain(hooks)
    }

    /// The secrets that it names, each once.
    #[must_use]
    pub fn secrets(&self) -> BTreeSet<SecretRef> {
        let declared = self.templates.iter().flat_map(|template| &template.inputs);
        let inline = self.nodes().flat_map(|node| node.inputs.iter());
        let declared = self.arguments.iter().chain(declared).chain(inline);
        let passed = self.nodes().flat_map(|node| &node.arguments);
        let sources = declared.map(|input| &input.value_from).chain(passed.map(|passed| &passed.value_from));
        let secret = |source: &ValueFrom| match source {
            ValueFrom::Secret(secret) => Some(secret.clone()),
            ValueFrom::Expression(_) => None,
        };
        sources.flatten().filter_map(secret).collect()
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

    /// Returns the loop that `node` calls, if it calls one.
    #[must_use]
    pub fn loop_of(&self, node: &Node) -> Option<&Loop> {
        let Work::Container(template) = node.work else { return None };
        match self.kind(template)? {
            TemplateKind::Loop(each) => Some(each),
            TemplateKind::Task
            | TemplateKind::Wrapper(_)
            | TemplateKind::Dag(_)
            | TemplateKind::Pipeline(_) => None,
        }
    }
}

/// Task runs that one run may have; a container that would need more ends as Error.
pub const MAX_TASK_RUNS: usize = 1_000_000;

/// Index into [`Plan::templates`].
pub type TemplateId = usize;

/// Index of a node in its dag or pipeline.
pub type NodeIndex = usize;

/// Index into [`Plan::hook_calls`].
pub type HookId = usize;
