//! The instants that task runs wait for: set and dropped as events are applied.

use super::Run;
use crate::{
    event::TaskId,
    run::state::wait::{Wait, WaitKind},
};

impl Run {
    pub(in crate::run) fn drop_waits(&mut self, id: TaskId) {
        self.stop_attempt_clock(id);
        let Some(task) = self.task(id) else { return };
        let (clocks, depth) = (task.clocks, task.depth);
        let waits = [
            (clocks.timeout, WaitKind::Timeout),
            (clocks.timeout, WaitKind::ContainerTimeout { depth }),
            (clocks.deadline, WaitKind::Deadline),
        ];
        for (at, kind) in waits {
            if let Some(at) = at {
                self.waits.remove(Wait { at, kind, task: id });
            }
        }
    }

    pub(in crate::run) fn start_attempt_clock(&mut self, id: TaskId) {
        self.stop_attempt_clock(id);
        let Some(task) = self.task(id) else { return };
        let Some(policy) = self.node(task).settings.max_runtime else { return };
        let at = self.now.after(policy.timeout);
        if let Some(task) = self.task_mut(id) {
            task.clocks.max_runtime = Some(at);
        }
        self.waits.insert(Wait { at, kind: WaitKind::MaxRuntime, task: id });
    }

    pub(in crate::run) fn stop_attempt_clock(&mut self, id: TaskId) {
        if let Some(at) = self.task_mut(id).and_then(|task| task.clocks.max_runtime.take()) {
            self.waits.remove(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        }
    }
}
