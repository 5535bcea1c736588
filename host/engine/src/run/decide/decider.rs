//! The tools for decisions: the state to read, and the two ways to act, events and commands.

use std::{collections::VecDeque, ops::Deref, sync::Arc};

use crate::{
    event::{Command, Event, Fence, PhaseChange, PhaseData, Reason, Warning},
    phase::Phase,
    plan::{Node, Plan},
    run::{
        Step,
        state::{State, TaskIndex, TaskRun, Wait, node_at},
    },
    time::Timestamp,
    weight::Weight,
};

/// Decides the consequences of one input. The state is readable through [`Deref`]; it changes only by [`emit`](Self::emit) and by
/// the operations for time and slots.
///
/// Consequences to be decided later in the step (a task became ready, a child has ended) are queued in a worklist that is empty
/// again before the step ends, so that no depth of nesting or length of chain recurses.
pub(in crate::run) struct Decider<'r> {
    plan: &'r Plan,
    state: &'r mut State,
    step: Step,
    /// Weight of the step's events.
    weight: Weight,
    work: &'r mut Worklist,
    /// Iterations of do-while loops that had nothing to dispatch, in this step.
    idle_iterations: u32,
    dropped: u64,
    /// A decision was refused: nothing is decided any more.
    broken: bool,
}

/// Work left in a step. The list is empty between two steps, and kept for its allocation.
pub(in crate::run) type Worklist = VecDeque<WorkItem>;

/// Work that a decision left within the same step.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) enum WorkItem {
    /// A task run has ended.
    Ended(TaskIndex),
    /// All dependencies of a task are satisfied.
    Ready(TaskIndex),
}

impl Deref for Decider<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state
    }
}

impl<'r> Decider<'r> {
    /// Begins a step at `now`.
    pub(in crate::run) fn new(
        plan: &'r Plan,
        state: &'r mut State,
        work: &'r mut Worklist,
        now: Timestamp,
    ) -> Self {
        state.pass_time(now);
        let (step, weight) = (Step::default(), Weight::default());
        Self { plan, state, step, weight, work, idle_iterations: 0, dropped: 0, broken: false }
    }

    /// Returns the step, and the number of inputs that no longer applied.
    pub(in crate::run) fn finish(self) -> (Step, u64) {
        (Step { bytes: self.weight.bytes(), ..self.step }, self.dropped)
    }

    pub(super) fn weight(&mut self) -> &mut Weight {
        &mut self.weight
    }

    pub(super) fn plan(&self) -> &'r Plan {
        self.plan
    }

    /// The node of the plan a task run executes.
    pub(super) fn node(&self, task: &TaskRun) -> &'r Node {
        node_at(self.plan, task.place)
    }

    /// Applies an event and keeps it for the step's record.
    pub(in crate::run) fn emit(&mut self, event: Event) {
        if self.broken {
            return;
        }
        match self.state.apply(&event) {
            Ok(()) => self.step.events.push(event),
            Err(impossible) => self.break_off(&event, &impossible),
        }
    }

    /// Ends the run after an impossible decision, which is a fault of this crate: nothing illegal is recorded (R-P2), and the run
    /// does not continue from an unintended state.
    fn break_off(&mut self, event: &Event, impossible: &str) {
        let name = event.name();
        self.give_up(&format!(
            "the engine decided `{name}`, which cannot follow: {impossible}; this is a fault of Phasm itself"
        ));
    }

    /// The run ends here as Error, and everything open in it as Cancelled.
    pub(in crate::run) fn give_up(&mut self, message: &str) {
        let in_flight: Vec<Fence> =
            self.tasks().iter().filter(|task| task.in_flight()).map(TaskRun::fence).collect();
        let was_open = !self.phase().is_terminal();
        self.emit(Event::Broken(message.into()));
        if was_open {
            self.emit(Event::RunPhase(Phase::Error));
        }
        self.broken = true;
        self.work.clear();
        self.step.commands.retain(|command| matches!(command, Command::Abort(_)));
        self.step.commands.extend(in_flight.into_iter().map(Command::Abort));
    }

    /// Asks the host for something, once the events are durable.
    pub(super) fn command(&mut self, command: Command) {
        if !self.broken {
            self.step.commands.push(command);
        }
    }

    /// Changes a task run's phase, then fires the hooks that are about it.
    pub(super) fn set_phase(
        &mut self,
        id: TaskIndex,
        to: Phase,
        reason: Option<Reason>,
        with: Option<PhaseData>,
    ) {
        let (from, first) = (self[id].phase, self[id].started_at.is_none());
        let (to, with) = self.fitted(to, with);
        self.emit(Event::Phase(PhaseChange { task: id.into(), from, to, reason, with: with.map(Box::new) }));
        if id == TaskIndex::ROOT && self.phase() != to {
            self.emit(Event::RunPhase(to));
        }
        self.fire_hooks(id, from, first);
        if to.is_terminal() {
            self.work.push_back(WorkItem::Ended(id));
        }
    }

    pub(super) fn warn(&mut self, task: Option<TaskIndex>, code: &str, message: impl Into<Arc<str>>) {
        let (task, code, message) =
            (task.map(TaskIndex::into), code.into(), self.fitted_text(message.into()));
        self.emit(Event::Warning(Box::new(Warning { task, code, message })));
    }

    /// An input that no longer applies (late, doubled, of another dispatch) changes nothing and is counted (R-P3).
    pub(super) fn drop_input(&mut self) {
        self.dropped += 1;
    }

    /// Works off what decisions left to do.
    pub(in crate::run) fn settle(&mut self) {
        while !self.broken {
            self.work.extend(self.state.take_ready().map(WorkItem::Ready));
            match self.work.pop_front() {
                None => break,
                Some(WorkItem::Ended(task)) => self.ended(task),
                Some(WorkItem::Ready(task)) => self.became_ready(task),
            }
        }
    }

    /// Takes the next wait that is due at `until`.
    pub(super) fn take_due(&mut self, until: Timestamp) -> Option<Wait> {
        self.state.take_due(until)
    }

    /// The leaf whose turn it is.
    pub(super) fn next_leaf(&mut self) -> Option<TaskIndex> {
        self.state.next_leaf()
    }

    /// A delay is over.
    pub(super) fn wake(&mut self, id: TaskIndex) {
        self.state.wake(id);
    }

    /// Marks an attempt as lost: it did not run while the run had no driver.
    pub(super) fn lose_attempt(&mut self, id: TaskIndex) {
        self.state.lose_attempt(id);
    }

    /// Counts one more iteration with nothing to dispatch, and tells how many there were in this step: time does not
    /// pass between them.
    pub(super) fn count_idle(&mut self) -> u32 {
        self.idle_iterations += 1;
        self.idle_iterations
    }
}

#[cfg(test)]
mod tests;
