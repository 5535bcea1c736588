//! Waits that are over.

use super::{Decider, attempt::end_of};
use crate::{
    event::{Command, Event, Fence, Reason, TaskId, TimeLimit},
    outcome::{Outcome, code},
    phase::Phase,
    run::state::{TaskIndex, WaitKind},
    time::{Millis, Timestamp},
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
        self.emit(Event::TimedOut(TaskId::ROOT, TimeLimit::SpecTimeout));
        let message = format!("spec.timeout of {} expired", length(self.plan().timeout));
        self.close(TaskIndex::ROOT, Reason::WorkflowTimeout, Some((Phase::Timeout, message)));
    }

    fn container_timed_out(&mut self, id: TaskIndex) {
        let task = &self[id];
        let timeout = self.node(task).settings.timeout;
        self.emit(Event::TimedOut(id.into(), TimeLimit::Timeout));
        self.close_children(id, Reason::ScopeTimeout);
        self.finalise_as(id, Phase::Timeout, None, format!("timeout of {} expired", length(timeout)).into());
    }

    /// `timeout`: code 4, judged and retried like any other (seed 000). While a task waits for its next attempt it
    /// shows when that is dispatched (R-T2).
    fn task_timed_out(&mut self, id: TaskIndex) {
        let task = &self[id];
        if !task.has_open_attempt() {
            return;
        }
        let timeout = self.node(task).settings.timeout;
        self.emit(Event::TimedOut(id.into(), TimeLimit::Timeout));
        self.stop_work(id);
        let outcome = Outcome::timeout(format!("timeout of {} expired", length(timeout)));
        self.conclude(id, outcome, Some(TimeLimit::Timeout));
    }

    /// `maxRuntime` or `maxInactivity`: ends the attempt (R-T4).
    fn attempt_expired(&mut self, id: TaskIndex, limit: TimeLimit) {
        let task = &self[id];
        let settings = &self.node(task).settings;
        let policy = match limit {
            TimeLimit::MaxInactivity => settings.max_inactivity,
            TimeLimit::MaxRuntime | TimeLimit::Timeout | TimeLimit::Deadline | TimeLimit::SpecTimeout => {
                settings.max_runtime
            }
        };
        let message = format!("{} of {} expired", limit.as_str(), length(policy.map(|p| p.timeout)));
        self.emit(Event::TimedOut(id.into(), limit));
        self.stop_work(id);
        self.conclude(id, Outcome::timeout(message), Some(limit));
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
        let message = format!("deadline of {} expired", length(settings.deadline.map(|p| p.timeout)));
        let (phase, reason) = end_of(TimeLimit::Deadline, settings).unwrap_or((Phase::Timeout, None));
        let in_attempt = task.has_open_attempt();
        self.emit(Event::TimedOut(id.into(), TimeLimit::Deadline));
        self.stop_work(id);
        if in_attempt {
            self.end_attempt_and_task(id, Phase::Timeout, code::TIMEOUT, &message, (phase, reason));
        } else {
            self.end_without_attempt(id, phase, reason, message);
        }
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

/// A length of time in the words of seed 003, for messages.
fn length(millis: Option<Millis>) -> String {
    let millis = millis.unwrap_or_default();
    humantime::format_duration(std::time::Duration::from_millis(millis)).to_string()
}
