//! Whether a guest's artefact is newer than everything it was made from, told from file times alone.
//!
//! Cargo leaves a list of the sources beside the artefact, path dependencies included. Manifests, the lock file and settings are
//! not on it and are looked up beside the sources. The answer needs no process and takes microseconds; a wrong "no" costs one
//! idle cargo run, so every doubt is a "no".

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    depinfo,
    environment::TOOLCHAIN_FILES,
    folder::{self, Folder, GuestCrate, MANIFEST},
};

/// The folder's component, unless it has to be built first.
#[must_use]
pub fn artefact_if_fresh(folder: &Path) -> Option<PathBuf> {
    match folder::read(folder).ok()? {
        Folder::Component { wasm, .. } => Some(wasm),
        Folder::Crate(guest) => is_fresh(&guest).then(|| guest.artefact()),
    }
}

pub(super) fn is_fresh(guest: &GuestCrate) -> bool {
    let Some(current_at) = current_at(guest) else { return false };
    let Some(sources) = sources(guest) else { return false };
    // A source as old as the stamp may have been written just after the compiler read it.
    sources.iter().all(|source| modified(source).is_some_and(|at| at < current_at))
        && settings(guest, &sources).iter().all(|file| modified(file).is_none_or(|at| at < current_at))
}

/// The moment a build began: files changed later than this are not in its artefact.
pub(super) struct Stamp(tempfile::NamedTempFile);

impl Stamp {
    /// Takes the moment from the file system that judges the sources, not from the system's clock.
    pub(super) fn now(target_dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(target_dir)?;
        tempfile::NamedTempFile::new_in(target_dir).map(Self)
    }

    /// Says that the guest's artefact was current at that moment. In one go: whoever looks meanwhile finds no stamp with a
    /// time that is too late.
    pub(super) fn put(&self, guest: &GuestCrate) -> io::Result<()> {
        let mut stamp = tempfile::NamedTempFile::new_in(guest.target_dir())?;
        stamp.write_all(artefact_identity(guest)?.as_bytes())?;
        stamp.as_file().set_modified(self.0.as_file().metadata()?.modified()?)?;
        stamp.persist(guest.stamp())?;
        Ok(())
    }
}

/// Tells the artefact of our build from one that a cargo by hand put in its place.
fn artefact_identity(guest: &GuestCrate) -> io::Result<String> {
    let meta = fs::metadata(guest.artefact())?;
    let modified = meta.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {}", modified.as_nanos(), meta.len()))
}

fn current_at(guest: &GuestCrate) -> Option<SystemTime> {
    let identity = artefact_identity(guest).ok()?;
    if fs::read_to_string(guest.stamp()).is_ok_and(|stamped| stamped == identity) {
        return modified(&guest.stamp());
    }
    modified(&guest.artefact())
}

fn sources(guest: &GuestCrate) -> Option<BTreeSet<PathBuf>> {
    let text = fs::read_to_string(guest.dep_info()).ok()?;
    let sources = depinfo::sources(&text)?;
    // Relative ones are relative to where cargo ran.
    Some(sources.into_iter().map(|source| guest.root.join(source)).collect())
}

/// Files that steer a build without being sources; they may be absent.
fn settings(guest: &GuestCrate, sources: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let root = [MANIFEST, "Cargo.lock", ".cargo/config.toml"].into_iter().chain(TOOLCHAIN_FILES);
    let manifests = sources.iter().filter_map(|source| source.parent()).collect::<BTreeSet<_>>();
    root.map(|file| guest.root.join(file))
        .chain([guest.folder.join(MANIFEST)])
        .chain(manifests.into_iter().filter_map(manifest_above))
        .collect()
}

fn manifest_above(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().map(|dir| dir.join(MANIFEST)).find(|manifest| manifest.is_file())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests;
