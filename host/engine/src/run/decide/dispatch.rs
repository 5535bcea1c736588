//! From the queue to the executor's side.

use std::sync::Arc;

use super::{Decider, bind::LeafBindings, room::add_inputs};
use crate::{
    event::{Binding, Bindings, Command, Dispatch, InputValue, PhaseData},
    phase::Phase,
    plan::{ExecutorCall, Work},
    run::state::{QueueState, State, TaskIndex, TaskRun},
    time::Timestamp,
    value::Value,
};

/// Name under which the configuration of a resumed attempt has the caller that resumed it; null if the caller is not known.
const RESUMED_BY: &str = "phasm.resumedBy";

impl Decider<'_> {
    /// Dispatches the next leaves, as many as slots, limits and the step's record allow (R-P5, R-S11, R-H8).
    pub(super) fn dispatch_up_to(&mut self, slots: u32) {
        let mut left = slots;
        while left > 0 && !self.is_full() {
            let Some(id) = self.next_leaf() else { return };
            left -= u32::from(self.dispatch(id));
            self.settle();
        }
    }

    /// Begins an attempt; true if an executor is asked to run it.
    fn dispatch(&mut self, id: TaskIndex) -> bool {
        if self.is_timed_out(id) {
            self.task_timed_out(id);
            return false;
        }
        let due = self.due(id);
        let bound = match self.bind_leaf(id) {
            Ok(bound) => bound,
            Err(message) => {
                self.end_without_attempt(id, Phase::Error, None, message);
                return false;
            }
        };
        let with = bound.map(|LeafBindings { inputs, config }| PhaseData::Bound { inputs, config });
        self.set_phase(id, Phase::Ready, None, with);
        self.promote(id, Phase::Ready);
        self.command_dispatch(id, due);
        true
    }

    /// Whether no time is left for another attempt, although its clock has not been served at this instant.
    pub(super) fn is_timed_out(&self, id: TaskIndex) -> bool {
        self[id].clocks.timeout.is_some_and(|at| at <= self.now())
    }

    fn due(&self, id: TaskIndex) -> Timestamp {
        match self[id].turn {
            QueueState::Queued(since) | QueueState::Blocked(since, _) => since.at,
            QueueState::Elsewhere => self.now(),
        }
    }

    /// Binds inputs and configuration at the first dispatch; later attempts reuse them (R-R6). A hook run was bound
    /// when it was fired.
    fn bind_leaf(&mut self, id: TaskIndex) -> Result<Option<LeafBindings>, String> {
        let task = &self[id];
        let is_bound = task.hook.is_some() || (task.dispatched_at.is_some() && !task.rebind);
        if is_bound {
            return Ok(None);
        }
        let bound = self.bind(id)?;
        self.make_room(|weight| {
            add_inputs(weight, &bound.inputs);
            weight.add(&bound.config);
        })?;
        Ok(Some(bound))
    }

    pub(super) fn command_dispatch(&mut self, id: TaskIndex, due: Timestamp) {
        let task = &self[id];
        let node = self.node(task);
        let Work::Executor(call) = &node.work else { return };
        let ExecutorCall { executor_type, memory, .. } = call.as_ref();
        let dispatch = Dispatch {
            fence: task.fence(),
            task_name: node.name.clone(),
            executor_type: executor_type.clone(),
            due,
            resumed: task.resumed,
            config: config_of(task),
            inputs: overlaid(task),
            memory: *memory,
            deadline: attempt_deadline(self, task),
            max_runtime: node.settings.max_runtime.map(|policy| policy.timeout),
            max_inactivity: node.settings.max_inactivity.map(|policy| policy.timeout),
        };
        self.command(Command::Dispatch(dispatch));
    }
}

/// The earliest absolute clock of this task and of everything around it (R-T8). No scope and no end of the run
/// bounds a hook run (R-S12).
fn attempt_deadline(state: &State, task: &TaskRun) -> Option<Timestamp> {
    let whole_run = state.times().deadline_at.filter(|_| task.hook.is_none());
    let around = std::iter::successors(state.parent(task), |container| state.parent(container));
    let around = around.flat_map(|container| [container.clocks.absolute(), container.clocks.max_runtime]);
    [task.clocks.absolute(), whole_run].into_iter().chain(around).flatten().min()
}

/// The configuration; with the caller that has resumed it in an attempt that is resumed, which no workflow and no response can
/// set (R-S15).
fn config_of(task: &TaskRun) -> Value {
    if !task.resumed {
        return task.config.clone();
    }
    let by = task.resumed_by().map_or(Value::Null, |by| Arc::clone(by.text()).into());
    let mut config = task.config.as_object().cloned().unwrap_or_default();
    config.insert(RESUMED_BY.into(), by);
    config.into()
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
            .map(|(name, value)| Binding { name: name.clone(), value: InputValue::Value(value.clone()) }),
    );
    Arc::new(inputs)
}
