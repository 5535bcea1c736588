//! The thread that writes to the file.
//!
//! ```text
//!  send ──▶ queue ──▶ the thread: begin, one job, those that wait, commit (fsync) ──▶ all their answers
//! ```
//!
//! While many have something to write, the thread [gathers](GroupCommit) more of it before it begins.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    super::{StoreError, group_commit::GroupCommit},
    writer::{Job, Writer},
};

/// Writes jobs in the order in which they are sent. Dropping it writes the jobs that wait first.
pub(super) struct WriteThread {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

/// Jobs that wait to be written. It has no bound of its own: a host waits for the answers of as many runs as it has admitted.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Box<dyn Job>>,
    /// Number of jobs that the thread waits for; 0 if it does not wait.
    wanted: usize,
    /// No job comes any more.
    closed: bool,
    /// The thread has ended.
    ended: bool,
}

impl WriteThread {
    pub(super) fn spawn(writer: Writer, store: &Path) -> Result<Self, StoreError> {
        let queue = Arc::<Queue>::default();
        let work = {
            let queue = Arc::clone(&queue);
            move || {
                // After a panic the senders of jobs are told that nothing is written any more.
                drop(catch_unwind(AssertUnwindSafe(|| write(writer, &queue))));
                queue.end();
            }
        };
        let spawned = thread::Builder::new().name("phasm-store-write".into()).spawn(work);
        let thread = spawned.map_err(|source| StoreError::io(store, "given a thread", source))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    pub(super) fn send(&self, job: Box<dyn Job>) {
        self.queue.add(job);
    }
}

impl Drop for WriteThread {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Commits jobs until the queue is closed.
fn write(mut writer: Writer, queue: &Queue) {
    let mut group_commit = GroupCommit::default();
    while queue.wait() {
        if let Some((jobs, length)) = group_commit.waits() {
            queue.gather(jobs, length);
        }
        let began = Instant::now();
        let jobs = writer.commit(queue);
        let now = Instant::now();
        if jobs > 0 {
            group_commit.committed(jobs, now.duration_since(began), now);
        }
    }
}

impl Queue {
    /// Takes the next job.
    pub(super) fn next(&self) -> Option<Box<dyn Job>> {
        self.waiting().jobs.pop_front()
    }

    /// Adds a job, and wakes the thread if it waits for no more. After the thread's end the job is dropped, which tells its
    /// sender.
    fn add(&self, job: Box<dyn Job>) {
        let mut waiting = self.waiting();
        if waiting.ended {
            drop(waiting);
            return drop(job);
        }
        waiting.jobs.push_back(job);
        if waiting.wanted > 0 && waiting.jobs.len() >= waiting.wanted {
            waiting.wanted = 0;
            drop(waiting);
            self.news.notify_one();
        }
    }

    /// Waits for a job. Returns false once the queue is closed and empty.
    fn wait(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.jobs.is_empty() && !waiting.closed && !waiting.ended {
            waiting.wanted = 1;
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.wanted = 0;
        !waiting.jobs.is_empty()
    }

    /// Waits until there are so many jobs, at most that long.
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

    /// Drops the jobs that wait, which tells their senders that nothing is written any more.
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
        super::{fault::Fault, write_transaction::WriteTransaction},
        *,
    };

    /// Does nothing.
    struct Nothing;

    impl Job for Nothing {
        fn write(&mut self, _: &mut WriteTransaction<'_>) -> Result<usize, Fault> {
            Ok(0)
        }

        fn answer(self: Box<Self>, _: Option<StoreError>) {}
    }

    #[test]
    fn gathering_ends_with_enough_jobs_or_a_closed_queue() {
        const LONG: Duration = Duration::from_secs(3600);
        let queue = Queue::default();
        let add = |jobs: usize| {
            for _ in 0..jobs {
                queue.add(Box::new(Nothing));
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
