//! Going on with a run that was read back from its journal (R-D3).

use super::{Run, Step};
use crate::{
    event::{Fence, Input, TaskId},
    task::TaskRun,
    time::Timestamp,
    wait::{Wait, WaitKind},
};

impl Run {
    /// Takes up a run that [`Run::replay`] has rebuilt: the first step of whoever drives it from now on.
    ///
    /// Waits keep their absolute times, and what came due meanwhile is served first. What is in flight even then is
    /// dispatched again under the numbers it had (R-R11), with a fresh `maxRuntime` (R-T9). What is suspended, queued or
    /// in a delay stays so.
    #[must_use = "events must be made durable, commands carried out"]
    pub fn recover(&mut self, now: Timestamp) -> Step {
        let in_flight: Vec<Fence> =
            self.tasks.iter().filter(|task| task.in_flight()).map(TaskRun::fence).collect();
        let now = self.now.max(now);
        for fence in &in_flight {
            self.renew_runtime(fence.task, now);
        }
        let mut step = self.step(now, Input::Tick);
        for fence in in_flight {
            if self.current(fence).is_some() {
                self.command_dispatch(fence.task);
            }
        }
        step.commands.append(&mut self.step.commands);
        step
    }

    /// The executor starts anew, and `maxRuntime` with it.
    fn renew_runtime(&mut self, id: TaskId, now: Timestamp) {
        let Some(task) = self.task(id) else { return };
        let limit = self.node(task).settings.max_runtime;
        let (Some(old), Some(policy)) = (task.clocks.max_runtime, limit) else { return };
        let at = now.after(policy.timeout);
        self.waits.remove(Wait { at: old, kind: WaitKind::MaxRuntime, task: id });
        self.waits.insert(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        if let Some(task) = self.task_mut(id) {
            task.clocks.max_runtime = Some(at);
        }
    }
}
