//! Errors of opening a host.

use std::path::PathBuf;

use phasm_sandbox::SandboxError;

use crate::plugins::LibraryError;

/// Why a host could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Threads could not be started.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] SandboxError),
    /// A plugin directory could not be read.
    #[error("the plugin directory {} could not be read", path.display())]
    Plugins {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A library of plugins could not be read.
    #[error("the plugin library {} could not be read", path.display())]
    Library {
        /// Its directory.
        path: PathBuf,
        /// Why.
        source: LibraryError,
    },
}
