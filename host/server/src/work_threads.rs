//! Threads for long work: planning of large documents, views and lists.

use std::{io, sync::OnceLock};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::{AbortHandle, JoinError},
};

/// Priority of the threads, which is that of threads that call guests: requests and the control of runs come first.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Threads of a low priority, which are started when there is work for them.
pub(crate) struct WorkThreads {
    count: usize,
    runtime: OnceLock<Option<Runtime>>,
}

/// Stops work when its caller stops waiting, at the next place where the work waits itself.
struct AbortOnDrop(AbortHandle);

impl WorkThreads {
    pub(crate) const fn new(count: usize) -> Self {
        Self { count, runtime: OnceLock::new() }
    }

    /// Does work on one of the threads, or on the caller's runtime if the system starts no more threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let runtime = self.runtime.get_or_init(|| {
            self.start().inspect_err(|error| tracing::warn!("no threads for long work: {error}")).ok()
        });
        let handle = runtime.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone());
        let working = handle.spawn(work);
        let _abort = AbortOnDrop(working.abort_handle());
        working.await
    }

    fn start(&self) -> io::Result<Runtime> {
        Builder::new_multi_thread()
            .worker_threads(self.count)
            .thread_name("phasm-work")
            .on_thread_start(lower_priority)
            .enable_all()
            .build()
    }
}

impl Drop for WorkThreads {
    fn drop(&mut self) {
        // The last owner may itself be on an async thread, where blocking on others is not allowed.
        self.runtime.take().flatten().into_iter().for_each(Runtime::shutdown_background);
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
