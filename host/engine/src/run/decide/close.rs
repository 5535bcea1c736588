//! Ending what is open: cancel, and the timeouts of scopes and of the run.

use std::sync::Arc;

use super::{Decider, env::AttemptResult, timers::clock_around};
use crate::{
    event::{Event, Outputs, PhaseData, Reason, Requester, TaskId},
    phase::{Phase, TaskKind},
    run::state::TaskIndex,
};

impl Decider<'_> {
    /// The user cancels the run (R-S10).
    pub(super) fn cancel(&mut self, by: Option<Requester>) {
        if self.phase().is_terminal() {
            return self.drop_input();
        }
        self.emit(by.map_or(Event::CancelRequested, Event::CancelRequestedBy));
        self.close(TaskIndex::ROOT, Reason::User, None);
    }

    /// The user cancels one task; never tolerated (R-S10). Hook runs are not stopped by anything but their own clocks.
    pub(super) fn cancel_task(&mut self, id: TaskId, by: Option<Requester>) {
        match self.task(id) {
            Some(task) if !task.phase.is_terminal() && task.hook.is_none() => {
                let index = task.index();
                self.emit(Event::TaskCancelRequested(id, by));
                self.close(index, Reason::User, None);
            }
            Some(_) | None => self.drop_input(),
        }
    }

    /// Ends a task run and everything below it as Cancelled; `own` gives the task run itself another phase.
    pub(super) fn close(&mut self, id: TaskIndex, reason: Reason, own: Option<(Phase, String)>) {
        self.close_children(id, reason);
        match own {
            None => self.cancel_one(id, reason),
            Some((phase, message)) => {
                self.stop_attempt(id);
                self.pass_ready(id, phase, reason);
                let message = Arc::<str>::from(message);
                let outputs = self.found(id, phase, &message);
                self.end_with(id, phase, None, Some(PhaseData::Result { message, outputs }));
            }
        }
    }

    /// A leaf in Created that has to end as Timeout goes through Ready, in the same record: R-P2 knows no shorter way.
    /// The reason tells it from a dispatch: no attempt begins, and a task that never had one fires no hook (R-S12).
    pub(super) fn pass_ready(&mut self, id: TaskIndex, phase: Phase, reason: Reason) {
        let task = &self[id];
        if !task.phase.may_become(phase, self.kind(task)) {
            self.set_phase(id, Phase::Ready, Some(reason), None);
        }
    }

    /// Ends everything below a container: leaves first, then inner containers from the inside out.
    pub(super) fn close_children(&mut self, container: TaskIndex, reason: Reason) {
        let (mut leaves, mut containers) = (Vec::new(), Vec::new());
        let mut open = vec![container];
        while let Some(id) = open.pop() {
            let still_open = self.scope(&self[id]).map_or(0, |scope| scope.open);
            // The newest first: behind a long history of attempts, entries or iterations only the last may be open.
            let children = self.children(&self[id]).rev().filter(|task| !task.phase.is_terminal());
            for child in children.take(still_open as usize) {
                if child.scope.is_some() {
                    containers.push(child.index());
                    open.push(child.index());
                } else {
                    leaves.push(child.index());
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
    pub(super) fn cancel_one(&mut self, id: TaskIndex, reason: Reason) {
        self.stop_attempt(id);
        let message: Arc<str> =
            clock_around(reason).and_then(|clock| self.gave_up(id, clock)).unwrap_or_default().into();
        let outputs = self.found(id, Phase::Cancelled, &message);
        let with =
            (!outputs.is_empty() || !message.is_empty()).then_some(PhaseData::Result { message, outputs });
        self.end_with(id, Phase::Cancelled, Some(reason), with);
    }

    /// The outputs of a container that is made to end: they resolve whatever its phase (R-B7). Where nothing was
    /// dispatched nothing was found.
    fn found(&mut self, id: TaskIndex, phase: Phase, message: &Arc<str>) -> Outputs {
        let task = &self[id];
        if task.dispatched_at.is_none() || self.kind(task) != TaskKind::Container {
            return Arc::default();
        }
        let aggregated = self.aggregated(id);
        let judged =
            AttemptResult { phase, message: Arc::clone(message), aggregated, ..AttemptResult::default() };
        self.container_outputs(id, &judged)
    }
}
