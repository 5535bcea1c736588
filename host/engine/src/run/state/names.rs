//! Names of task runs: their ids, paths and labels.

use super::{Place, State, TaskRun};
use crate::{event::TaskId, value::Value};

impl State {
    /// A task run's id: its run's, and its number.
    #[must_use]
    pub fn task_run_id(&self, id: TaskId) -> String {
        format!("{}-{id}", self.id())
    }

    /// `scope/taskName`; for the root, its name.
    #[must_use]
    pub fn path(&self, task: &TaskRun) -> String {
        let mut path = self.scope_path(task);
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&self.node(task).name);
        path
    }

    /// The name of a task run among its siblings: `taskName`, after the part of the scope that it stands in, as `loop[3] work`, or
    /// after its number in the order of execution, as `4. fetch` in a pipeline that has jumped.
    #[must_use]
    pub fn label(&self, task: &TaskRun) -> String {
        let (part, name) = (part_of(task), &self.node(task).name);
        if let Some(number) = self.entry_number(task) {
            return format!("{number}. {name}");
        }
        part.strip_prefix('.').map_or_else(|| name.to_string(), |part| format!("{part} {name}"))
    }

    /// The task run that another is shown under: the container whose child, or the task run whose hook it is.
    #[must_use]
    pub fn above(&self, task: &TaskRun) -> Option<&TaskRun> {
        self.parent(task).or_else(|| task.hook.map(|hook| &self[hook.task]))
    }

    /// `scope`: the path of what a task run stands in, empty for the root; of a hook run what it is a hook of, as
    /// `main/a.hook[onExit]`.
    #[must_use]
    pub fn scope_path(&self, task: &TaskRun) -> String {
        let mut around = Vec::new();
        let mut part = part_of(task);
        let mut above = self.above(task);
        while let Some(container) = above {
            around.push((&self.node(container).name, part));
            (part, above) = (part_of(container), self.parent(container));
        }
        let mut path = String::new();
        for (name, part) in around.into_iter().rev() {
            path.push_str(if path.is_empty() { "" } else { "/" });
            path.push_str(name);
            path.push_str(&part);
        }
        path
    }
}

impl State {
    /// Returns the item of the innermost iteration that a task run stands in: by it people tell one iteration from another. `None`
    /// outside of loops, and in loops that repeat on a condition.
    #[must_use]
    pub fn item_around(&self, task: &TaskRun) -> Option<&Value> {
        let around = std::iter::successors(Some(task), |inner| self.parent(inner));
        around.into_iter().find_map(|task| self.item(task))
    }
}

/// The part of its container that a task run stands in, as paths show it.
fn part_of(task: &TaskRun) -> String {
    match task.place {
        Place::Root | Place::Dag(..) | Place::Entry(_, _, 0) => String::new(),
        Place::Iteration(_, index) => format!(".loop[{index}]"),
        Place::Attempt(_, number) => format!(".attempt[{number}]"),
        Place::Entry(_, _, jumps) => format!(".entry[{jumps}]"),
        Place::Hook(_) => task.hook.map_or_else(String::new, |hook| format!(".hook[{}]", hook.kind.as_str())),
    }
}
