//! Going on with a run that was read back from its journal (R-D3).

use super::{Run, Step};
use crate::{
    event::{Event, Fence, Input},
    phase::Phase,
    run::state::TaskRun,
    time::Timestamp,
};

impl Run {
    /// Takes up a run that [`Run::replay`] has rebuilt: the first step of whoever drives it from now on.
    ///
    /// Waits keep their absolute times, and what came due meanwhile is served first. What is in flight even then is
    /// dispatched again under the numbers it had (R-R11); where it was Running that is recorded as another start, and
    /// `maxRuntime` counts from it (R-T9). What is suspended, queued or in a delay stays so.
    #[must_use = "events must be made durable, commands carried out"]
    pub fn recover(&mut self, now: Timestamp) -> Step {
        let in_flight: Vec<Fence> =
            self.tasks.iter().filter(|task| task.in_flight()).map(TaskRun::fence).collect();
        for fence in &in_flight {
            // Nobody has run this attempt meanwhile: either it ends by another clock, or the start below sets this one.
            self.stop_attempt_clock(fence.task);
        }
        let mut step = self.step(now, Input::Tick);
        for fence in in_flight {
            if let Some(phase) = self.current(fence).map(|task| task.phase) {
                if phase == Phase::Running {
                    self.emit(Event::AttemptStarted(fence));
                }
                self.command_dispatch(fence.task);
            }
        }
        step.events.append(&mut self.step.events);
        step.commands.append(&mut self.step.commands);
        step
    }
}
