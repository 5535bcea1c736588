//! Task runs that a workflow needs at least: more than a run may have can never run.

use std::collections::BTreeMap;

use crate::{
    document::{KindDoc, LoopDoc, OverDoc, TemplateDoc},
    form::Site,
    plan::{
        MAX_TASK_RUNS, TemplateId,
        resolve::{
            graph::Graphs,
            index::{Callee, Index},
        },
    },
    problem::codes::shape::OUT_OF_RANGE,
};

/// Reports the innermost template that needs too many task runs.
pub(super) fn check(index: &Index<'_>, graphs: &Graphs) {
    let Some(entrypoint) = &index.doc.spec.entrypoint else { return };
    let mut sizes = Sizes { index, graphs, known: BTreeMap::new() };
    let whole = sizes.of_call(index.called(entrypoint));
    if whole <= MAX_TASK_RUNS {
        return;
    }
    // A template is known before those that call it.
    let large = index.templates().filter_map(|(id, template)| Some((*sizes.known.get(&id)?, template)));
    let found = large.filter(|(size, _)| *size >= MAX_TASK_RUNS).min_by_key(|(size, _)| *size);
    let (size, site) =
        found.map_or((whole, &entrypoint.site), |(size, template)| (size + 1, site_of(template)));
    let message = format!("{size} task runs at least; expected at most {MAX_TASK_RUNS} in a run");
    let hint = "let an iteration do more, or start several runs";
    index.report.problem(site.problem(&OUT_OF_RANGE, message).with_hint(hint));
}

/// Where the number of iterations of a loop is written; of others the template.
fn site_of(template: &TemplateDoc) -> &Site {
    match &template.kind {
        KindDoc::Loop(read) => read.over_site.as_ref().unwrap_or(&template.site),
        KindDoc::Task(_) | KindDoc::Dag(_) | KindDoc::Pipeline(_) => &template.site,
    }
}

struct Sizes<'i, 'a> {
    index: &'i Index<'a>,
    graphs: &'i Graphs,
    /// Task runs inside of a template.
    known: BTreeMap<TemplateId, usize>,
}

impl<'a> Sizes<'_, 'a> {
    /// Counts a call and what is in it. Whatever a condition may leave out is not counted.
    fn of_call(&mut self, callee: Callee<'a>) -> usize {
        let inside = match callee {
            Callee::Inline | Callee::Leaf(..) | Callee::Unknown => 0,
            Callee::Wrapper(_, template) => match self.index.wrapped(template) {
                Some((id, wrapped)) => self.of_template(id, wrapped).saturating_add(1),
                None => 0,
            },
            Callee::Container(id, template) => self.of_template(id, template),
        };
        inside.saturating_add(1)
    }

    fn of_template(&mut self, id: TemplateId, template: &'a TemplateDoc) -> usize {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        // A template that calls itself ends here.
        self.known.insert(id, 0);
        let size = match &template.kind {
            KindDoc::Task(_) => 0,
            KindDoc::Loop(read) => {
                let each = read.body.as_ref().map_or(0, |body| self.of_call(self.index.called(body)));
                iterations(read).saturating_mul(each)
            }
            KindDoc::Dag(dag) => {
                let graph = self.graphs.get(&id);
                let kept = dag
                    .tasks
                    .list
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| graph.is_none_or(|graph| graph.is_kept(*at)));
                let sizes = kept.map(|(_, task)| match task.when {
                    Some(_) => 1,
                    None => self.of_call(self.index.callee(task)),
                });
                sizes.fold(0, usize::saturating_add)
            }
            KindDoc::Pipeline(pipeline) => {
                let tasks = &pipeline.tasks.list;
                let first = tasks.first().filter(|first| first.when.is_none());
                let inside =
                    first.map_or(0, |first| self.of_call(self.index.callee(first)).saturating_sub(1));
                tasks.len().saturating_add(inside)
            }
        };
        self.known.insert(id, size);
        size
    }
}

/// The iterations of a loop, as far as they are written.
fn iterations(read: &LoopDoc) -> usize {
    let written = match &read.over {
        OverDoc::Items(items) => items.len(),
        OverDoc::Sequence(values) => values.len(),
        OverDoc::Repeat(_) => 1,
        OverDoc::ItemsFrom(_) | OverDoc::Unreadable => 0,
    };
    read.max_iterations.map_or(written, |most| written.min(most as usize))
}
