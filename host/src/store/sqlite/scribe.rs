//! Who writes: a thread of its own, or whoever has something to write while nobody else has.
//!
//! ```text
//!  send ─────────▶ queue ──▶ the thread: begin, one job, those that wait, commit (fsync) ──▶ all their answers
//!  write_here ──▶ queue ──▶ the same, on the thread that calls
//! ```
//!
//! Where many have something to write, the thread [gathers](Gathering) more of it before it begins. Waking a thread and being woken by it takes
//! as long as a commit does on a disk that syncs fast, which nobody gains from who is alone.

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
    super::{StoreError, gathering::Gathering},
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
    /// The thread waits for so many jobs; for none, if it does not wait.
    wanted: usize,
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
        let mut gathering = Gathering::default();
        while self.queue.wait() {
            if let Some((jobs, length)) = gathering.waits() {
                self.queue.gather(jobs, length);
            }
            let Ok(mut writer) = self.writer.lock() else { return };
            let _all_over = self.paused.fetch_update(Relaxed, Relaxed, |paused| paused.checked_sub(1));
            let began = Instant::now();
            let jobs = writer.commit(&self.queue, true);
            let now = Instant::now();
            if jobs > 0 {
                gathering.committed(jobs, now.duration_since(began), now);
            }
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
        if waiting.wanted > 0 && waiting.jobs.len() >= waiting.wanted {
            waiting.wanted = 0;
            drop(waiting);
            self.news.notify_one();
        }
    }

    /// Until there is something to write; false once nothing comes any more.
    fn wait(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.jobs.is_empty() && !waiting.closed && !waiting.ended {
            waiting.wanted = 1;
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.wanted = 0;
        !waiting.jobs.is_empty()
    }

    /// Until there are so many, or nobody else comes for so long.
    fn gather(&self, jobs: usize, length: Duration) {
        let goes_on = |waiting: &mut Waiting| {
            let goes_on = waiting.jobs.len() < jobs && !waiting.closed && !waiting.ended;
            waiting.wanted = if goes_on { jobs } else { 0 };
            goes_on
        };
        let waited = self.news.wait_timeout_while(self.waiting(), length, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
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

#[cfg(test)]
mod tests {
    use super::{
        super::{fault::Fault, group::Group},
        *,
    };

    /// Does nothing.
    struct Nothing;

    impl Job for Nothing {
        fn write(&mut self, _: &mut Group<'_>) -> Result<usize, Fault> {
            Ok(0)
        }

        fn answer(self: Box<Self>, _: Option<StoreError>) {}
    }

    #[test]
    fn whoever_gathers_goes_on_with_so_many_or_when_nothing_comes_any_more() {
        const LONG: Duration = Duration::from_secs(3600);
        let queue = Queue::default();
        let add = |jobs: usize| {
            for _ in 0..jobs {
                queue.add(Box::new(Nothing));
                queue.wake();
            }
        };
        thread::scope(|scope| {
            let gathers = scope.spawn(|| queue.gather(3, LONG));
            add(3);
            gathers.join().unwrap();
            queue.gather(3, LONG);
            queue.gather(4, Duration::ZERO);
            let gathers = scope.spawn(|| queue.gather(4, LONG));
            queue.close();
            gathers.join().unwrap();
        });
        assert_eq!((0..4).filter_map(|_| queue.next()).count(), 3);
    }
}
