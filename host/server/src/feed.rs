//! The events of a run, made readable once for all who follow it.
//!
//! ```text
//!  Host ── Watch ──▶ feed of the run ── frames ──▶ each stream: what it has not had
//!  store ── what was before it came, or what it missed ──────▲
//! ```

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use axum::body::Bytes;
use phasm::{Host, Notice, Phase, Watch, journal::Told, store::StoreError};
use tokio::{
    sync::broadcast::{self, Receiver, Sender},
    task::AbortHandle,
};

use crate::sse;

/// Frames that a stream may be behind before it reads in the store.
const BEHIND: usize = 256;
/// A frame with more bytes is read in the store by each.
const LARGEST: usize = 64 << 10;

/// What follows a run tells.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    /// Some of its events.
    Frame(Arc<Frame>),
    /// It has ended in that phase.
    Over(Phase),
}

/// Events of one record.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) first: u64,
    pub(crate) next: u64,
    /// As they are written; nothing of what is too large to be kept for others.
    bytes: Option<Bytes>,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Frame {
    /// The record that was told last.
    pub(crate) fn of(watch: &Watch, told: &Told) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for (view, seq) in watch.views(told).zip(told.first_seq..) {
            starts.push(text.len());
            sse::write(&mut text, Some(seq), view.event().name(), &view.json().to_string());
        }
        Self { first: told.first_seq, next: told.next_seq(), bytes: Some(text.into()), starts }
    }

    /// The same, for others to have.
    fn shared(mut self) -> Self {
        self.bytes = self.bytes.filter(|bytes| bytes.len() <= LARGEST);
        self
    }

    /// What is to be written from event `seq` on; nothing if it has to be read in the store.
    pub(crate) fn from(&self, seq: u64) -> Option<Bytes> {
        let bytes = self.bytes.as_ref().filter(|_| self.first <= seq)?;
        let at = usize::try_from(seq - self.first).ok()?;
        let start = self.starts.get(at).copied().unwrap_or(bytes.len());
        Some(bytes.slice(start..))
    }
}

/// The feeds of the runs that are followed.
#[derive(Default)]
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<Arc<str>, Weak<Feed>>>,
}

/// What is told of one run, while somebody hears it.
pub(crate) struct Feed {
    frames: Sender<Heard>,
    telling: AbortHandle,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

impl Feeds {
    /// Hears a run from now on.
    pub(crate) async fn hear(
        &self,
        host: &Host,
        run_id: &Arc<str>,
        seq: u64,
    ) -> Result<(Arc<Feed>, Receiver<Heard>), StoreError> {
        if let Some(feed) = self.known(run_id) {
            let heard = feed.frames.subscribe();
            return Ok((feed, heard));
        }
        let watch = host.watch(run_id, seq).await?;
        let (frames, heard) = broadcast::channel(BEHIND);
        let telling = tokio::spawn(tell(watch, frames.clone())).abort_handle();
        let feed = Arc::new(Feed { frames, telling });
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        // Of two that were made at once each has its own hearers.
        feeds.insert(Arc::clone(run_id), Arc::downgrade(&feed));
        Ok((feed, heard))
    }

    fn known(&self, run_id: &str) -> Option<Arc<Feed>> {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.get(run_id)?.upgrade().filter(|feed| !feed.telling.is_finished())
    }
}

/// Tells until the run has ended, or the host is closed.
async fn tell(mut watch: Watch, frames: Sender<Heard>) {
    loop {
        match watch.next().await {
            Ok(Some(Notice::Record(told))) => {
                let frame = Frame::of(&watch, &told).shared();
                // Whoever comes next reads it in the store.
                drop(frames.send(Heard::Frame(Arc::new(frame))));
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a run cannot be followed");
                return;
            }
        }
    }
    if let Some(run) = watch.run().filter(|run| run.is_over()) {
        drop(frames.send(Heard::Over(run.phase())));
    }
}
