//! Error of starting a sandbox.

use std::io;

/// Reason why a [`Sandbox`](crate::Sandbox) could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// wasmtime refuses the configuration or this machine.
    #[error("WebAssembly engine: {0}")]
    Engine(String),
    /// The operating system starts no threads.
    #[error("threads for guests: {0}")]
    Threads(#[source] io::Error),
}
