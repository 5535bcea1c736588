//! From a task run to what it executes.

use super::Place;
use crate::plan::{Node, Plan, TemplateKind};

/// The node of the plan at a place. Places are only made by `apply`, from the plan that they are looked up in.
pub(in crate::run) fn node_at(plan: &Plan, place: Place) -> &Node {
    let found = match place {
        Place::Root => Some(&plan.root),
        Place::Hook(hook) => plan.hook(hook).map(|hook| &hook.node),
        Place::Dag(template, index) | Place::Entry(template, index, _) => match plan.kind(template) {
            Some(TemplateKind::Dag(dag)) => dag.nodes.get(index),
            Some(TemplateKind::Pipeline(pipeline)) => pipeline.nodes.get(index),
            Some(TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Loop(_)) | None => None,
        },
        Place::Iteration(template, _) | Place::Attempt(template, _) => match plan.kind(template) {
            Some(TemplateKind::Loop(each)) => Some(&each.body),
            Some(TemplateKind::Wrapper(call)) => Some(call.as_ref()),
            Some(TemplateKind::Task | TemplateKind::Dag(_) | TemplateKind::Pipeline(_)) | None => None,
        },
    };
    debug_assert!(found.is_some(), "no node at {place:?}");
    found.unwrap_or(&plan.root)
}

impl Place {
    /// The same for all task runs of a node.
    pub(super) fn of_node(self) -> Self {
        match self {
            Self::Iteration(template, _) => Self::Iteration(template, 0),
            Self::Attempt(template, _) => Self::Attempt(template, 0),
            Self::Entry(template, node, _) => Self::Entry(template, node, 0),
            Self::Root | Self::Dag(..) | Self::Hook(_) => self,
        }
    }
}
