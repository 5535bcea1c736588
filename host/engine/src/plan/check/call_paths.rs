//! The ways in which templates are reached, as far as they matter to expressions.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    document::{KindDoc, ReadAt, TemplateDoc},
    form::{Name, Site},
    plan::{
        TemplateId,
        resolve::index::{CallSite, Index, calls_of, hooks_of},
    },
};

/// One way a template is reached.
pub(super) struct CallPath<'a> {
    pub(super) template: &'a TemplateDoc,
    pub(super) id: TemplateId,
    /// Whether an iteration of some loop is around it.
    pub(super) in_loop: bool,
    /// The name of the call, where the template asks for it.
    pub(super) task: Option<&'a str>,
    pub(super) via: Option<&'a Site>,
}

/// Every way a template is reached: from the entrypoint, from hooks, and from templates that nothing calls.
pub(super) fn call_paths<'a>(index: &Index<'a>) -> Vec<CallPath<'a>> {
    let mut open: Vec<CallPath<'a>> = roots(index);
    let mut asks = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(way) = open.pop() {
        let asks = *asks.entry(way.id).or_insert_with(|| asks_for_tasks(way.template));
        let task = way.task.filter(|_| asks);
        if !seen.insert((way.id, way.in_loop, task)) {
            continue;
        }
        for CallSite { name, task, is_body } in all_calls(way.template) {
            if let Some((id, template)) = index.find(name) {
                let in_loop = way.in_loop || is_body;
                open.push(CallPath { template, id, in_loop, task: Some(task), via: Some(&name.site) });
            }
        }
        found.push(CallPath { task, ..way });
    }
    found
}

/// Every call of a template, those of hooks included.
fn all_calls(template: &TemplateDoc) -> impl Iterator<Item = CallSite<'_>> {
    let hooks = hooks_of(template).filter_map(|hook| hook.template.as_ref());
    let hooks = hooks.map(|name| CallSite { name, task: &name.value, is_body: false });
    calls_of(template).into_iter().chain(hooks)
}

fn roots<'a>(index: &Index<'a>) -> Vec<CallPath<'a>> {
    let spec = &index.doc.spec;
    let find = |name: &Name| index.find(name);
    let hooks = spec.hooks.iter().filter_map(|hook| hook.template.as_ref());
    let named = spec.entrypoint.iter().chain(hooks).filter_map(find);
    let calls = index.templates().flat_map(|(_, template)| all_calls(template));
    let called: BTreeSet<TemplateId> = calls.filter_map(|call| find(call.name)).map(|(id, _)| id).collect();
    let uncalled = index.templates().filter(|(id, _)| !called.contains(id));
    let way = |(id, template): (TemplateId, &'a TemplateDoc)| {
        let task = template.name.as_ref().map(|name| &*name.value);
        CallPath { template, id, in_loop: false, task, via: None }
    };
    named.chain(uncalled).map(way).collect()
}

/// Whether a task template asks for tasks by other names than its own.
fn asks_for_tasks(template: &TemplateDoc) -> bool {
    let own = template.name.as_ref().map(|name| &*name.value);
    let KindDoc::Task(task) = &template.kind else { return false };
    let mut any = false;
    task.each_read(&mut |found: ReadAt<'_>| {
        let mut path = found.read.path.iter().map(|segment| &**segment);
        any |= path.next() == Some("tasks") && path.next() != own;
    });
    any
}
