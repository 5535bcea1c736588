//! How many executors a run can have at work at once, as far as its document alone says it.

use crate::document::{KindDoc, TaskDoc, TemplateDoc, WorkDoc};

use super::resolve::index::{Index, hooks_of};

/// Calls that are counted; with more it makes no difference how many there are.
const MAX_COUNTED_CALLS: u32 = 256;

/// The executors that can be at work at once; nothing where loops, pipelines or hooks leave it open, or where there are many.
pub(super) fn max_parallelism(index: &Index<'_>) -> Option<u32> {
    let open = |template: &TemplateDoc| {
        let repeats = matches!(template.kind, KindDoc::Loop(_) | KindDoc::Pipeline(_));
        repeats || hooks_of(template).next().is_some()
    };
    if !index.doc.spec.hooks.is_empty() || index.templates().any(|(_, template)| open(template)) {
        return None;
    }
    let (_, entrypoint) = index.find(index.doc.spec.entrypoint.as_ref()?)?;
    let mut left = MAX_COUNTED_CALLS;
    count(index, entrypoint, &mut left)?;
    Some(MAX_COUNTED_CALLS - left)
}

fn count(index: &Index<'_>, template: &TemplateDoc, left: &mut u32) -> Option<()> {
    match &template.kind {
        KindDoc::Task(task) => count_call(index, task, left),
        KindDoc::Dag(dag) => dag.tasks.list.iter().try_for_each(|task| count_call(index, task, left)),
        KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
    }
}

/// Every call counts, so that one in a circle comes to an end.
fn count_call(index: &Index<'_>, task: &TaskDoc, left: &mut u32) -> Option<()> {
    *left = left.checked_sub(1)?;
    match &task.work {
        WorkDoc::Executor(_) => Some(()),
        WorkDoc::Template(name) => count(index, index.find(name)?.1, left),
        WorkDoc::Unreadable => None,
    }
}
