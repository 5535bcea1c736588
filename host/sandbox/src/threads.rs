//! Threads that run guests and nothing else.

use std::{io, num::NonZeroUsize, sync::OnceLock, thread};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::spawn_blocking,
};

use super::{error::SandboxError, program::LoadError};

/// Lower than the priority of the threads that control guests.
const NICE: i32 = 10;
/// Lower than the priority of attempts that have just begun: the system preempts these threads even during a long instruction or
/// host call.
const NICE_LONG: i32 = 19;

/// Tokio runtimes for guests, at a lower priority than the code that controls them.
pub(super) struct GuestThreads {
    count: NonZeroUsize,
    /// Present until dropped.
    runtime: Option<Runtime>,
    handle: Handle,
    /// Threads for long computations, once there are any.
    long: OnceLock<Option<Runtime>>,
}

impl GuestThreads {
    /// Starts `count` threads, or one a core.
    pub(super) fn start(count: Option<NonZeroUsize>) -> Result<Self, SandboxError> {
        let count = count.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        let runtime = runtime("phasm-guest", count, NICE).map_err(SandboxError::Threads)?;
        let handle = runtime.handle().clone();
        Ok(Self { count, runtime: Some(runtime), handle, long: OnceLock::new() })
    }

    /// Returns the number of guests that compute at once.
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }

    /// Returns the threads for long computations, or the other ones if the system starts no more threads.
    pub(super) fn long(&self) -> &Handle {
        let long = self.long.get_or_init(|| {
            runtime("phasm-long", self.count, NICE_LONG)
                .inspect_err(|error| tracing::warn!("no threads for guests that compute long: {error}"))
                .ok()
        });
        long.as_ref().map_or(&self.handle, Runtime::handle)
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns whether the caller is one of these threads.
    pub(super) fn is_current(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() == self.handle.id())
    }
}

impl Drop for GuestThreads {
    fn drop(&mut self) {
        // The last owner may itself be on an async thread, where blocking on the others is not allowed.
        self.runtime
            .take()
            .into_iter()
            .chain(self.long.take().flatten())
            .for_each(Runtime::shutdown_background);
    }
}

/// Runs long work on a blocking thread.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(LoadError::Fault(error.to_string())))
}

fn runtime(name: &str, count: NonZeroUsize, nice: i32) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(count.get())
        .thread_name(name)
        .on_thread_start(move || lower_priority(nice))
        .enable_all()
        .build()
}

/// Lowers the priority of this thread.
fn lower_priority(nice: i32) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, nice) {
        tracing::debug!("guest thread keeps its priority: {error}");
    }
}
