//! The instants that task runs wait for: set and dropped as events are applied.

use super::{State, TaskIndex, Wait, WaitKind};

impl State {
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
