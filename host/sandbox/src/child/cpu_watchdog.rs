//! How long the guest of a call may compute: nothing in the process ends it, so the process does.

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

/// The least that is slept at once: who has nearly nothing left and waits is not looked at all the time.
const MIN_SLEEP: Duration = Duration::from_millis(2);

/// Runs while a call is made that may not compute for ever.
#[derive(Default)]
pub(super) struct CpuWatchdog {
    deadline: Mutex<Option<Deadline>>,
    started: Condvar,
}

#[derive(Clone, Copy)]
struct Deadline {
    /// The CPU time of this process at which it has run out.
    ends: Duration,
    ceiling: Ceiling,
}

impl CpuWatchdog {
    /// A call begins.
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

    /// Ends the process when a call has computed for as long as it may.
    pub(super) fn watch(&self, outbound: &Outbound) {
        loop {
            let nothing = |deadline: &mut Option<Deadline>| deadline.is_none();
            let deadline = self.started.wait_while(self.deadline(), nothing);
            let deadline = deadline.unwrap_or_else(PoisonError::into_inner);
            let Some(Deadline { ends, ceiling }) = *deadline else { continue };
            let left = ends.saturating_sub(cpu::of_process());
            if left.is_zero() {
                // Held until the end: what the call itself comes to is not said any more.
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
    let ended = CallResult { result: Err(exceeded), refused: Refusals::default(), metered };
    // A parent that no longer listens has killed this process already.
    let _ = outbound.send(&ChildMessage::Result(WireResult::from(ended)));
    exit(EXIT_PARENT_GONE);
}
