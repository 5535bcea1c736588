//! A validated workflow: names resolved, defaults and precedence applied, expressions compiled.
//!
//! [`Draft::plan`] is the way to make one; it reports every problem of a document at once. Nothing in a plan
//! changes while runs execute it, so runs share it.

mod arguments;
mod assemble;
mod bind;
mod check;
mod determinism;
mod draft;
mod executors;
mod max_parallelism;
mod model;
mod resolve;
mod schema;
mod variables;

pub(crate) use self::determinism::Determinism;
pub use self::{
    arguments::{BoundArguments, ParameterDoubts, bind_arguments},
    draft::{Draft, Judgement},
    executors::{ExecutorResolution, Executors, check_defaults, is_crate_name},
    model::{
        Argument, Condition, Dag, ExecutorCall, Hook, HookId, Hooks, Level, Loop, LoopOver, MAX_TASK_RUNS,
        Node, NodeIndex, Parameter, PhaseConditions, PinnedExecutor, PinnedExecutors, Pipeline, Plan, Policy,
        PolicyRule, Recovery, RetryFilter, RetryPolicy, RuleAction, RuleMatch, SettingExpression, Settings,
        Template, TemplateId, TemplateKind, ValueFrom, Verdict, Work,
    },
};
pub use crate::settings::{
    Aggregate, AggregateStrategy, Backoff, Expiry, Growth, HookType, MaxAttempts, ParameterType, SecretRef,
    TimeoutPolicy, Tolerance,
};

#[cfg(test)]
mod tests;
