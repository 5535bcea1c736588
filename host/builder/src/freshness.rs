//! Whether a guest's artefact is newer than everything it was made from, told from file times alone.
//!
//! Cargo leaves a list of the sources next to the artefact, path dependencies included. Manifests, the lock file and settings are
//! not on it and are looked up next to the sources. The answer needs no process and takes microseconds; a wrong "no" costs one
//! idle cargo run, so every doubt is a "no".

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    c, depinfo,
    environment::TOOLCHAIN_FILES,
    folder::{self, Folder, GuestCrate, MANIFEST},
    languages,
};

/// The folder's component, unless it has to be built first.
#[must_use]
pub fn artefact_if_fresh(folder: &Path) -> Option<PathBuf> {
    match folder::read(folder).ok()? {
        Folder::Component { wasm, .. } => Some(wasm),
        Folder::Crate(guest) => is_fresh(&guest).then(|| guest.artefact()),
        Folder::Script(project) => languages::is_fresh(&project).then(|| project.artefact()),
        Folder::C(project) => c::is_fresh(&project).then(|| project.built("wasm")),
    }
}

pub(super) fn is_fresh(guest: &GuestCrate) -> bool {
    let Some(Current { at, lock }) = current(guest) else { return false };
    let Some(sources) = sources(guest) else { return false };
    // A source as old as the stamp may have been written just after the compiler read it.
    sources.iter().all(|source| modified(source).is_some_and(|time| time < at))
        && settings(guest, &sources)
            .iter()
            .chain(&lock)
            .all(|file| modified(file).is_none_or(|time| time < at))
}

/// The moment a build began: files changed later than this are not in its artefact.
pub(super) struct Stamp(tempfile::NamedTempFile);

impl Stamp {
    /// Takes the moment from the file system that judges the sources, not from the system's clock.
    pub(super) fn now(target_dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(target_dir)?;
        tempfile::NamedTempFile::new_in(target_dir).map(Self)
    }

    /// Records that the guest's artefact was current at that moment. The file appears complete, so that no reader sees a stamp with a
    /// time that is too late.
    pub(super) fn put(&self, guest: &GuestCrate) -> io::Result<()> {
        let mut stamp = tempfile::NamedTempFile::new_in(guest.target_dir())?;
        stamp.write_all(identity(guest)?.as_bytes())?;
        stamp.as_file().set_modified(self.0.as_file().metadata()?.modified()?)?;
        stamp.persist(guest.stamp())?;
        Ok(())
    }
}

/// Tells what our build left from what a cargo by hand put in its place. The lock file belongs to it: cargo writes it after the
/// build began.
fn identity(guest: &GuestCrate) -> io::Result<String> {
    let artefact = fs::metadata(guest.artefact())?;
    let lock = modified(&lock_file(guest)).unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(format!("{} {} {}", nanos(artefact.modified()?), artefact.len(), nanos(lock)))
}

fn nanos(time: SystemTime) -> u128 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

fn lock_file(guest: &GuestCrate) -> PathBuf {
    guest.root.join("Cargo.lock")
}

/// Age of the sources in an artefact.
struct Current {
    /// The artefact contains every file changed before this time.
    at: SystemTime,
    /// The lock file, if its time has yet to be looked at.
    lock: Option<PathBuf>,
}

fn current(guest: &GuestCrate) -> Option<Current> {
    let identity = identity(guest).ok()?;
    if fs::read_to_string(guest.stamp()).is_ok_and(|stamped| stamped == identity) {
        return Some(Current { at: modified(&guest.stamp())?, lock: None });
    }
    Some(Current { at: modified(&guest.artefact())?, lock: Some(lock_file(guest)) })
}

fn sources(guest: &GuestCrate) -> Option<BTreeSet<PathBuf>> {
    let text = fs::read_to_string(guest.dep_info()).ok()?;
    let sources = depinfo::sources(&text)?;
    // Relative ones are relative to where cargo ran.
    Some(sources.into_iter().map(|source| guest.root.join(source)).collect())
}

/// Files that steer a build without being sources; they may be absent.
fn settings(guest: &GuestCrate, sources: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let root = [MANIFEST, ".cargo/config.toml"].into_iter().chain(TOOLCHAIN_FILES);
    let manifests = sources.iter().filter_map(|source| source.parent()).collect::<BTreeSet<_>>();
    root.map(|file| guest.root.join(file))
        .chain([guest.manifest()])
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
