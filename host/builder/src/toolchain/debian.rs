//! The recipe: Debian's or Ubuntu's Rust compiler unpacked aside, a standard library for the target built from the source of
//! that very compiler, the target's C library and, where rustup's are not there, linkers.
//!
//! No package is installed and no version is pinned: the newest compiler that apt offers is taken.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{process, progress::Progress},
    MINIMUM,
    apt::Apt,
    error::{MakeError, PACKAGES},
    linkers,
    packages::{COMPILER, Package, Release, choose},
    private::{Private, Record},
    rust::Rust,
    std_source, unpack, wasi_libc,
};

/// Where a source package has the standard library.
const LIBRARY: &str = "./usr/src/*/library";

/// What the steps of the recipe share.
pub(super) struct Making<'a> {
    /// Everything happens below this folder.
    pub(super) work: &'a Path,
    /// The toolchain that is there already: its cargo, and its linkers if it has any.
    pub(super) rust: &'a Rust,
    pub(super) progress: &'a dyn Progress,
}

/// What was downloaded for the steps to come.
struct Fetched {
    /// Over the lists that had everything.
    apt: Apt,
    libc: Package,
}

impl Making<'_> {
    /// Makes a toolchain in `work/tree`.
    ///
    /// # Errors
    /// [`MakeError`].
    pub(super) fn make(&self) -> Result<Private, MakeError> {
        let tools = process::missing(&PACKAGES.map(|(tool, _)| tool));
        if !tools.is_empty() {
            return Err(MakeError::MissingTools { tools });
        }
        self.progress.step("making a private toolchain from the distribution's packages (minutes, once)");
        let Fetched { apt, libc } = self.download()?;
        let (private, source) = self.unpack()?;
        if self.rust.linkers().is_none() && !linkers::on_path() {
            linkers::add(self, &apt, &private)?;
        }
        std_source::build(self, &private, &source)?;
        wasi_libc::add(self, &libc, &private)?;
        // Nobody will read its documentation; a toolchain that keeps it works as well.
        let _ = fs::remove_dir_all(self.tree().join("usr/share"));
        Ok(private)
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.work.join("tree")
    }

    fn packages(&self) -> PathBuf {
        self.work.join("packages")
    }

    /// Where the distribution's own C library for the target is unpacked.
    pub(super) fn libc(&self) -> PathBuf {
        self.work.join(wasi_libc::PACKAGE)
    }

    /// The system's lists do if they are there and the archive still has what they name; if not, fresh ones are fetched.
    fn download(&self) -> Result<Fetched, MakeError> {
        let system = Apt::with_system_lists(self.work);
        if let Ok(libc) = self.download_from(&system) {
            return Ok(Fetched { apt: system, libc });
        }
        self.progress.step("fetching fresh package lists");
        let fresh = Apt::with_fresh_lists(self.work, "apt", None, self.progress)?;
        let libc = self.download_from(&fresh)?;
        Ok(Fetched { apt: fresh, libc })
    }

    fn download_from(&self, apt: &Apt) -> Result<Package, MakeError> {
        let packages = apt.rust_packages()?;
        let chosen = MINIMUM.parse().ok().and_then(|minimum| choose(&packages, minimum));
        let (compiler, source) = chosen.ok_or_else(|| no_compiler(&packages, apt))?;
        let libc = wasi_libc::newest(apt)?;
        self.progress.step(&format!("downloading {} and its source", compiler.exactly()));
        let dir = self.packages();
        // A first attempt may have left packages of another version.
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(MakeError::at(&dir))?;
        }
        apt.download(&[&compiler, &source, &libc], &dir, self.progress)?;
        Ok(libc)
    }

    /// The compiler in the tree, and the manifest of its standard library's source.
    fn unpack(&self) -> Result<(Private, PathBuf), MakeError> {
        let (tree, source) = (self.tree(), self.work.join("source"));
        let archives = unpack::archives(&self.packages())?;
        let names = archives.iter().map(unpack::Archive::name).collect::<Vec<_>>();
        for archive in &archives {
            match archive.name() {
                name if name.ends_with("-src") => archive.unpack_folder(LIBRARY, &source, self.progress)?,
                name if name == wasi_libc::PACKAGE => archive.unpack(&self.libc(), self.progress)?,
                _ => archive.unpack(&tree, self.progress)?,
            }
        }
        let found =
            unpack::files(&source).into_iter().find(|path| path.ends_with("library/sysroot/Cargo.toml"));
        let missing = |what| MakeError::Unexpected { packages: names.clone(), what };
        let manifest = found.ok_or_else(|| missing("library/sysroot/Cargo.toml"))?;
        let mut record = Record::of(&tree).ok_or_else(|| missing("bin/rustc"))?;
        let version = process::query(Private::new(tree.clone(), record.clone()).rustc().arg("-V"))?;
        record.release = release(&version).ok_or_else(|| missing("a compiler that says its version"))?;
        Ok((Private::new(tree, record), manifest))
    }
}

/// From `rustc 1.96.0 (hash date) (built from a source tarball)`.
fn release(version: &str) -> Option<String> {
    Some(version.split(' ').nth(1)?.parse::<Release>().ok()?.to_string())
}

fn no_compiler(packages: &[Package], apt: &Apt) -> MakeError {
    let compilers = packages.iter().filter(|package| package.name.starts_with(COMPILER));
    let found = compilers.map(Package::exactly).collect::<Vec<_>>();
    let found = if found.is_empty() { "none at all".to_owned() } else { found.join(", ") };
    let complaints = if apt.complaints.is_empty() { String::new() } else { format!(":\n{}", apt.complaints) };
    MakeError::NoCompiler { found, complaints }
}
