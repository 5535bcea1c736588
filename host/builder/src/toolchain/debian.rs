//! The recipe: Debian's or Ubuntu's Rust compiler unpacked aside, a standard library for the target built from the source of
//! that very compiler, the target's C library and, where rustup's are not there, linkers.
//!
//! No package is installed and no version is pinned: the newest compiler that apt offers is taken.

use std::{fs, path::PathBuf};

use super::{
    super::process,
    MINIMUM,
    apt::Apt,
    error::{MakeError, PACKAGES},
    linker_packages, linkers,
    packages::{COMPILER, Package, Release, choose},
    private::{Private, Record},
    recipe::Recipe,
    std_source, unpack, wasi_libc,
};

/// Folder of the standard library in a source package.
const LIBRARY: &str = "./usr/src/*/library";

/// Downloaded packages.
struct Download {
    /// Apt over the lists that had all packages.
    apt: Apt,
    libc: Package,
}

/// The compiler in the tree, and the manifest of its standard library's source.
struct Compiler {
    private: Private,
    manifest: PathBuf,
}

/// Makes a toolchain in `work/tree`.
///
/// # Errors
/// [`MakeError`].
pub(super) fn make(recipe: &Recipe<'_>) -> Result<Private, MakeError> {
    let tools = process::missing(&PACKAGES.map(|(tool, _)| tool));
    if !tools.is_empty() {
        return Err(MakeError::MissingTools { tools });
    }
    recipe.progress.step("making a private toolchain from the distribution's packages (minutes, once)");
    let Download { apt, libc } = download(recipe)?;
    let Compiler { private, manifest } = unpack(recipe)?;
    if recipe.rust.linkers().is_none() && !linkers::on_path() {
        linker_packages::add(recipe, &apt, &private)?;
    }
    std_source::build(recipe, &private, &manifest)?;
    wasi_libc::add(recipe, &libc, &private)?;
    // Its documentation is not needed; a toolchain that keeps it works as well.
    let _ = fs::remove_dir_all(recipe.tree().join("usr/share"));
    Ok(private)
}

/// Downloads by the system's lists. Where these are absent, or name packages that the archive no longer has, fetches fresh ones.
fn download(recipe: &Recipe<'_>) -> Result<Download, MakeError> {
    let system = Apt::with_system_lists(recipe.work);
    if let Ok(libc) = download_from(recipe, &system) {
        return Ok(Download { apt: system, libc });
    }
    recipe.progress.step("fetching fresh package lists");
    let fresh = Apt::with_fresh_lists(recipe.work, "apt", None, recipe.progress)?;
    let libc = download_from(recipe, &fresh)?;
    Ok(Download { apt: fresh, libc })
}

fn download_from(recipe: &Recipe<'_>, apt: &Apt) -> Result<Package, MakeError> {
    let packages = apt.rust_packages()?;
    let chosen = MINIMUM.parse().ok().and_then(|minimum| choose(&packages, minimum));
    let (compiler, source) = chosen.ok_or_else(|| no_compiler(&packages, apt))?;
    let libc = wasi_libc::newest(apt)?;
    recipe.progress.step(&format!("downloading {} and its source", compiler.exactly()));
    let dir = recipe.packages();
    // A first attempt may have left packages of another version.
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(MakeError::at(&dir))?;
    }
    apt.download(&[&compiler, &source, &libc], &dir, recipe.progress)?;
    Ok(libc)
}

fn unpack(recipe: &Recipe<'_>) -> Result<Compiler, MakeError> {
    let tree = recipe.tree();
    let source = recipe.work.join("source");
    let archives = unpack::archives(&recipe.packages())?;
    let names = archives.iter().map(unpack::Archive::name).collect::<Vec<_>>();
    for archive in &archives {
        match archive.name() {
            name if name.ends_with("-src") => archive.unpack_folder(LIBRARY, &source, recipe.progress)?,
            name if name == wasi_libc::PACKAGE => archive.unpack(&recipe.libc(), recipe.progress)?,
            _ => archive.unpack(&tree, recipe.progress)?,
        }
    }
    let found = unpack::files(&source).into_iter().find(|path| path.ends_with("library/sysroot/Cargo.toml"));
    let missing = |what| MakeError::Unexpected { packages: names.clone(), what };
    let manifest = found.ok_or_else(|| missing("library/sysroot/Cargo.toml"))?;
    let mut record = Record::of(&tree).ok_or_else(|| missing("bin/rustc"))?;
    let version = process::query(Private::new(tree.clone(), record.clone()).rustc().arg("-V"))?;
    record.release = release(&version).ok_or_else(|| missing("a compiler that says its version"))?;
    Ok(Compiler { private: Private::new(tree, record), manifest })
}

/// Returns the release in `rustc 1.96.0 (hash date) (built from a source tarball)`.
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
