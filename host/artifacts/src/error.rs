//! Errors of artifacts, in words for all who see the run. Paths of the host are not among them.

use std::{io, path::Path};

use phasm_files::Size;
use phasm_sandbox::Digest;

/// Why an artifact cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// A value names an artifact that the run has no right to.
    #[error(
        "artifact {0} does not belong to this run: no task of it made the artifact, and none of its parameters was submitted with it"
    )]
    NotOfRun(String),
    /// The stored file is gone.
    #[error(
        "artifact {0} is missing in the artifact store; restore it from a backup, or run again what made it"
    )]
    Missing(String),
    /// The stored file has other bytes.
    #[error(
        "artifact {artifact} is damaged: the stored file has the digest {found}; restore it from a backup, or run again what made it"
    )]
    Damaged {
        /// Name of the artifact.
        artifact: String,
        /// Digest of the bytes that are stored.
        found: Digest,
    },
    /// The tenant has no room for more.
    #[error(
        "artifact `{name}` has {}, and the tenant's artifacts have {} of at most {} (`stored` under `[artifacts]` of the configuration); \
         `phasm prune` deletes runs with their artifacts",
        Size(*size), Size(*used), Size(*limit)
    )]
    Full {
        /// File that was to be stored.
        name: String,
        /// Size of the file.
        size: u64,
        /// Bytes that are stored.
        used: u64,
        /// Most bytes that may be stored.
        limit: u64,
    },
    /// An output names a file that cannot become an artifact.
    #[error("output {output}: `{path}` {why}")]
    NotAFile {
        /// Path of the value in the outputs.
        output: String,
        /// Path as the guest wrote it.
        path: String,
        /// Words for the fault, with what was expected.
        why: String,
    },
    /// An upload is larger than an artifact may be.
    #[error("the file has more than {}, the most of an artifact (`attempt-size` under `[artifacts]` of the configuration)", Size(*.0))]
    TooLarge(u64),
    /// There is no place for artifacts.
    #[error(
        "there is no place for artifacts; name one with `directory` or `bucket` under `[artifacts]` of the configuration"
    )]
    NoPlace,
    /// The store cannot be read or written.
    #[error("artifact store: {what}: {source}")]
    Io {
        /// Words for the work that failed.
        what: String,
        /// Reason of the system.
        source: io::Error,
    },
}

impl ArtifactError {
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// Returns the error of a file of the host. The log names the file; who sees the run need not know where it lies.
    pub(crate) fn at(what: impl Into<String>, path: &Path, source: io::Error) -> Self {
        tracing::warn!(error = %source, "artifacts: {}", path.display());
        Self::io(what, source)
    }
}
