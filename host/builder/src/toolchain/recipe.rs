//! Context of the steps that make a private toolchain.

use std::path::{Path, PathBuf};

use super::{super::progress::Progress, rust::Rust};

/// Folders, tools and progress of the steps.
pub(super) struct Recipe<'a> {
    /// Folder below which every step works.
    pub(super) work: &'a Path,
    /// The toolchain that is installed already: its cargo, and its linkers if it has any.
    pub(super) rust: &'a Rust,
    pub(super) progress: &'a dyn Progress,
}

impl Recipe<'_> {
    /// Folder of the new toolchain.
    pub(super) fn tree(&self) -> PathBuf {
        self.work.join("tree")
    }

    /// Folder of the downloaded packages.
    pub(super) fn packages(&self) -> PathBuf {
        self.work.join("packages")
    }

    /// Folder where the distribution's own C library for the target is unpacked.
    pub(super) fn libc(&self) -> PathBuf {
        self.work.join("wasi-libc")
    }
}
