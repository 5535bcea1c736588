//! Waits that are over (R-T3, R-T4).

use super::{Run, attempt::end_of};
use crate::{
    event::{Clock, Command, Event, Fence, Reason, TaskId},
    outcome::{Outcome, code},
    phase::Phase,
    run::state::WaitKind,
    time::{Millis, Timestamp},
};

impl Run {
    /// Serves every wait due at `until`, in the order of R-T7.
    pub(in crate::run) fn serve_waits(&mut self, until: Timestamp) {
        while let Some(wait) = self.waits.pop_due(until) {
            match wait.kind {
                WaitKind::SpecTimeout => self.spec_timed_out(),
                WaitKind::ContainerTimeout { .. } => self.container_timed_out(wait.task),
                WaitKind::Deadline => self.deadline_passed(wait.task),
                WaitKind::Timeout => self.task_timed_out(wait.task),
                WaitKind::MaxRuntime => self.attempt_expired(wait.task, Clock::MaxRuntime),
                WaitKind::RetryWake => self.wake(wait.task),
            }
            self.settle();
        }
    }

    fn spec_timed_out(&mut self) {
        self.emit(Event::TimedOut(TaskId::ROOT, Clock::SpecTimeout));
        let message = format!("spec.timeout of {} expired", length(self.plan.timeout));
        self.close(TaskId::ROOT, Reason::WorkflowTimeout, Some((Phase::Timeout, message)));
    }

    fn container_timed_out(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        let timeout = self.node(task).settings.timeout;
        self.emit(Event::TimedOut(id, Clock::Timeout));
        self.close_children(id, Reason::ScopeTimeout);
        self.finalise_as(id, Phase::Timeout, None, format!("timeout of {} expired", length(timeout)).into());
    }

    /// `timeout`: code 4, judged and retried like any other (seed 000). While a task waits for its next attempt it
    /// shows when that is dispatched (R-T2).
    fn task_timed_out(&mut self, id: TaskId) {
        let Some(task) = self.task(id).filter(|task| task.has_open_attempt()) else { return };
        let timeout = self.node(task).settings.timeout;
        self.emit(Event::TimedOut(id, Clock::Timeout));
        self.stop_work(id);
        let outcome = Outcome::timeout(format!("timeout of {} expired", length(timeout)));
        self.conclude(id, outcome, Some(Clock::Timeout));
    }

    /// `maxRuntime` or `maxInactivity`: ends the attempt (R-T4).
    fn attempt_expired(&mut self, id: TaskId, clock: Clock) {
        let Some(task) = self.task(id) else { return };
        let settings = &self.node(task).settings;
        let policy = match clock {
            Clock::MaxInactivity => settings.max_inactivity,
            Clock::MaxRuntime | Clock::Timeout | Clock::Deadline | Clock::SpecTimeout => settings.max_runtime,
        };
        let message = format!("{} of {} expired", clock.as_str(), length(policy.map(|p| p.timeout)));
        self.emit(Event::TimedOut(id, clock));
        self.stop_work(id);
        self.conclude(id, Outcome::timeout(message), Some(clock));
    }

    /// The executor's side met the attempt's deadline first: the clock that set it has run out (one winner, R-T7).
    pub(in crate::run) fn interrupted(&mut self, fence: Fence) {
        match self.current(fence).map(|task| task.phase) {
            None => return self.drop_input(),
            Some(Phase::Ready) => self.started(fence),
            Some(_) => {}
        }
        self.serve_waits(self.now);
        if self.current(fence).is_some() {
            self.attempt_expired(fence.task, Clock::MaxRuntime);
        }
    }

    /// The dispatcher saw no activity for `maxInactivity` (R-T5).
    pub(in crate::run) fn inactive(&mut self, fence: Fence) {
        match self.current(fence) {
            Some(task) if task.phase == Phase::Running => {
                self.attempt_expired(fence.task, Clock::MaxInactivity);
            }
            Some(_) | None => self.drop_input(),
        }
    }

    /// `deadline` ends the task whatever it is doing; no condition, retry or rule is asked (R-T4).
    fn deadline_passed(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        let settings = &self.node(task).settings;
        let message = format!("deadline of {} expired", length(settings.deadline.map(|p| p.timeout)));
        let (phase, reason) = end_of(Clock::Deadline, settings).unwrap_or((Phase::Timeout, None));
        let in_attempt = task.has_open_attempt();
        self.emit(Event::TimedOut(id, Clock::Deadline));
        self.stop_work(id);
        if in_attempt {
            self.end_attempt_and_task(id, Phase::Timeout, code::TIMEOUT, &message, (phase, reason));
        } else {
            self.end_without_attempt(id, phase, reason, message);
        }
    }

    /// Stops what an attempt does: an executor's call, or a wrapper's sub-tree (R-R9).
    fn stop_work(&mut self, id: TaskId) {
        self.stop_attempt(id);
        self.close_children(id, Reason::ScopeTimeout);
    }

    /// Asks the dispatcher to stop what it runs for this task; nobody waits for it (R-T3).
    pub(in crate::run) fn stop_attempt(&mut self, id: TaskId) {
        if let Some(task) = self.task(id).filter(|task| task.in_flight()) {
            let fence = task.fence();
            self.step.commands.push(Command::Abort(fence));
        }
    }
}

/// A length of time in the words of seed 003, for messages.
fn length(millis: Option<Millis>) -> String {
    let millis = millis.unwrap_or_default();
    humantime::format_duration(std::time::Duration::from_millis(millis)).to_string()
}
