//! Which calls come to the same again when they are bound to the same: those that read nothing else which another run may
//! have otherwise.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Argument, Loop, LoopOver, Node, Parameter, Plan, Policy, Recovery, RetryFilter, SettingExpression,
    Settings, TemplateId, TemplateKind, ValueFrom, Work,
};
use crate::{
    expr::{Expr, Read, ValueTemplate},
    path::Path,
};

/// Determinism of the calls of one plan, for a run some of whose parameters have changed.
#[derive(Debug, Default)]
pub(crate) struct Determinism {
    changed: BTreeSet<Arc<str>>,
    /// By template, whether the work of a call follows from its inputs.
    templates: Vec<Option<bool>>,
}

impl Determinism {
    /// Looks at a plan, for a run in which these parameters are others than they were.
    pub(crate) fn of(plan: &Plan, changed: &BTreeSet<Arc<str>>) -> Self {
        let mut settled = Self { changed: changed.clone(), templates: vec![None; plan.templates.len()] };
        for template in
            plan.settings.iter().filter_map(|setting| settled.resized(setting)).collect::<Vec<_>>()
        {
            settled.learn(template, false);
        }
        for template in 0..plan.templates.len() {
            settled.look_at(plan, template);
        }
        settled
    }

    /// Whether a call that is bound to the same comes to the same: its work, and what is made of that.
    pub(crate) fn holds(&self, plan: &Plan, node: &Node) -> bool {
        let judged = judged(node);
        let mut reads = judged.iter().flat_map(|expr| expr.reads());
        reads.all(|read| reads_no_other(plan, node, read) && !self.may_differ(read))
            && template_of(node).is_none_or(|template| self.templates.get(template) == Some(&Some(true)))
    }

    fn look_at(&mut self, plan: &Plan, template: TemplateId) -> bool {
        if let Some(known) = self.templates.get(template).copied().flatten() {
            return known;
        }
        // A template that calls itself is none of a plan; should it be, it is not settled.
        self.learn(template, false);
        let Some(kind) = plan.kind(template) else { return false };
        let over = if let TemplateKind::Loop(each) = kind { over(each) } else { Vec::new() };
        let settled = !self.any_differs(&over) && kind.calls().iter().all(|call| self.call(plan, call));
        self.learn(template, settled);
        settled
    }

    /// Returns the template whose number of iterations or jumps may differ by this setting. Other limits may end a task, and do not
    /// change the result of one that has succeeded.
    fn resized(&self, setting: &SettingExpression) -> Option<TemplateId> {
        let expressions: Vec<&Expr> = written(&setting.template).collect();
        let counts = ["start", "end", "count", "maxIterations", "maxJumps"];
        setting.within.filter(|_| {
            counts.into_iter().any(|field| setting.path.ends_with(field)) && self.any_differs(&expressions)
        })
    }

    fn learn(&mut self, template: TemplateId, settled: bool) {
        if let Some(known) = self.templates.get_mut(template) {
            *known = Some(settled);
        }
    }

    /// Whether a call inside a container follows from the container's inputs.
    fn call(&mut self, plan: &Plan, node: &Node) -> bool {
        !self.any_differs(&bound(node))
            && !self.any_differs(&judged(node))
            && !sets_ctx(&node.settings)
            && template_of(node).is_none_or(|template| self.look_at(plan, template))
    }

    fn any_differs(&self, expressions: &[&Expr]) -> bool {
        expressions.iter().flat_map(|expr| expr.reads()).any(|read| self.may_differ(read))
    }

    /// Whether another run may have something else there, whatever a call is bound to.
    fn may_differ(&self, read: &Read) -> bool {
        let path: Vec<&str> = read.path.iter().map(AsRef::as_ref).collect();
        match path.as_slice() {
            ["workflow", "name" | "namespace" | "labels", ..] => false,
            ["workflow", "parameters", rest @ ..]
            | ["workflow", "arguments", "parameters", rest @ ..]
            | ["workload", rest @ ..] => {
                rest.first().map_or(!self.changed.is_empty(), |name| self.changed.contains(*name))
            }
            ["workflow" | "ctx", ..] => true,
            _ => false,
        }
    }
}

/// Whether what judges a call reads of `tasks` only the call itself, or what is inside it.
fn reads_no_other(plan: &Plan, node: &Node, read: &Read) -> bool {
    match read.path.as_slice() {
        [root, ..] if **root != *"tasks" => true,
        [_, name, ..] => is_own(plan, node, name),
        _ => false,
    }
}

fn is_own(plan: &Plan, node: &Node, name: &Arc<str>) -> bool {
    let called = node.template.and_then(|template| plan.templates.get(template));
    let inside = called.map(|template| template.kind.calls()).unwrap_or_default();
    node.name == *name
        || called.is_some_and(|template| template.name == *name)
        || inside.iter().any(|call| call.name == *name)
}

/// Returns the template of a call that does its work in other nodes, and not in an executor.
fn template_of(node: &Node) -> Option<TemplateId> {
    match node.work {
        Work::Executor(_) => None,
        Work::Container(template) | Work::Wrapper(template) => Some(template),
    }
}

fn sets_ctx(settings: &Settings) -> bool {
    matches!(&settings.recovery, Some(Recovery::Policy(policy)) if policy.rules.iter().any(|rule| !rule.set_ctx.is_empty()))
}

/// Returns the expressions that bind a call, including its `when`.
fn bound(node: &Node) -> Vec<&Expr> {
    let mut found: Vec<&Expr> = node.when.iter().collect();
    for Argument { value, value_from, .. } in &node.arguments {
        found.extend(value.iter().flat_map(written).chain(from(value_from.as_ref())));
    }
    found.extend(node.inputs.iter().flat_map(declared));
    if let Work::Executor(call) = &node.work {
        found.extend(written(&call.config));
    }
    found
}

/// Returns the expressions that turn the result of a call's work into its phase and outputs.
fn judged(node: &Node) -> Vec<&Expr> {
    let settings = &node.settings;
    let mut found: Vec<&Expr> = node.outputs.iter().flat_map(declared).collect();
    found.extend(settings.phase_conditions.in_order().map(|(_, condition)| &condition.expr));
    match &settings.recovery {
        Some(Recovery::Retry(retry)) => {
            if let RetryFilter::Expression(condition) = &retry.filter {
                found.push(&condition.expr);
            }
        }
        Some(Recovery::Policy(policy)) => found.extend(ruled(policy)),
        None => {}
    }
    found
}

fn ruled(policy: &Policy) -> impl Iterator<Item = &Expr> {
    policy.rules.iter().flat_map(|rule| {
        let set = rule.set_iter.iter().chain(&rule.set_ctx).flat_map(|(_, value)| written(value));
        rule.when.iter().chain(set)
    })
}

fn over(each: &Loop) -> Vec<&Expr> {
    match &each.over {
        LoopOver::Items(items) => items.iter().flat_map(written).collect(),
        LoopOver::ItemsFrom(expr) | LoopOver::Repeat(expr) => vec![expr],
    }
}

fn declared(parameter: &Parameter) -> Vec<&Expr> {
    let values = parameter.value.iter().chain(&parameter.default).flat_map(written);
    values.chain(from(parameter.value_from.as_ref())).collect()
}

fn from(source: Option<&ValueFrom>) -> Option<&Expr> {
    match source? {
        ValueFrom::Expression(expr) => Some(expr),
        ValueFrom::Secret(_) => None,
    }
}

fn written(value: &ValueTemplate) -> impl Iterator<Item = &Expr> {
    value.placeholders(&Path::root()).into_iter().map(|(_, placeholder)| &placeholder.expr)
}
