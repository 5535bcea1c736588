//! Short paths in expressions.

use crate::{
    document::{self, KindDoc, ReadAt},
    form::Report,
    tree::{Span, Tree},
};

use super::Edits;

impl Edits<'_> {
    /// Leaves out `parameters` in `inputs.parameters.x` and `tasks.t.outputs.parameters.x`.
    pub(super) fn paths(&mut self, tree: &Tree) {
        let Some(doc) = document::read(tree, &Report::default()) else { return };
        let mut spans = Vec::new();
        {
            let mut each = |found: ReadAt<'_>| spans.push(found.site().span);
            doc.spec.arguments.each_read(&mut each);
            doc.spec.hooks.iter().for_each(|hook| hook.each_read(&mut each));
            for template in &doc.spec.templates {
                template.each_own_read(&mut each);
                let tasks = match &template.kind {
                    KindDoc::Dag(dag) => &dag.tasks.list,
                    KindDoc::Pipeline(pipeline) => &pipeline.tasks.list,
                    KindDoc::Task(_) | KindDoc::Loop(_) => continue,
                };
                tasks.iter().for_each(|task| task.each_read(&mut each));
            }
        }
        spans.into_iter().for_each(|span| self.path(span));
    }

    fn path(&mut self, span: Span) {
        let Some(path) = self.text.get(span.start..span.end) else { return };
        let Some(at) = middle(path) else { return };
        let start = span.start + at;
        if self.is_shared(span.start, span.end) {
            return;
        }
        self.by_place.insert((start, start + MIDDLE.len()), String::new());
    }
}

const MIDDLE: &str = ".parameters";

/// Where the segment to leave out begins, in a path that is written with dots alone.
fn middle(path: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !path.chars().all(is_word) {
        return None;
    }
    let segments: Vec<&str> = path.split('.').collect();
    let (before, name) = match segments.as_slice() {
        ["inputs", "parameters", name, ..] => ("inputs".len(), name),
        ["tasks", task, "outputs", "parameters", name, ..] => ("tasks..outputs".len() + task.len(), name),
        _ => return None,
    };
    (*name != "parameters" && !name.is_empty()).then_some(before)
}
