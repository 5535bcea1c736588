//! The threads guests run on, and nothing else does.

use std::{num::NonZeroUsize, thread};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::spawn_blocking,
};

use super::{SandboxError, program::LoadError};

/// A tokio runtime of its own, at a lower priority than whatever controls it.
pub(super) struct GuestThreads {
    /// Present until dropped.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl GuestThreads {
    /// Starts `count` threads, or one a core.
    pub(super) fn start(count: Option<NonZeroUsize>) -> Result<Self, SandboxError> {
        let count = count.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(count)
            .thread_name("phasm-guest")
            .on_thread_start(yield_to_control)
            .enable_all()
            .build()
            .map_err(SandboxError::Threads)?;
        let handle = runtime.handle().clone();
        Ok(Self { runtime: Some(runtime), handle })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Whether the caller is one of these threads.
    pub(super) fn is_current(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() == self.handle.id())
    }
}

impl Drop for GuestThreads {
    fn drop(&mut self) {
        // The last owner may itself be on an async thread, where waiting for the others is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Does what takes long on a thread that serves nothing else.
pub(super) async fn off_the_path<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(LoadError::Fault(error.to_string())))
}

/// Lowers this thread's priority, so that the engine's loop and the ticker come first.
fn yield_to_control() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 10) {
        tracing::debug!("guest thread keeps its priority: {error}");
    }
}
