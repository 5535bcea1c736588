//! The store's own thread, with a runtime on it.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel},
};

use super::{super::StoreError, address::Address};

/// How long closing waits without progress.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Works off a queue; ends, its queue empty, when it is dropped and the server answers.
pub(super) struct Thread<Job> {
    queue: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
    handle: Handle,
    /// Closed when the thread ends.
    ended: Mutex<mpsc::Receiver<()>>,
    progress: Arc<AtomicU64>,
}

impl<Job: Send + 'static> Thread<Job> {
    /// Starts it. `open` runs before this returns, and gives what works off the queue.
    pub(super) fn start<Work: Future<Output = ()> + 'static>(
        address: &Arc<Address>,
        open: impl AsyncFnOnce(UnboundedReceiver<Job>, Arc<AtomicU64>) -> Result<Work, StoreError>
        + Send
        + 'static,
    ) -> Result<Self, StoreError> {
        let progress = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&progress);
        let failed = |source| address.io("given a thread", source);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (handle, (queue, jobs)) = (runtime.handle().clone(), unbounded_channel());
        let (told, opened) = mpsc::channel();
        let main = async move || match open(jobs, counted).await {
            Ok(work) => {
                drop(told.send(Ok(())));
                work.await;
            }
            Err(error) => drop(told.send(Err(error))),
        };
        let spawned = thread::Builder::new().name("phasm-postgres".into());
        let (ends, ended) = mpsc::channel();
        let thread = spawned.spawn(move || {
            runtime.block_on(main());
            drop(ends);
        });
        let thread = thread.map_err(failed)?;
        let started =
            Self { queue: Some(queue), thread: Some(thread), handle, ended: Mutex::new(ended), progress };
        opened.recv().unwrap_or(Err(StoreError::Stopped))?;
        Ok(started)
    }

    /// Work sent to a thread that has ended is dropped.
    pub(super) fn send(&self, job: Job) {
        if let Some(queue) = &self.queue {
            drop(queue.send(job));
        }
    }

    /// Returns the queue for later jobs; it does not keep the thread alive.
    pub(super) fn queue(&self) -> Option<WeakUnboundedSender<Job>> {
        self.queue.as_ref().map(UnboundedSender::downgrade)
    }

    /// Where whatever else belongs to the store runs.
    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl<Job> Drop for Thread<Job> {
    /// Waits for what is queued, for as long as some of it is written. A thread that waits for a mute server is left alone: its jobs
    /// are not acknowledged.
    fn drop(&mut self) {
        drop(self.queue.take());
        let mut before = self.progress.load(Ordering::Relaxed);
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(CLOSE_TIMEOUT) {
            let now = self.progress.load(Ordering::Relaxed);
            if now == before {
                tracing::warn!("the database does not respond; queued statements were dropped");
                return;
            }
            before = now;
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
