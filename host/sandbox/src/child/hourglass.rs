//! How long the guest of a call may compute: nothing in the process ends it, so the process does.

use std::{
    process::exit,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use phasm_engine::metered::Metered;

use super::{
    ALONE,
    voice::Voice,
    wire::{Returned, Told},
};
use crate::{
    call_result::CallResult,
    capability::refused::Refused,
    fault::Fault,
    limits::{Ceiling, Exceeded, Limit, UNLIMITED},
    stopwatch::{cpu, micros},
};

/// The least that is slept at once: who has nearly nothing left and waits is not looked at all the time.
const LEAST: Duration = Duration::from_millis(2);

/// Runs while a call is made that may not compute for ever.
#[derive(Default)]
pub(super) struct Hourglass {
    runs: Mutex<Option<Runs>>,
    turned: Condvar,
}

#[derive(Clone, Copy)]
struct Runs {
    /// The CPU time of this process at which it has run out.
    ends: Duration,
    ceiling: Ceiling,
}

impl Hourglass {
    /// A call begins.
    pub(super) fn turn(&self, ceiling: Ceiling) {
        if ceiling.most != UNLIMITED {
            let ends = cpu::of_process().saturating_add(Duration::from_micros(ceiling.most));
            *self.runs() = Some(Runs { ends, ceiling });
            self.turned.notify_one();
        }
    }

    /// It is over.
    pub(super) fn stop(&self) {
        *self.runs() = None;
    }

    /// Ends the process when a call has computed for as long as it may.
    pub(super) fn watch(&self, voice: &Voice) {
        loop {
            let nothing = |runs: &mut Option<Runs>| runs.is_none();
            let runs = self.turned.wait_while(self.runs(), nothing);
            let runs = runs.unwrap_or_else(PoisonError::into_inner);
            let Some(Runs { ends, ceiling }) = *runs else { continue };
            let left = ends.saturating_sub(cpu::of_process());
            if left.is_zero() {
                // Held until the end: what the call itself comes to is not said any more.
                end(voice, ceiling);
            }
            drop(runs);
            // It can not run out sooner, as only one thread of this process computes.
            std::thread::sleep(left.max(LEAST));
        }
    }

    fn runs(&self) -> MutexGuard<'_, Option<Runs>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(voice: &Voice, ceiling: Ceiling) -> ! {
    let metered = Metered { cpu_us: micros(Duration::from_micros(ceiling.most)), ..Metered::default() };
    let exceeded = Fault::Exceeded(Exceeded { limit: Limit::Cpu, ceiling });
    let ended = CallResult { result: Err(exceeded), refused: Refused::default(), metered };
    // Whoever listens no longer has ended this process already.
    let _ = voice.tell(&Told::Ended(Returned::from(ended)));
    exit(ALONE);
}
