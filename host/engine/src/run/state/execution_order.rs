//! The order in which task runs were executed, which in a pipeline with jumps is not that of their creation.

use super::{State, TaskRun};

impl State {
    /// The direct children of a container or wrapper in the order of execution; tasks that a pipeline has not entered come last.
    #[must_use]
    pub fn children_in_order(&self, task: &TaskRun) -> Vec<&TaskRun> {
        let mut children: Vec<_> = self.children(task).collect();
        if self.has_jumped(task) {
            children.sort_by_key(|child| place_in_order(child));
        }
        children
    }

    /// All task runs in the order of execution: where a pipeline has jumped, its tasks take the places that they have among the
    /// others in another order.
    #[must_use]
    pub fn tasks_in_order(&self) -> Vec<&TaskRun> {
        let mut tasks: Vec<_> = self.tasks().iter().collect();
        for pipeline in self.tasks().iter().filter(|task| self.has_jumped(task)) {
            for (place, child) in self.children(pipeline).zip(self.children_in_order(pipeline)) {
                if let Some(slot) = tasks.get_mut(place.id.index()) {
                    *slot = child;
                }
            }
        }
        tasks
    }

    /// The number of an entry of a pipeline that has jumped, from 1 in the order of execution. None elsewhere: without jumps the
    /// order is that of the workflow.
    #[must_use]
    pub fn entry_number(&self, task: &TaskRun) -> Option<u32> {
        let pipeline = self.parent(task).filter(|parent| self.has_jumped(parent));
        pipeline.map(|_| task.entry).filter(|entry| *entry > 0)
    }

    fn has_jumped(&self, task: &TaskRun) -> bool {
        self.scope(task).and_then(|scope| scope.pipeline()).is_some_and(|progress| progress.jumps > 0)
    }
}

/// Returns the place of a task among its siblings; one that was never entered comes last.
fn place_in_order(task: &TaskRun) -> u32 {
    if task.entry == 0 { u32::MAX } else { task.entry }
}
