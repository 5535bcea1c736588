//! Artifacts: files that tasks pass to each other by reference.
//!
//! ```text
//!  inputs ──▶ AttemptFiles: /artifacts/in, /artifacts/out ──▶ guest ──▶ outcome with paths ──▶ outcome with references ──▶ record
//!                  │ verifies and links                                        │ hashes, syncs and renames
//!                  └───────────────────────── ArtifactFolder ◀─────────────────┘
//!                        blobs by digest, and the runs that name each
//! ```
//!
//! A value names an artifact by the digest of its content, and is plain JSON everywhere else. Bytes go through files, and never
//! through the engine, its records or memory as a whole. A file is stored, and durable, before the record that names it.

#[cfg(feature = "bucket")]
pub use self::bucket::{Addressing, BucketConfig};
pub use self::{
    attempt_files::{AttemptFiles, GUEST_DIR},
    error::ArtifactError,
    host_artifacts::{ArtifactPlace, HostArtifacts},
    reference::Artifact,
    store::{ArtifactLimits, ArtifactOwner, ArtifactStore, Upload},
    view::{ArtifactView, ArtifactsView},
};

mod attempt_files;
#[cfg(feature = "bucket")]
mod bucket;
#[cfg(feature = "bucket")]
mod cache;
mod content_store;
mod error;
mod folder;
mod host_artifacts;
mod names;
mod reference;
mod store;
#[cfg(test)]
mod tests;
mod view;
mod work_dir;
