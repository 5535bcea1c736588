//! Watchdog for the CPU time of a call: nothing within the process can end the guest, so the watchdog ends the process.

use std::{
    process::exit,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use phasm_engine::usage::ResourceUsage;

use super::{
    EXIT_PARENT_GONE,
    outbound::Outbound,
    wire::{ChildMessage, WireResult},
};
use crate::{
    call_result::CallResult,
    capability::refusals::Refusals,
    fault::Fault,
    limits::{Ceiling, Limit, LimitError, UNLIMITED},
    stopwatch::{cpu, micros},
};

/// Minimum sleep, so that a guest that waits with little time left is not polled constantly.
const MIN_SLEEP: Duration = Duration::from_millis(2);

/// Watchdog that runs while a call with a CPU limit is made.
#[derive(Default)]
pub(super) struct CpuWatchdog {
    deadline: Mutex<Option<Deadline>>,
    started: Condvar,
}

#[derive(Clone, Copy)]
struct Deadline {
    /// CPU time of this process at which the limit is reached.
    ends: Duration,
    ceiling: Ceiling,
}

impl CpuWatchdog {
    /// Starts at the beginning of a call.
    pub(super) fn start(&self, ceiling: Ceiling) {
        if ceiling.most != UNLIMITED {
            let ends = cpu::of_process().saturating_add(Duration::from_micros(ceiling.most));
            *self.deadline() = Some(Deadline { ends, ceiling });
            self.started.notify_one();
        }
    }

    /// Stops at the end of a call.
    pub(super) fn stop(&self) {
        *self.deadline() = None;
    }

    /// Ends the process when a call reaches its limit.
    pub(super) fn watch(&self, outbound: &Outbound) {
        loop {
            let nothing = |deadline: &mut Option<Deadline>| deadline.is_none();
            let deadline = self.started.wait_while(self.deadline(), nothing);
            let deadline = deadline.unwrap_or_else(PoisonError::into_inner);
            let Some(Deadline { ends, ceiling }) = *deadline else { continue };
            let left = ends.saturating_sub(cpu::of_process());
            if left.is_zero() {
                // Held until the end, so that the call's own result is not sent any more.
                end(outbound, ceiling);
            }
            drop(deadline);
            // The time cannot run out sooner, as only one thread of this process computes.
            std::thread::sleep(left.max(MIN_SLEEP));
        }
    }

    fn deadline(&self) -> MutexGuard<'_, Option<Deadline>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(outbound: &Outbound, ceiling: Ceiling) -> ! {
    let metered =
        ResourceUsage { cpu_us: micros(Duration::from_micros(ceiling.most)), ..ResourceUsage::default() };
    let exceeded = Fault::Exceeded(LimitError { limit: Limit::Cpu, ceiling });
    let ended = CallResult { result: Err(exceeded), refusals: Refusals::default(), metered };
    // A parent that no longer listens has killed this process already.
    let _ = outbound.send(&ChildMessage::Result(WireResult::from(ended)));
    exit(EXIT_PARENT_GONE);
}
