//! A toolchain of Phasm's own in its cache: made once in a temporary folder, and moved into place when it works.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use phasm_files::read_own_text;
use serde::{Deserialize, Serialize};

use super::{
    super::{environment::command_in, folder::TARGET, process},
    MINIMUM, Origin, Toolchain,
    error::MakeError,
    linkers,
    packages::Release,
    rust::{Rust, has_std},
    unpack,
};

/// Counts the changes of the recipe: a toolchain made by another one is not used.
const RECIPE: u32 = 1;
const RECORD: &str = "phasm-toolchain.json";
/// Size of the largest record, in bytes.
const MAX_RECORD_BYTES: u64 = 1 << 16;
/// Folder of a private toolchain's own linkers, if it has any.
pub(super) const OWN_LINKERS: &str = "linkers/bin";

/// A compiler unpacked below `root`, with what it takes to run it there.
pub(super) struct Private {
    root: PathBuf,
    record: Record,
}

/// Paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Record {
    pub(super) release: String,
    pub(super) rustc: PathBuf,
    /// Folders with the shared libraries it loads.
    pub(super) libraries: Vec<PathBuf>,
}

impl Record {
    /// Describes the packages unpacked below `tree`; `None` if there is no compiler among them. The release is not known yet.
    pub(super) fn of(tree: &Path) -> Option<Self> {
        let files = unpack::files(tree);
        let relative = |path: &Path| path.strip_prefix(tree).ok().map(Path::to_path_buf);
        let rustc = files.iter().find(|path| path.ends_with("bin/rustc"))?;
        let shared = files.iter().filter(|path| is_shared_library(path)).filter_map(|path| path.parent());
        let libraries = shared.filter_map(relative).collect::<BTreeSet<_>>().into_iter().collect();
        Some(Self { release: String::new(), rustc: relative(rustc)?, libraries })
    }
}

/// Libraries that the compiler loads; those it links against are below `rustlib`.
fn is_shared_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (name.ends_with(".so") || name.contains(".so."))
        && !path.components().any(|component| component.as_os_str() == "rustlib")
}

impl Private {
    pub(super) fn new(root: PathBuf, record: Record) -> Self {
        Self { root, record }
    }

    /// Rust release of the compiler.
    pub(super) fn release(&self) -> &str {
        &self.record.release
    }

    /// Writes the record, and moves the toolchain to its place, replacing an older one.
    pub(super) fn publish(self, home: &Path) -> Result<(), MakeError> {
        let text = serde_json::to_string_pretty(&self.record).unwrap_or_default();
        fs::write(self.root.join(RECORD), text).map_err(MakeError::at(&self.root))?;
        replace(&self.root, &place(home)).map_err(MakeError::at(home))
    }

    /// The finished toolchain, if it is new enough and still runs: an upgrade of the system may have taken a library away.
    pub(super) fn open(home: &Path) -> Option<Self> {
        let root = place(home);
        let record =
            serde_json::from_str::<Record>(&read_own_text(&root.join(RECORD), MAX_RECORD_BYTES).ok()?)
                .ok()?;
        let private = Self::new(root, record);
        let new_enough = private.record.release.parse::<Release>().ok() >= MINIMUM.parse().ok();
        (new_enough && has_std(&mut private.rustc())).then_some(private)
    }

    /// Returns this toolchain with the cargo of `rust`; `None` when there are no linkers.
    pub(super) fn toolchain(&self, rust: &Rust) -> Option<Toolchain> {
        let environment = self.environment_with_linkers(rust)?;
        let origin = Origin::Private { release: self.record.release.clone() };
        Some(Toolchain { cargo: rust.cargo(), environment, origin })
    }

    /// The compiler by itself.
    pub(super) fn rustc(&self) -> Command {
        let mut rustc = command_in(&self.root, self.root.join(&self.record.rustc));
        rustc.envs(self.environment());
        rustc
    }

    /// Returns the variables that make any cargo use this compiler. A wrapper such as a compilation cache would run it without its libraries.
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let libraries = self.record.libraries.iter().map(|dir| self.root.join(dir)).collect::<Vec<_>>();
        let mut environment = vec![
            ("RUSTC", self.root.join(&self.record.rustc).into_os_string()),
            ("RUSTC_WRAPPER", OsString::new()),
            ("RUSTC_WORKSPACE_WRAPPER", OsString::new()),
        ];
        environment.extend(prepended("LD_LIBRARY_PATH", &libraries).map(|path| ("LD_LIBRARY_PATH", path)));
        environment
    }

    /// The linkers are those of the folder's own toolchain if it has any: they need not be kept twice.
    pub(super) fn environment_with_linkers(&self, rust: &Rust) -> Option<Vec<(&'static str, OsString)>> {
        let own = Some(self.root.join(OWN_LINKERS)).filter(|dir| linkers::are_in(dir));
        let mut environment = self.environment();
        match rust.linkers().or(own) {
            Some(dir) => environment.push(("PATH", prepended("PATH", &[dir])?)),
            None if linkers::on_path() => {}
            None => return None,
        }
        Some(environment)
    }

    /// Where the target's standard library belongs.
    ///
    /// # Errors
    /// [`MakeError`].
    pub(super) fn target_libdir(&self) -> Result<PathBuf, MakeError> {
        let libdir = process::query(self.rustc().args(["--print", "target-libdir", "--target", TARGET]))?;
        Ok(PathBuf::from(libdir.trim_end()))
    }
}

/// Returns the folder of the toolchain that this recipe makes.
pub(super) fn place(home: &Path) -> PathBuf {
    home.join(format!("{TARGET}-recipe{RECIPE}"))
}

fn replace(made: &Path, place: &Path) -> io::Result<()> {
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::rename(made, place)
}

fn prepended(variable: &str, dirs: &[PathBuf]) -> Option<OsString> {
    let old = env::var_os(variable).unwrap_or_default();
    let old = env::split_paths(&old).filter(|dir| !dir.as_os_str().is_empty());
    env::join_paths(dirs.iter().cloned().chain(old)).ok()
}

#[cfg(test)]
mod tests;
