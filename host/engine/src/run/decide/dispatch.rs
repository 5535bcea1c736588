//! From the queue to the executor's side.

use std::sync::Arc;

use super::{Run, bind::LeafBound, node_at};
use crate::{
    event::{Binding, Bindings, Bound, Clock, Command, Dispatch, TaskId, With},
    outcome::Outcome,
    phase::Phase,
    plan::{ExecutorCall, Work},
    run::state::TaskRun,
    time::Timestamp,
};

impl Run {
    /// Dispatches the next leaves, as many as slots and limits allow (R-P5, R-S11).
    pub(in crate::run) fn dispatch_up_to(&mut self, slots: u32) {
        let mut left = slots;
        while left > 0 {
            let Some(id) = self.next_leaf() else { return };
            left -= u32::from(self.dispatch(id));
            self.settle();
        }
    }

    /// The leaf whose turn it is: hook runs first, which no limit holds (R-S12).
    fn next_leaf(&mut self) -> Option<TaskId> {
        if let Some((_, &hook)) = self.hook_queue.first_key_value() {
            return Some(hook);
        }
        while self.plan.parallelism.is_none_or(|most| self.in_flight < most) {
            let (&key, &id) = self.queue.first_key_value()?;
            let Some(full) = self.full_limit(id) else { return Some(id) };
            self.queue.remove(&key);
            self.put(key, Some(full));
            self.offer_places(id);
        }
        None
    }

    /// Begins an attempt; true if an executor is asked to run it.
    fn dispatch(&mut self, id: TaskId) -> bool {
        let bound = match self.bind_leaf(id) {
            Ok(bound) => bound,
            Err(message) => {
                self.end_without_attempt(id, Phase::Error, None, message);
                return false;
            }
        };
        let with = bound.map(|LeafBound { inputs, config }| With::Bound { inputs, config });
        self.set_phase(id, Phase::Ready, None, with);
        self.promote(id, Phase::Ready);
        let Some(task) = self.task(id) else { return false };
        if task.clocks.timeout.is_some_and(|at| at <= self.now) {
            let message = "the task's timeout passed before this attempt could start";
            self.conclude(id, Outcome::timeout(message), Some(Clock::Timeout));
            return false;
        }
        self.command_dispatch(id);
        true
    }

    /// Binds inputs and configuration at the first dispatch; later attempts reuse them (R-R6). A hook run was bound
    /// when it was fired.
    fn bind_leaf(&mut self, id: TaskId) -> Result<Option<LeafBound>, String> {
        match self.task(id) {
            Some(task) if task.hook.is_some() => Ok(None),
            Some(task) if task.dispatched_at.is_none() || task.rebind => self.bind(id).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    pub(in crate::run) fn command_dispatch(&mut self, id: TaskId) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let node = node_at(&plan, task.place);
        let Work::Executor(call) = &node.work else { return };
        let ExecutorCall { executor_type, memory, .. } = call.as_ref();
        let dispatch = Dispatch {
            fence: task.fence(),
            task_name: node.name.clone(),
            executor_type: executor_type.clone(),
            resumed: task.resumed,
            config: task.config.clone(),
            inputs: overlaid(task),
            memory: *memory,
            deadline: self.attempt_deadline(task),
            max_runtime: node.settings.max_runtime.map(|policy| policy.timeout),
            max_inactivity: node.settings.max_inactivity.map(|policy| policy.timeout),
        };
        self.step.commands.push(Command::Dispatch(dispatch));
    }

    /// The earliest absolute clock of this task and of everything around it (R-T8). No scope and no end of the run
    /// bounds a hook run (R-S12).
    fn attempt_deadline(&self, task: &TaskRun) -> Option<Timestamp> {
        let whole_run = self.deadline_at.filter(|_| task.hook.is_none());
        let mut earliest = [task.clocks.absolute(), whole_run].into_iter().flatten().min();
        let mut parent = task.parent;
        while let Some(container) = parent.and_then(|id| self.task(id)) {
            let clocks = container.clocks;
            earliest = [earliest, clocks.absolute(), clocks.max_runtime].into_iter().flatten().min();
            parent = container.parent;
        }
        earliest
    }
}

/// Inputs with the payloads of this attempt laid over them (R-S9).
fn overlaid(task: &TaskRun) -> Bindings {
    if task.payload.is_empty() {
        return Arc::clone(&task.inputs);
    }
    let mut inputs: Vec<Binding> =
        task.inputs.iter().filter(|b| !task.payload.contains_key(&b.name)).cloned().collect();
    inputs.extend(
        task.payload
            .iter()
            .map(|(name, value)| Binding { name: name.clone(), bound: Bound::Value(value.clone()) }),
    );
    Arc::new(inputs)
}
