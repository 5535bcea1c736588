//! Threads for long work: planning of large documents, views and lists.
//!
//! They have the priority of threads that call guests, which is low: requests and the control of runs come first. On a busy machine the
//! system may leave such a thread waiting for milliseconds. One more thread therefore has the normal priority. Work of a tenant that does
//! nothing else gets it while it is free.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::{AbortHandle, JoinError},
};

/// Priority of the threads, where it is low.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Priority of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// While the thread of this priority is free; low otherwise.
    Normal,
    Low,
}

/// Threads that are started when there is work for them.
pub(crate) struct WorkThreads {
    count: usize,
    low: OnceLock<Option<Runtime>>,
    normal: OnceLock<Option<Runtime>>,
    is_normal_taken: Arc<AtomicBool>,
}

/// The thread of normal priority, until dropped.
struct NormalThread(Arc<AtomicBool>);

/// Stops work when its caller stops waiting, at the next place where the work waits itself.
struct AbortOnDrop(AbortHandle);

impl WorkThreads {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, low: OnceLock::new(), normal: OnceLock::new(), is_normal_taken: Arc::default() }
    }

    /// Does work on one of the threads, or on the caller's runtime if the system starts no more threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        priority: Priority,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let normal = if priority == Priority::Normal { self.take_normal() } else { None };
        let runtime = match &normal {
            Some(_) => self.normal.get_or_init(|| started(1, || {})),
            None => self.low.get_or_init(|| started(self.count, lower_priority)),
        };
        let handle = runtime.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone());
        let working = handle.spawn(async move {
            // The thread is busy until the work has ended, also if its caller is gone.
            let _busy = normal;
            work.await
        });
        let _abort = AbortOnDrop(working.abort_handle());
        working.await
    }

    fn take_normal(&self) -> Option<NormalThread> {
        let was_taken = self.is_normal_taken.swap(true, Ordering::AcqRel);
        (!was_taken).then(|| NormalThread(Arc::clone(&self.is_normal_taken)))
    }
}

/// Starts threads, unless the system has none left.
fn started(count: usize, on_start: fn()) -> Option<Runtime> {
    let threads = Builder::new_multi_thread()
        .worker_threads(count)
        .thread_name("phasm-work")
        .on_thread_start(on_start)
        .enable_all()
        .build();
    threads.inspect_err(|error: &io::Error| tracing::warn!("no threads for long work: {error}")).ok()
}

impl Drop for WorkThreads {
    fn drop(&mut self) {
        // The last owner may itself be on an async thread, where blocking on others is not allowed.
        let runtimes = [self.low.take(), self.normal.take()];
        runtimes.into_iter().flatten().flatten().for_each(Runtime::shutdown_background);
    }
}

impl Drop for NormalThread {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Lowers the priority of this thread.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!("a thread for long work keeps its priority: {error}");
    }
}
