//! Waits that are over.

use super::{Decider, attempt::end_of};
use crate::{
    event::{Command, Event, Fence, Reason, TaskId, TimeLimit},
    outcome::{Outcome, code},
    phase::Phase,
    run::state::{TaskIndex, TaskRun, WaitKind},
    time::Timestamp,
};

impl Decider<'_> {
    /// Serves every wait due at `until`, in the order of R-T7.
    pub(super) fn serve_waits(&mut self, until: Timestamp) {
        while let Some(wait) = self.take_due(until) {
            match wait.kind {
                WaitKind::SpecTimeout => self.spec_timed_out(),
                WaitKind::ContainerTimeout { .. } => self.container_timed_out(wait.task),
                WaitKind::Deadline => self.deadline_passed(wait.task),
                WaitKind::Timeout => self.task_timed_out(wait.task),
                WaitKind::MaxRuntime => self.attempt_expired(wait.task, TimeLimit::MaxRuntime),
                WaitKind::RetryWake => self.wake(wait.task),
            }
            self.settle();
        }
    }

    fn spec_timed_out(&mut self) {
        let message = self.expiry_around(TaskIndex::ROOT, TimeLimit::SpecTimeout, Reason::WorkflowTimeout);
        self.emit(Event::TimedOut(TaskId::ROOT, TimeLimit::SpecTimeout));
        self.close(TaskIndex::ROOT, Reason::WorkflowTimeout, Some((Phase::Timeout, message)));
    }

    fn container_timed_out(&mut self, id: TaskIndex) {
        let message = self.expiry_around(id, TimeLimit::Timeout, Reason::ScopeTimeout);
        self.emit(Event::TimedOut(id.into(), TimeLimit::Timeout));
        self.close_children(id, Reason::ScopeTimeout);
        self.finalise_as(id, Phase::Timeout, None, message.into());
    }

    /// `timeout`: ends the attempt with code 4, and the task with it, as no time is left for another (R-T2).
    pub(super) fn task_timed_out(&mut self, id: TaskIndex) {
        let is_open = self[id].has_open_attempt();
        self.emit(Event::TimedOut(id.into(), TimeLimit::Timeout));
        if is_open {
            let outcome = Outcome::timeout(self.expiry(&self[id], TimeLimit::Timeout));
            self.stop_work(id);
            self.conclude(id, outcome, Some(TimeLimit::Timeout));
        } else {
            let message = self.gave_up(id, "the task's timeout").unwrap_or_default();
            self.pass_ready(id, Phase::Timeout, Reason::TimeoutPolicy);
            self.end_without_attempt(id, Phase::Timeout, None, message);
        }
    }

    /// `maxRuntime` or `maxInactivity`: ends the attempt (R-T4).
    fn attempt_expired(&mut self, id: TaskIndex, limit: TimeLimit) {
        let outcome = Outcome::timeout(self.expiry(&self[id], limit));
        self.emit(Event::TimedOut(id.into(), limit));
        self.stop_work(id);
        self.conclude(id, outcome, Some(limit));
    }

    /// The executor's side met the attempt's deadline first: the clock that set it has run out (one winner, R-T7).
    pub(super) fn interrupted(&mut self, fence: Fence) {
        let Some(id) = self.current(fence) else { return self.drop_input() };
        if self[id].phase == Phase::Ready {
            self.start(id);
        }
        self.serve_waits(self.now());
        if self.current(fence).is_some() {
            self.attempt_expired(id, TimeLimit::MaxRuntime);
        }
    }

    /// The dispatcher saw no activity for `maxInactivity` (R-T5).
    pub(super) fn inactive(&mut self, fence: Fence) {
        match self.current(fence) {
            Some(id) if self[id].phase == Phase::Running => {
                self.attempt_expired(id, TimeLimit::MaxInactivity);
            }
            Some(_) | None => self.drop_input(),
        }
    }

    /// `deadline` ends the task whatever it is doing; no condition, retry or rule is asked (R-T4).
    fn deadline_passed(&mut self, id: TaskIndex) {
        let task = &self[id];
        let settings = &self.node(task).settings;
        let (phase, reason) = end_of(TimeLimit::Deadline, settings).unwrap_or((Phase::Timeout, None));
        let in_attempt = task.has_open_attempt();
        self.emit(Event::TimedOut(id.into(), TimeLimit::Deadline));
        self.stop_work(id);
        if in_attempt {
            let message = self.expiry(&self[id], TimeLimit::Deadline);
            self.end_attempt_and_task(id, Phase::Timeout, code::TIMEOUT, &message, (phase, reason));
        } else {
            let message = self.gave_up(id, "the task's deadline").unwrap_or_default();
            self.end_without_attempt(id, phase, reason, message);
        }
    }

    /// Returns the message of an end by a clock around a task: with the failure of a task that waits for its next attempt.
    fn expiry_around(&self, id: TaskIndex, limit: TimeLimit, reason: Reason) -> String {
        let message = self.expiry(&self[id], limit);
        match self.pending_failure(id, reason) {
            Some(failure) => format!("{message}; {failure}"),
            None => message,
        }
    }

    /// Returns the last failure of a task whose next attempt a clock keeps from beginning: the cause must not be lost with the
    /// attempt (R-T13). None if no attempt is to come.
    pub(super) fn gave_up(&self, id: TaskIndex, clock: &str) -> Option<String> {
        let task = &self[id];
        if task.phase != Phase::Created || task.attempt == 0 {
            return None;
        }
        let failure = match (&*task.message, task.code) {
            ("", Some(code)) => format!("attempt {} ended with code {code}", task.attempt),
            ("", None) => format!("attempt {} did not succeed", task.attempt),
            (message, _) => message.to_owned(),
        };
        let next = task.attempt + 1;
        let when = match task.clocks.wake {
            Some(_) => format!("during the delay before attempt {next}"),
            None => format!("before attempt {next} could start"),
        };
        Some(format!("{failure}; gave up: {clock} passed {when}"))
    }

    /// Returns the first task below a container that waits for its next attempt, and why the last one failed.
    fn pending_failure(&self, container: TaskIndex, reason: Reason) -> Option<String> {
        let waits = |task: &&TaskRun| task.phase == Phase::Created && task.attempt > 0;
        let below = |task: &&TaskRun| {
            std::iter::successors(Some(*task), |task| self.parent(task)).any(|task| task.index() == container)
        };
        let task = self.tasks().iter().filter(waits).find(below)?;
        let failure = self.gave_up(task.index(), clock_around(reason)?)?;
        let name = &self.node(task).name;
        Some(format!("task {name}: {failure}"))
    }

    /// Stops what an attempt does: an executor's call, or a wrapper's sub-tree (R-R9).
    fn stop_work(&mut self, id: TaskIndex) {
        self.stop_attempt(id);
        self.close_children(id, Reason::ScopeTimeout);
    }

    /// Asks the dispatcher to stop the task's attempt; the run does not wait for it (R-T3).
    pub(super) fn stop_attempt(&mut self, id: TaskIndex) {
        let task = &self[id];
        if task.in_flight() {
            let fence = task.fence();
            self.command(Command::Abort(fence));
        }
    }
}

/// Names the clock around a task that ends it for this reason.
pub(super) fn clock_around(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::ScopeTimeout => Some("the timeout around the task"),
        Reason::WorkflowTimeout => Some("spec.timeout"),
        Reason::When
        | Reason::MaxAttempts0
        | Reason::NotReached
        | Reason::Reused
        | Reason::User
        | Reason::ScopeFailed
        | Reason::TimeoutPolicy
        | Reason::Deadline
        | Reason::MaxRuntime
        | Reason::MaxInactivity
        | Reason::PolicyFail
        | Reason::MaxJumps
        | Reason::RetryExhausted => None,
    }
}
