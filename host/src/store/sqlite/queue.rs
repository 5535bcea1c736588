//! Queue between those who write to the store and its write thread.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{super::StoreError, fault::Fault, write_transaction::WriteTransaction};

/// Something to be written; it shares its commit with what else waits.
pub(super) trait Job: Send {
    /// Writes the job, and returns its size. A job that is refused writes nothing.
    fn write(&mut self, tx: &mut WriteTransaction<'_>) -> Result<usize, Fault>;

    /// Says what came of it: it is durable, or failed.
    fn answer(self: Box<Self>, failed: Option<StoreError>);
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

impl Queue {
    /// Takes the next job.
    pub(super) fn next(&self) -> Option<Box<dyn Job>> {
        self.waiting().jobs.pop_front()
    }

    /// Adds a job, and wakes the thread if it waits for no more. After the thread's end the job is dropped, which tells its
    /// sender.
    pub(super) fn add(&self, job: Box<dyn Job>) {
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
    pub(super) fn wait(&self) -> bool {
        let mut waiting = self.waiting();
        while waiting.jobs.is_empty() && !waiting.closed && !waiting.ended {
            waiting.wanted = 1;
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.wanted = 0;
        !waiting.jobs.is_empty()
    }

    /// Waits until there are so many jobs, at most that long.
    pub(super) fn gather(&self, jobs: usize, length: Duration) {
        let goes_on = |waiting: &mut Waiting| {
            let goes_on = waiting.jobs.len() < jobs && !waiting.closed && !waiting.ended;
            waiting.wanted = if goes_on { jobs } else { 0 };
            goes_on
        };
        let waited = self.news.wait_timeout_while(self.waiting(), length, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
    }

    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.news.notify_one();
    }

    /// Drops the jobs that wait, which tells their senders that nothing is written any more.
    pub(super) fn end(&self) {
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
    use std::thread;

    use super::*;

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
