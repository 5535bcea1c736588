//! The store's own thread, with a runtime on it.

use std::{
    future::Future,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel},
};

use super::{super::StoreError, address::Address};

/// Works off a queue; ends, its queue empty, when it is dropped.
pub(super) struct Thread<Job> {
    queue: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
    handle: Handle,
}

impl<Job: Send + 'static> Thread<Job> {
    /// Starts it. `open` runs before this returns, and gives what works off the queue.
    pub(super) fn start<Work: Future<Output = ()> + 'static>(
        address: &Arc<Address>,
        open: impl AsyncFnOnce(UnboundedReceiver<Job>) -> Result<Work, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let failed = |source| address.io("given a thread", source);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (handle, (queue, jobs)) = (runtime.handle().clone(), unbounded_channel());
        let (told, opened) = mpsc::channel();
        let main = async move || match open(jobs).await {
            Ok(work) => {
                drop(told.send(Ok(())));
                work.await;
            }
            Err(error) => drop(told.send(Err(error))),
        };
        let spawned = thread::Builder::new().name("phasm-postgres".into());
        let thread = spawned.spawn(move || runtime.block_on(main())).map_err(failed)?;
        let started = Self { queue: Some(queue), thread: Some(thread), handle };
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
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
