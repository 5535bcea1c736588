//! Artifacts: files that tasks pass to each other by reference.
//!
//! ```text
//!  inputs ──▶ AttemptFiles: /artifacts/in, /artifacts/out ──▶ guest ──▶ outcome with paths ──▶ outcome with references ──▶ record
//!                  │ verifies and links                                        │ hashes, syncs and renames
//!                  └────────────────────────── ContentStore ◀──────────────────┘
//!                 ArtifactFolder or ArtifactBucket: content by digest, and the runs that name it
//! ```
//!
//! A value names an artifact by the digest of its content, and is plain JSON everywhere else. Bytes go through files, and never
//! through the engine, its records or memory as a whole. A file is stored, and durable, before the record that names it.

pub use self::{
    attempt_files::{AttemptFiles, GUEST_DIR},
    bucket_config::{Addressing, BucketConfig},
    error::ArtifactError,
    host_artifacts::{ArtifactPlace, HostArtifacts},
    owner::ArtifactOwner,
    reference::Artifact,
    store::{ArtifactLimits, ArtifactStore, Upload},
    view::{ArtifactView, ArtifactsView},
};

mod attempt_files;
#[cfg(feature = "bucket")]
mod bucket;
mod bucket_config;
#[cfg(feature = "bucket")]
mod cache;
mod content_store;
mod error;
mod file_changes;
mod folder;
mod host_artifacts;
mod names;
mod owner;
mod reference;
mod store;
#[cfg(test)]
mod tests;
mod view;
mod work_dir;
