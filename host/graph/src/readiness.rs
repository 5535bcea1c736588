//! Time when a task run became ready: from then on only a slot, a place or its executor held it.

use phasm_engine::{
    run::{Place, Run, TaskRun},
    time::Timestamp,
};

/// Returns the time when a task run became ready; `None` if tasks before it are still open, or it was never reached.
pub(crate) fn ready_at(run: &Run, task: &TaskRun) -> Option<Timestamp> {
    if task.unmet > 0 {
        return None;
    }
    let held_until = match task.place {
        Place::Root | Place::Hook(_) | Place::Attempt(..) => None,
        Place::Dag(..) => end_of_dependencies(run, task),
        Place::Entry(..) if task.entry == 0 => return None,
        Place::Entry(..) => end_of_entry(run, task, task.entry - 1),
        Place::Iteration(_, index) => begin_of_iteration(run, task, usize::try_from(index).ok()?),
    };
    Some(held_until.unwrap_or(task.created_at).max(task.created_at))
}

fn end_of_dependencies(run: &Run, task: &TaskRun) -> Option<Timestamp> {
    let dag = run.parent(task)?;
    let before = run.node(task).dependencies.iter().filter_map(|at| run.children(dag).nth(*at));
    before.filter_map(|before| before.finished_at).max()
}

/// Returns the end of the task that a pipeline entered as that number.
fn end_of_entry(run: &Run, task: &TaskRun, entry: u32) -> Option<Timestamp> {
    run.children(run.parent(task)?).find(|before| before.entry == entry)?.finished_at
}

/// Returns the time when `concurrency` let an iteration begin: each end makes room for the next.
fn begin_of_iteration(run: &Run, task: &TaskRun, index: usize) -> Option<Timestamp> {
    let each = run.parent(task)?;
    let at_once = usize::try_from(run.plan().loop_of(run.node(each))?.concurrency?).ok()?;
    let ends_before = index.checked_sub(at_once)?;
    let mut ends: Vec<_> = run.children(each).filter_map(|other| other.finished_at).collect();
    ends.sort_unstable();
    ends.get(ends_before).copied()
}
