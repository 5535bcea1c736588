//! Ends a session after a signal.

use std::time::Duration;

use tokio::time::Instant;

use super::{super::SessionEnd, Session, lost};
use crate::{
    failure::Failure,
    terminal::{signals::Signal, text},
};

/// The signal, and how the session reacts to it.
#[derive(Clone, Copy, Debug)]
pub(super) enum StopState {
    /// The run is being cancelled.
    Cancelling(Signal),
    /// The run stays open: what is executed may end until then, nothing else is begun.
    Leaving(Signal, Instant),
}

impl Session {
    /// Cancels the run, or has it left as it is.
    pub(super) fn stop(&mut self, told: Signal) {
        if self.options.leaves(told) {
            let grace = if told == Signal::Terminate { self.options.grace } else { Duration::ZERO };
            self.stopping = Some(StopState::Leaving(told, Instant::now() + grace));
            return;
        }
        self.stopping = Some(StopState::Cancelling(told));
        let handle = self.handle.clone();
        tokio::spawn(async move {
            // A run that has ended meanwhile says so itself, and so does one whose store failed.
            let _refused = handle.cancel().await;
        });
    }

    pub(super) fn tell_stop(&self) {
        let Some(stopping) = self.stopping else { return };
        self.say(&match stopping {
            StopState::Cancelling(told) => {
                format!("{}: cancelling the run; a second signal exits at once\n", told.word())
            }
            StopState::Leaving(told @ Signal::Interrupt, _) => format!("{}: the run stays open\n", told.word()),
            StopState::Leaving(told @ Signal::Terminate, _) => {
                let grace = text::elapsed(self.options.grace.as_millis().try_into().unwrap_or(u64::MAX));
                let word = told.word();
                format!("{word}: the run stays open; running attempts have {grace} to end; a second signal exits at once\n")
            }
        });
    }

    /// When the run is left at the latest.
    pub(super) fn leaves_at(&self) -> Option<Instant> {
        match self.stopping {
            Some(StopState::Leaving(_, until)) => Some(until),
            Some(StopState::Cancelling(_)) | None => None,
        }
    }

    /// The run as it is left, once nothing is executed any more or the time for it is over. Nothing, if it ends by itself.
    pub(super) async fn left(&self, told: Signal, until: Instant) -> Result<Option<SessionEnd>, Failure> {
        let look = self.handle.look(|run| (run.in_flight() > 0, run.is_over()));
        let (works, is_over) = look.await.map_err(lost)?;
        if is_over || (works && Instant::now() < until) {
            return Ok(None);
        }
        self.stands("left").await.map(|stands| Some(SessionEnd::Left(told, stands)))
    }
}
