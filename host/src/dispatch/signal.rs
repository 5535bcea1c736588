//! Signals of the dispatcher to the driver of a run.

use phasm_engine::{event::Fence, outcome::Outcome, time::Millis, weight::Weight};
use tokio::sync::mpsc::UnboundedSender;

use super::slots::SlotRecipient;
use crate::store::AttemptLog;

/// Bytes of outputs above which a result takes long to record.
const HEAVY_RESULT_BYTES: usize = 64 << 10;

/// A signal to a run's driver from the executor's side.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Slots that the run may use.
    Lent(u32),
    /// The executor has started, at this time on the host's clock, or just now.
    Started(Fence, Option<Millis>),
    /// The executor has returned; its slot is free.
    Finished(Fence, Outcome),
    /// A deadline met the attempt before the engine's own clock was heard; its slot is free.
    Interrupted(Fence),
    /// The attempt was aborted, or its future was lost; its slot is free.
    Gone(Fence),
    /// No activity for `maxInactivity`.
    Inactive(Fence),
    /// The log of an attempt on another host, which is about to report its end.
    Wrote(Fence, AttemptLog),
}

impl Signal {
    /// Whether the attempt is over, so that its slot is free.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Self::Finished(..) | Self::Interrupted(_) | Self::Gone(_))
    }

    /// Whether it brings a result that takes more than a small guest's time to record.
    pub(crate) fn is_heavy(&self) -> bool {
        let Self::Finished(_, outcome) = self else { return false };
        let mut weight = Weight::default();
        outcome.outputs.iter().for_each(|output| weight.add_json(&output.value, HEAVY_RESULT_BYTES));
        weight.bytes() > HEAVY_RESULT_BYTES
    }
}

/// A receiver of a run's signals: the driver's inbox.
pub(crate) trait Inbox: SlotRecipient + Send + Sync + 'static {
    /// Returns false if the driver is gone.
    fn signal(&self, signal: Signal) -> bool;
}

impl<M: From<Signal>> SlotRecipient for UnboundedSender<M> {
    fn lend(&self, slots: u32) -> bool {
        self.send(Signal::Lent(slots).into()).is_ok()
    }
}

/// An inbox that is a channel.
impl<M: From<Signal> + Send + 'static> Inbox for UnboundedSender<M> {
    fn signal(&self, signal: Signal) -> bool {
        self.send(signal.into()).is_ok()
    }
}
