//! Templates that call templates: recursion, depth and what is never called.

use std::collections::BTreeSet;

use crate::{
    document::{KindDoc, TemplateDoc},
    plan::{
        TemplateId,
        resolve::{
            graph::Graphs,
            index::{CallSite, Index, calls_of, hooks_of},
            order::order,
        },
    },
    problem::codes::{
        names::{RECURSION, TOO_DEEP},
        warnings::UNREACHABLE_TEMPLATE,
    },
};

/// Checks how the templates hang together.
pub(super) fn check(index: &Index<'_>, graphs: &Graphs) {
    let calls: Vec<Vec<TemplateId>> = index
        .templates()
        .map(|(id, template)| existing_calls(index, graphs, id, template).map(|(id, _)| id).collect())
        .collect();
    let found = order(&calls);
    for cycle in &found.cycles {
        report_recursion(index, cycle);
    }
    if found.cycles.is_empty() {
        check_depth(index, graphs, &found.order);
    }
    warn_unreachable(index);
}

/// Every call of a template that exists, of tasks that exist.
fn existing_calls<'a>(
    index: &Index<'a>,
    graphs: &'a Graphs,
    id: TemplateId,
    template: &'a TemplateDoc,
) -> impl Iterator<Item = (TemplateId, CallSite<'a>)> {
    let dropped: BTreeSet<&str> = match (&template.kind, graphs.get(&id)) {
        (KindDoc::Dag(dag), Some(graph)) => {
            let tasks = dag.tasks.list.iter().zip(&graph.kept).filter(|(_, kept)| !**kept);
            tasks.filter_map(|(task, _)| task.name.as_ref()).map(|name| &*name.value).collect()
        }
        _ => BTreeSet::new(),
    };
    let found = calls_of(template).into_iter().filter(move |call| !dropped.contains(call.task));
    found.filter_map(|call| index.find(call.name).map(|(id, _)| (id, call))).collect::<Vec<_>>().into_iter()
}

fn report_recursion(index: &Index<'_>, cycle: &[TemplateId]) {
    let name = |id: &TemplateId| index.template(*id)?.name.as_ref().map(|name| name.value.clone());
    let mut names: Vec<_> = cycle.iter().filter_map(name).collect();
    names.extend(names.first().cloned());
    let Some(first) = cycle.first().and_then(|id| index.template(*id)) else { return };
    let call = calls_of(first).into_iter().find(|call| Some(&call.name.value) == names.get(1));
    let site = call.map_or(&first.site, |call| &call.name.site);
    let message = format!("template reaches itself: {}; expected calls without a cycle", names.join(" → "));
    index.report.problem(site.problem(&RECURSION, message).with_hint("to repeat something, use a loop"));
}

/// The levels below each template, and through which call the deepest lies.
fn check_depth(index: &Index<'_>, graphs: &Graphs, order: &[TemplateId]) {
    let mut heights = vec![0_usize; order.len()];
    for id in order {
        let Some(template) = index.template(*id) else { continue };
        let below = existing_calls(index, graphs, *id, template).filter_map(|(id, _)| heights.get(id)).max();
        let is_leaf = matches!(&template.kind, KindDoc::Task(_)) && below.is_none();
        if let (false, below) = (is_leaf, below.copied().unwrap_or(0))
            && let Some(slot) = heights.get_mut(*id)
        {
            *slot = below + 1;
        }
    }
    let root = index.doc.spec.entrypoint.as_ref().and_then(|name| index.find(name));
    let Some((root, _)) = root else { return };
    let height = heights.get(root).copied().unwrap_or(0);
    if height > index.doc.spec.max_nested_depth {
        report_depth(index, graphs, &heights, root);
    }
}

/// Points to the call that leads below the last allowed level.
fn report_depth(index: &Index<'_>, graphs: &Graphs, heights: &[usize], root: TemplateId) {
    let most = index.doc.spec.max_nested_depth;
    let deepest = heights.get(root).copied().unwrap_or(0);
    let (mut at, mut level, mut names) = (root, 0, Vec::new());
    let mut site = index.doc.spec.entrypoint.as_ref().map(|name| name.site.clone());
    while let Some(template) = index.template(at) {
        names.extend(template.name.as_ref().map(|name| name.value.to_string()));
        let next =
            existing_calls(index, graphs, at, template).max_by_key(|(id, _)| heights.get(*id).copied());
        let Some((id, call)) = next.filter(|_| level <= most) else { break };
        (at, level, site) = (id, level + 1, Some(call.name.site.clone()));
    }
    let Some(site) = site else { return };
    let message = format!(
        "{} leads to level {deepest}; expected at most {most} (spec.maxNestedDepth)",
        names.join(" → ")
    );
    let problem = site.problem(&TOO_DEEP, message);
    index.report.problem(problem.with_hint("raise spec.maxNestedDepth (up to 10), or nest less"));
}

fn warn_unreachable(index: &Index<'_>) {
    let reached = reachable(index);
    // With an unreadable entrypoint or template nothing can be said.
    let Some(entrypoint) = &index.doc.spec.entrypoint else { return };
    if !index.doc.spec.sound || index.find(entrypoint).is_none() {
        return;
    }
    for (id, template) in index.templates() {
        let Some(name) = template.name.as_ref().filter(|_| !reached.contains(&id)) else { continue };
        let message = format!(
            "template `{}` is never called; expected a call from the entrypoint or a hook",
            name.value
        );
        index.report.warning(name.problem(&UNREACHABLE_TEMPLATE, message));
    }
}

/// Returns the templates that the entrypoint and the hooks lead to.
fn reachable(index: &Index<'_>) -> BTreeSet<TemplateId> {
    let spec = &index.doc.spec;
    let hooks = spec.hooks.iter().filter_map(|hook| hook.template.as_ref());
    let mut open: Vec<TemplateId> =
        spec.entrypoint.iter().chain(hooks).filter_map(|name| index.find(name)).map(|(id, _)| id).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id) {
            continue;
        }
        let Some(template) = index.template(id) else { continue };
        let calls = calls_of(template).into_iter().map(|call| call.name);
        let hooks = hooks_of(template).filter_map(|hook| hook.template.as_ref());
        open.extend(calls.chain(hooks).filter_map(|name| index.find(name)).map(|(id, _)| id));
    }
    reached
}
