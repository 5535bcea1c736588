//! Ending what is open: cancel, and the timeouts of scopes and of the run.

use super::Run;
use crate::{
    event::{Event, Reason, TaskId},
    phase::Phase,
};

impl Run {
    /// The user cancels the run (R-S10).
    pub(super) fn cancel(&mut self) {
        if self.phase.is_terminal() {
            return self.drop_input();
        }
        self.emit(Event::CancelRequested);
        self.close(TaskId::ROOT, Reason::User, None);
    }

    /// The user cancels one task; never tolerated (R-S10). Hook runs are not stopped by anything but their own clocks.
    pub(super) fn cancel_task(&mut self, id: TaskId) {
        match self.task(id) {
            Some(task) if !task.phase.is_terminal() && task.hook.is_none() => {
                self.close(id, Reason::User, None);
            }
            Some(_) | None => self.drop_input(),
        }
    }

    /// Ends a task run and everything below it as Cancelled; `own` gives the task run itself another phase.
    pub(super) fn close(&mut self, id: TaskId, reason: Reason, own: Option<(Phase, String)>) {
        self.close_children(id, reason);
        match own {
            None => self.cancel_one(id, reason),
            Some((phase, message)) => {
                self.stop_attempt(id);
                self.pass_ready(id, phase, reason);
                self.end_without_attempt(id, phase, None, message);
            }
        }
    }

    /// A leaf in Created that has to end as Timeout goes through Ready, in the same record: R-P2 knows no shorter way.
    /// The reason tells it from a dispatch: no attempt begins, and a task that never had one fires no hook (R-S12).
    fn pass_ready(&mut self, id: TaskId, phase: Phase, reason: Reason) {
        let Some(task) = self.task(id) else { return };
        if !task.phase.may_become(phase, self.kind(task)) {
            self.set_phase(id, Phase::Ready, Some(reason), None);
        }
    }

    /// Ends everything below a container: leaves first, then inner containers from the inside out.
    pub(super) fn close_children(&mut self, container: TaskId, reason: Reason) {
        let (mut leaves, mut containers) = (Vec::new(), Vec::new());
        let mut open = vec![container];
        while let Some(id) = open.pop() {
            let Some(scope) = self.task(id).and_then(|task| task.scope.as_ref()) else { continue };
            for &child in &scope.children {
                let Some(task) = self.task(child).filter(|task| !task.phase.is_terminal()) else { continue };
                if task.scope.is_some() {
                    containers.push(child);
                    open.push(child);
                } else {
                    leaves.push(child);
                }
            }
        }
        leaves.sort_unstable();
        containers.sort_unstable_by(|a, b| b.cmp(a));
        for id in leaves.into_iter().chain(containers) {
            self.cancel_one(id, reason);
        }
    }

    /// Cancels one task run whose children, if any, have ended.
    pub(super) fn cancel_one(&mut self, id: TaskId, reason: Reason) {
        self.stop_attempt(id);
        let had_attempt = self.task(id).is_some_and(|task| task.attempt > 0);
        self.set_phase(id, Phase::Cancelled, Some(reason), None);
        if had_attempt {
            self.emit(Event::TaskEnded(id, false));
        }
    }
}
