//! The instants that task runs wait for: set and dropped as events are applied.

use std::time::Duration;

use super::{State, TaskIndex, TaskRun, Wait, WaitKind};
use crate::{
    event::{Reason, TimeLimit},
    phase::Phase,
    text,
    time::{Millis, Timestamp},
};

/// For readers.
impl State {
    /// Returns how long a clock of a task run lets it go on; `spec.timeout` is the run's.
    #[must_use]
    pub fn limit_of(&self, task: &TaskRun, clock: TimeLimit) -> Option<Millis> {
        let settings = &self.node(task).settings;
        match clock {
            TimeLimit::Timeout => settings.timeout,
            TimeLimit::MaxRuntime => settings.max_runtime.map(|policy| policy.timeout),
            TimeLimit::MaxInactivity => settings.max_inactivity.map(|policy| policy.timeout),
            TimeLimit::Deadline => settings.deadline.map(|policy| policy.timeout),
            TimeLimit::SpecTimeout => self.plan.timeout,
        }
    }

    /// Returns the message of an end by a clock that has no other cause: `maxRuntime of 1s expired`.
    pub(in crate::run) fn expiry(&self, task: &TaskRun, clock: TimeLimit) -> String {
        // The length in the words of seed 003.
        let length = Duration::from_millis(self.limit_of(task, clock).unwrap_or_default());
        format!("{} of {} expired", clock.as_str(), humantime::format_duration(length))
    }

    /// Returns the message of a task run that has ended, unless it only says of a clock that it ran out, as [`State::exceeded`]
    /// does.
    #[must_use]
    pub fn cause<'t>(&self, task: &'t TaskRun) -> &'t str {
        let says_more = |clock| *self.expiry(task, clock) != *task.message;
        if task.clock.is_none_or(says_more) { &task.message } else { "" }
    }

    /// Names a clock that ran out for a task run: `exceeded maxRuntime (1 s)`.
    pub(in crate::run) fn limit_exceeded(&self, task: &TaskRun, clock: TimeLimit) -> String {
        let length = text::length(self.limit_of(task, clock).unwrap_or_default());
        format!("exceeded {} ({length})", clock.as_str())
    }

    /// Returns when `spec.timeout` runs out, unless there is none or it stands still.
    #[must_use]
    pub fn run_deadline(&self) -> Option<Timestamp> {
        self.times.deadline_at.filter(|_| self.still_since.is_none())
    }

    /// Returns the phase that the run's end counts as.
    #[must_use]
    pub fn counts_as(&self) -> Phase {
        Reason::counts_as(self.phase, self[TaskIndex::ROOT].reason)
    }

    /// Returns the clock that ended a task run, in words: `exceeded maxRuntime (1 s)`; of a container that ended by a clock of a
    /// task in it, also which task: `exceeded maxRuntime (1 s) in main/load`. None if no clock did.
    #[must_use]
    pub fn exceeded(&self, task: &TaskRun) -> Option<String> {
        let mut ended = task;
        loop {
            let by_clock = ended.phase == Phase::Timeout || ended.reason.is_some_and(Reason::is_clock);
            if let Some(clock) = ended.clock.filter(|_| by_clock) {
                let place =
                    if ended.id == task.id { String::new() } else { format!(" in {}", self.path(ended)) };
                return Some(format!("{}{place}", self.limit_exceeded(ended, clock)));
            }
            // A container has the phase of its worst failure.
            let worst = self.scope(ended)?.failures.worst().filter(|worst| worst.phase == ended.phase)?;
            ended = &self[worst.task];
        }
    }
}

impl State {
    /// Stops a `spec.timeout` of active time while the run only waits for people, and lets it go on afterwards (R-T15). Time
    /// passes between records only, so what changes within one record changes nothing.
    pub(super) fn pause_timeout(&mut self) {
        if !self.plan.timeout_pauses {
            return;
        }
        let Some(at) = self.times.deadline_at else { return };
        let wait = |at| Wait { at, kind: WaitKind::SpecTimeout, task: TaskIndex::ROOT };
        match (self.still_since, self.is_parked()) {
            (None, true) => {
                self.still_since = Some(self.now);
                self.agenda.waits.remove(wait(at));
            }
            (Some(since), false) => {
                let at = at.after(self.now.since(since));
                self.still_since = None;
                self.times.deadline_at = Some(at);
                if !self.phase.is_terminal() {
                    self.agenda.waits.insert(wait(at));
                }
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    pub(super) fn drop_waits(&mut self, id: TaskIndex) {
        self.stop_attempt_clock(id);
        let task = &self[id];
        let (clocks, depth) = (task.clocks, task.depth);
        let waits = [
            (clocks.timeout, WaitKind::Timeout),
            (clocks.timeout, WaitKind::ContainerTimeout { depth }),
            (clocks.deadline, WaitKind::Deadline),
        ];
        for (at, kind) in waits {
            if let Some(at) = at {
                self.agenda.waits.remove(Wait { at, kind, task: id });
            }
        }
    }

    pub(super) fn start_attempt_clock(&mut self, id: TaskIndex) {
        self.stop_attempt_clock(id);
        if let Some(policy) = self.node(&self[id]).settings.max_runtime {
            let at = self.now.after(policy.timeout);
            self.tables[id].clocks.max_runtime = Some(at);
            self.agenda.waits.insert(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        }
    }

    pub(super) fn stop_attempt_clock(&mut self, id: TaskIndex) {
        if let Some(at) = self.tables[id].clocks.max_runtime.take() {
            self.agenda.waits.remove(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        }
    }
}
