//! The compiler that a folder uses anyway.

use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    super::{environment::command_in, folder::TARGET, process},
    ToolchainError, linkers,
};

pub(super) struct Rust {
    folder: PathBuf,
    sysroot: PathBuf,
}

impl Rust {
    /// # Errors
    /// [`ToolchainError::NoRust`], [`ToolchainError::BrokenRust`].
    pub(super) fn of(folder: &Path) -> Result<Self, ToolchainError> {
        if let [tool, ..] = process::missing(&["cargo", "rustc"]).as_slice() {
            return Err(ToolchainError::NoRust { tool });
        }
        let sysroot = process::query(command_in(folder, "rustc").args(["--print", "sysroot"]))
            .map_err(|source| ToolchainError::BrokenRust { folder: folder.to_path_buf(), source })?;
        Ok(Self { folder: folder.to_path_buf(), sysroot: PathBuf::from(sysroot.trim_end()) })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it can build and link for the target as it stands.
    pub(super) fn has_target(&self) -> bool {
        has_std(&mut command_in(&self.folder, "rustc")) && (self.linkers().is_some() || linkers::on_path())
    }

    /// The folder with the target's linkers, which rustup's toolchains carry whether or not the target is installed.
    pub(super) fn linkers(&self) -> Option<PathBuf> {
        let hosts = fs::read_dir(self.sysroot.join("lib/rustlib")).ok()?;
        hosts.filter_map(|host| Some(host.ok()?.path().join("bin"))).find(|dir| linkers::are_in(dir))
    }

    /// Cargo itself rather than rustup's proxy of it, which would choose the compiler again.
    pub(super) fn cargo(&self) -> PathBuf {
        let own = self.sysroot.join("bin").join(format!("cargo{EXE_SUFFIX}"));
        if own.is_file() { own } else { PathBuf::from("cargo") }
    }
}

/// Whether a compiler has the target's standard library; an old one does not even know the target.
pub(super) fn has_std(rustc: &mut Command) -> bool {
    let libdir = process::query(rustc.args(["--print", "target-libdir", "--target", TARGET]));
    let entries = libdir.ok().and_then(|dir| fs::read_dir(dir.trim_end()).ok());
    entries.is_some_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        })
    })
}
