//! A thread that works off a queue.

use std::{
    io,
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
};

use super::super::StoreError;

/// Thread that ends with an empty queue when it is dropped.
///
/// The queue has no bound of its own: a sender holds as many runs as it admitted, and waits for their answers.
pub(super) struct Worker<Work> {
    queue: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl<Work: Send + 'static> Worker<Work> {
    pub(super) fn spawn(
        name: &str,
        store: &Path,
        work: impl FnOnce(Receiver<Work>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let spawned = thread::Builder::new().name(name.into()).spawn(move || work(receiver));
        let thread = spawned.map_err(|source: io::Error| StoreError::io(store, "given a thread", source))?;
        Ok(Self { queue: Some(sender), thread: Some(thread) })
    }

    /// Work sent to a thread that has ended is dropped.
    pub(super) fn send(&self, work: Work) {
        if let Some(queue) = &self.queue {
            drop(queue.send(work));
        }
    }
}

impl<Work> Drop for Worker<Work> {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
