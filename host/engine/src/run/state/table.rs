//! Task runs and scopes by their indices. An index is made together with its row, and rows stay, so no index dangles.

use std::ops::{Index, IndexMut};

use super::{Scope, ScopeIndex, TaskIndex, TaskRun, task::InitialValues};
use crate::event::TaskId;

/// All task runs and scopes of a run, in creation order. The root is always there, and nothing is ever taken out.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    nothing: InitialValues,
    tasks: Vec<TaskRun>,
    scopes: Vec<Scope>,
}

impl Tables {
    pub(super) fn new(root: impl FnOnce(TaskIndex, &InitialValues) -> TaskRun) -> Self {
        let nothing = InitialValues::default();
        Self { tasks: vec![root(TaskIndex::ROOT, &nothing)], scopes: Vec::new(), nothing }
    }

    /// Returns the shared initial values of a task run.
    pub(super) fn nothing(&self) -> &InitialValues {
        &self.nothing
    }

    pub(super) fn tasks(&self) -> &[TaskRun] {
        &self.tasks
    }

    pub(super) fn tasks_mut(&mut self) -> &mut [TaskRun] {
        &mut self.tasks
    }

    /// The task run of a number that came from outside.
    pub(super) fn find(&self, id: TaskId) -> Option<TaskIndex> {
        (id.index() < self.tasks.len()).then(|| TaskIndex::new(id))
    }

    /// The number of the task run that comes to be next; it leads nowhere yet.
    pub(super) fn next_id(&self) -> TaskId {
        TaskId(count(self.tasks.len()))
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.tasks.reserve(more);
    }

    /// Adds the task run that `made` makes for its number.
    pub(super) fn add(&mut self, made: impl FnOnce(TaskIndex, &Self) -> TaskRun) -> TaskIndex {
        let index = TaskIndex::new(self.next_id());
        let task = made(index, self);
        self.tasks.push(task);
        index
    }

    pub(super) fn add_scope(&mut self, scope: Scope) -> ScopeIndex {
        let index = ScopeIndex::new(count(self.scopes.len()));
        self.scopes.push(scope);
        index
    }
}

/// A length or position as the engine counts; more than 2^32 of anything does not fit into memory.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The only look-ups by number: an index is made when its row is added, and rows stay.
#[expect(clippy::indexing_slicing, reason = "an index is made with its row, and rows stay")]
mod rows {
    use super::{Index, IndexMut, Scope, ScopeIndex, Tables, TaskIndex, TaskRun};

    impl Index<TaskIndex> for Tables {
        type Output = TaskRun;

        fn index(&self, index: TaskIndex) -> &TaskRun {
            &self.tasks[index.position()]
        }
    }

    impl IndexMut<TaskIndex> for Tables {
        fn index_mut(&mut self, index: TaskIndex) -> &mut TaskRun {
            &mut self.tasks[index.position()]
        }
    }

    impl Index<ScopeIndex> for Tables {
        type Output = Scope;

        fn index(&self, index: ScopeIndex) -> &Scope {
            &self.scopes[index.position()]
        }
    }

    impl IndexMut<ScopeIndex> for Tables {
        fn index_mut(&mut self, index: ScopeIndex) -> &mut Scope {
            &mut self.scopes[index.position()]
        }
    }
}
