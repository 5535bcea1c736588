//! Who writes: a thread of its own, or whoever has something to write while nobody else has.
//!
//! ```text
//!  send ─────────▶ queue ──▶ the thread: begin, one job, those that wait, commit (fsync) ──▶ all their answers
//!  write_here ──▶ queue ──▶ the same, on the thread that calls
//! ```
//!
//! Waking a thread and being woken by it takes as long as a commit does on a disk that syncs fast, which nobody gains from who is alone.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    super::StoreError,
    writer::{Job, Writer},
};

/// Whoever calls is kept no longer than this, most of the time: a disk that syncs slower is waited for by the thread.
const QUICK: Duration = Duration::from_millis(1);
/// So many commits are the thread's after one that was not quick.
const PAUSE: u32 = 16;

/// Writes what it is given, in the order it is given, until it is dropped: then what waits is written first.
pub(super) struct Scribe {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

struct Desk {
    queue: Queue,
    /// Whoever has it writes.
    writer: Mutex<Writer>,
    /// How many of the next commits are the thread's.
    paused: AtomicU32,
}

/// What waits to be written. It has no bound of its own: whoever sends holds as many runs as it admitted, and waits for their answers.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Box<dyn Job>>,
    /// The thread waits for news.
    idle: bool,
    /// Nothing is going to come any more.
    closed: bool,
    /// Nothing is written any more.
    ended: bool,
}

impl Scribe {
    pub(super) fn spawn(writer: Writer, store: &Path) -> Result<Self, StoreError> {
        let desk =
            Arc::new(Desk { queue: Queue::default(), writer: Mutex::new(writer), paused: AtomicU32::new(0) });
        let at = Arc::clone(&desk);
        let spawned = thread::Builder::new().name("phasm-store-write".into()).spawn(move || at.work());
        let thread = spawned.map_err(|source| StoreError::io(store, "given a thread", source))?;
        Ok(Self { desk, thread: Some(thread) })
    }

    /// Has the thread write it.
    pub(super) fn send(&self, job: Box<dyn Job>) {
        self.desk.queue.add(job);
        self.desk.queue.wake();
    }

    /// Writes it here and now, with what waits, if nobody else writes and that is quick; else as [`send`](Self::send).
    pub(super) fn write_here(&self, job: Box<dyn Job>) {
        self.desk.queue.add(job);
        self.desk.write_here();
        self.desk.queue.wake();
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        self.desk.queue.close();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Desk {
    /// Until the scribe is dropped, or somebody has panicked while he wrote: then whoever waits is told that nobody writes any more.
    fn work(&self) {
        drop(catch_unwind(AssertUnwindSafe(|| self.work_off())));
        self.queue.end();
    }

    fn work_off(&self) {
        while self.queue.wait() {
            let Ok(mut writer) = self.writer.lock() else { return };
            let _all_over = self.paused.fetch_update(Relaxed, Relaxed, |paused| paused.checked_sub(1));
            writer.commit(&self.queue, true);
        }
    }

    /// Leaves it to the thread where that would take long.
    fn write_here(&self) {
        if self.paused.load(Relaxed) > 0 {
            return;
        }
        let Ok(mut writer) = self.writer.try_lock() else { return };
        let began = Instant::now();
        let written = catch_unwind(AssertUnwindSafe(|| writer.commit(&self.queue, false)));
        if written.is_err() {
            // As when the thread panics.
            self.queue.end();
        } else if began.elapsed() > QUICK {
            self.paused.store(PAUSE, Relaxed);
        }
    }
}

impl Queue {
    /// What is to be written next.
    pub(super) fn next(&self) -> Option<Box<dyn Job>> {
        self.waiting().jobs.pop_front()
    }

    /// Gives back what was to be written next.
    pub(super) fn put_back(&self, job: Box<dyn Job>) {
        self.waiting().jobs.push_front(job);
    }

    /// Once nobody writes any more, it is dropped.
    fn add(&self, job: Box<dyn Job>) {
        let mut waiting = self.waiting();
        if waiting.ended {
            drop(waiting);
            return drop(job);
        }
        waiting.jobs.push_back(job);
    }

    /// Wakes the thread, unless somebody has done so, or has written everything.
    fn wake(&self) {
        let mut waiting = self.waiting();
        if !waiting.jobs.is_empty() && std::mem::take(&mut waiting.idle) {
            drop(waiting);
            self.news.notify_one();
        }
    }

    /// Until there is something to write; false once nothing comes any more.
    fn wait(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.jobs.is_empty() && !waiting.closed && !waiting.ended {
            waiting.idle = true;
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.idle = false;
        !waiting.jobs.is_empty()
    }

    fn close(&self) {
        self.waiting().closed = true;
        self.news.notify_one();
    }

    /// Nobody writes any more: whoever waits is told so.
    fn end(&self) {
        let mut waiting = self.waiting();
        waiting.ended = true;
        let unwritten = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        self.news.notify_one();
        drop(unwritten);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
