//! The events of a run, made readable once for all who follow it.
//!
//! ```text
//!  Host ── Watch ──▶ feed of the run ── frames ──▶ each stream: what it has not had
//!  store ── in turns ──▲      └── in turns: what was before a stream began, or what it missed ──▲
//! ```

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use axum::body::Bytes;
use phasm::{
    Host, Notice, Phase, RecoverError, Watch, WatchSignal, fair_queue::Holder, journal::StepRecord,
    store::StoreError,
};
use tokio::{
    sync::broadcast::{self, Receiver, Sender},
    task::AbortHandle,
    time::{Duration, Instant, sleep_until},
};

use crate::{resources::Resources, sse};

/// Frames that a stream may be behind before it reads in the store.
const MAX_FRAMES_BEHIND: usize = 128;
/// A frame with more bytes is read in the store by each.
const MAX_SHARED_FRAME_BYTES: usize = 128 << 10;
/// Size from which nothing is added to a frame, in bytes.
const FULL_FRAME_BYTES: usize = MAX_SHARED_FRAME_BYTES / 2;
/// For each who hears a frame nothing is told for so long, some ten to twenty times what it costs to tell: what happens meanwhile makes one
/// frame, so that a run is not slowed down by how many look on.
const PAUSE_PER_SUBSCRIBER: Duration = Duration::from_micros(300);
/// And so much more for each byte of it.
const PAUSE_PER_BYTE: Duration = Duration::from_nanos(2);
/// At most.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Message to the streams that follow a run.
#[derive(Clone, Debug)]
pub(crate) enum FeedMessage {
    /// Some of its events.
    Frame(Arc<Frame>),
    /// The run has ended in that phase.
    Over(Phase),
    /// The client that the feed reads for has as many requests waiting as it may.
    Busy,
}

/// Events of some records, one after the other.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) first: u64,
    pub(crate) next: u64,
    /// Serialized events. `None` if they are too large to be shared.
    bytes: Option<Bytes>,
    /// Where each begins.
    starts: Vec<usize>,
}

/// Reads events until they fill a frame, or all that is recorded was read.
pub(crate) async fn read_on(
    mut watch: Watch,
    mut gathered: FrameBuilder,
) -> (Watch, Result<FrameBuilder, RecoverError>) {
    while !gathered.is_full() {
        match watch.known().await {
            Ok(Some(Notice::Record(told))) => gathered.add(&watch, &told),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => return (watch, Err(error)),
        }
    }
    (watch, Ok(gathered))
}

/// A frame that goes on.
#[derive(Default)]
pub(crate) struct FrameBuilder {
    first: Option<u64>,
    next: u64,
    text: String,
    starts: Vec<usize>,
}

impl FrameBuilder {
    /// Adds the record that was told last.
    pub(crate) fn add(&mut self, watch: &Watch, told: &StepRecord) {
        self.first.get_or_insert(told.first_seq);
        self.next = told.next_seq();
        for (view, seq) in watch.views(told).zip(told.first_seq..) {
            self.starts.push(self.text.len());
            sse::write(&mut self.text, Some(seq), view.event().name(), &view.json().to_string());
        }
    }

    const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.text.len() >= FULL_FRAME_BYTES
    }

    /// Takes the gathered events as a frame and leaves none behind.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        let Self { first, next, text, starts } = std::mem::take(self);
        Some(Frame { first: first?, next, bytes: Some(text.into()), starts })
    }
}

impl Frame {
    /// The same, for others to have.
    fn shared(mut self) -> Self {
        self.bytes = self.bytes.filter(|bytes| bytes.len() <= MAX_SHARED_FRAME_BYTES);
        self
    }

    /// Returns the bytes from event `seq` on. `None` if they have to be read from the store.
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

/// Live events of one run, for as long as a stream follows it.
pub(crate) struct Feed {
    frames: Sender<FeedMessage>,
    telling: AbortHandle,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

impl Feeds {
    /// Hears a run from now on. A feed that is new reads in turns of `holder`.
    pub(crate) async fn hear(
        &self,
        host: &Host,
        resources: &Arc<Resources>,
        holder: &Holder,
        run_id: &Arc<str>,
        seq: u64,
    ) -> Result<(Arc<Feed>, Receiver<FeedMessage>), StoreError> {
        if let Some(feed) = self.known(run_id) {
            let heard = feed.frames.subscribe();
            return Ok((feed, heard));
        }
        let watch = host.watch(run_id, seq).await?;
        let (frames, heard) = broadcast::channel(MAX_FRAMES_BEHIND);
        let telling =
            tokio::spawn(tell(Arc::clone(resources), holder.clone(), watch, frames.clone())).abort_handle();
        let feed = Arc::new(Feed { frames, telling });
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        // Two feeds of one run may be created at once; each has its own subscribers.
        feeds.insert(Arc::clone(run_id), Arc::downgrade(&feed));
        Ok((feed, heard))
    }

    fn known(&self, run_id: &str) -> Option<Arc<Feed>> {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.get(run_id)?.upgrade().filter(|feed| !feed.telling.is_finished())
    }
}

/// Tells until the run has ended, or the host is closed. The store is read on the threads for long work.
async fn tell(resources: Arc<Resources>, holder: Holder, mut watch: Watch, frames: Sender<FeedMessage>) {
    let (mut gathered, mut again) = (FrameBuilder::default(), Instant::now());
    loop {
        let heard = tokio::select! {
            biased;
            () = sleep_until(again), if !gathered.is_empty() => {
                again = Instant::now() + pass_on(&mut gathered, &frames);
                continue;
            }
            heard = watch.heard(), if !gathered.is_full() => heard,
        };
        let failed = match heard {
            Ok(WatchSignal::Notice(Notice::Record(told))) => {
                gathered.add(&watch, &told);
                continue;
            }
            Ok(WatchSignal::Notice(_)) => continue,
            Ok(WatchSignal::Nothing) => break,
            Ok(WatchSignal::Unread) => {
                let reading = read_on(watch, std::mem::take(&mut gathered));
                let Ok((read, result)) = resources.work(&holder, reading).await else {
                    drop(frames.send(FeedMessage::Busy));
                    return;
                };
                watch = read;
                result.map(|read| gathered = read)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = failed {
            tracing::warn!(error = &error as &dyn std::error::Error, "a run cannot be followed");
            return;
        }
    }
    pass_on(&mut gathered, &frames);
    if let Some(run) = watch.run().filter(|run| run.is_over()) {
        drop(frames.send(FeedMessage::Over(run.phase())));
    }
}

/// Tells all who hear, and says for how long not to tell them more.
fn pass_on(gathered: &mut FrameBuilder, frames: &Sender<FeedMessage>) -> Duration {
    let Some(frame) = gathered.take() else { return Duration::ZERO };
    let bytes = frame.bytes.as_ref().map_or(0, Bytes::len);
    let each = PAUSE_PER_SUBSCRIBER + PAUSE_PER_BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX));
    // The next subscriber reads these events from the store.
    let heard = frames.send(FeedMessage::Frame(Arc::new(frame.shared()))).unwrap_or(0);
    each.saturating_mul(u32::try_from(heard).unwrap_or(u32::MAX)).min(MAX_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(bytes: usize) -> FrameBuilder {
        FrameBuilder { first: Some(0), next: 2, text: "x".repeat(bytes), starts: vec![0, bytes / 2] }
    }

    /// R-A8: by how many hear, and how much.
    #[test]
    fn the_more_is_told_the_longer_is_nothing_more() {
        let (frames, one) = broadcast::channel(4);
        assert_eq!(pass_on(&mut FrameBuilder::default(), &frames), Duration::ZERO);
        assert_eq!(pass_on(&mut gathered(1000), &frames), Duration::from_micros(302));
        let others: Vec<_> = (1..100).map(|_| frames.subscribe()).collect();
        assert_eq!(pass_on(&mut gathered(1000), &frames), Duration::from_micros(30_200));
        assert_eq!(pass_on(&mut gathered(MAX_SHARED_FRAME_BYTES * 100), &frames), MAX_PAUSE);
        drop((others, one));
        assert_eq!(pass_on(&mut gathered(1000), &frames), Duration::ZERO);
    }

    /// Sends a frame once it is full.
    #[test]
    fn a_frame_has_so_much() {
        let mut full = gathered(FULL_FRAME_BYTES);
        assert!(full.is_full() && !gathered(FULL_FRAME_BYTES - 1).is_full());
        let frame = full.take().unwrap();
        assert_eq!((frame.first, frame.next), (0, 2));
        assert_eq!(frame.from(1).unwrap().len(), FULL_FRAME_BYTES / 2);
        assert!(full.is_empty() && full.take().is_none());
    }
}
