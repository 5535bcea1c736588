//! The thread that writes to the file.
//!
//! ```text
//!  send ──▶ queue ──▶ the thread: begin, one job, those that wait, commit (fsync) ──▶ all their answers
//! ```
//!
//! While many write, the thread [waits](GroupCommit) for more jobs before it begins.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use super::{
    super::{StoreError, group_commit::GroupCommit},
    queue::{Job, Queue},
    writer::Writer,
};

/// Writes jobs in the order in which they are sent. Dropping it writes the jobs that wait first.
pub(super) struct WriteThread {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
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
        if let Some((jobs, length)) = group_commit.delay() {
            queue.gather(jobs, length);
        }
        let began = Instant::now();
        let jobs = writer.commit(queue);
        if jobs > 0 {
            group_commit.committed(jobs, began.elapsed());
        }
    }
}
