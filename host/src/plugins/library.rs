//! Library of plugins: each version is a component by its digest, and is approved or on hold.
//!
//! ```text
//!  DIR/index.json            name ─▶ version ─▶ digest, signature, reason of a hold
//!  DIR/blobs/sha256-….wasm   components, also those that no name refers to any more
//!  DIR/lock                  held during a change
//!  DIR/tenants/NAME          a library of the same shape, of one tenant
//! ```
//!
//! The index is replaced as a whole, so readers never wait. A component is accepted by its digest only.

mod baseline;
mod files;
mod index;
mod version;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(crate) use self::files::{FileMark, mark};
pub use self::index::PluginVersion;
pub(super) use self::version::{VersionRequest, higher, is_prerelease};
use self::{
    baseline::{Baseline, ExtraRequests},
    files::LibraryLock,
    index::{Index, IndexEntry, RemovedVersion},
};
use super::{Manifest, manifest::is_name, read_component};
use crate::plugins::trust::{PluginTrust, PublicKey, SignatureCheck};
use phasm_sandbox::Digest;

/// Characters that stay as they are in the name of a tenant's directory. Dots do not, because `.` and `..` are other directories.
const FILE_NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
/// Signatures of deleted components that are kept at most: some five megabytes of the index.
const MAX_REMEMBERED_VERSIONS: usize = 10_000;

/// A directory with plugins that were added.
#[derive(Clone, Debug)]
pub struct Library {
    dir: PathBuf,
}

/// A plugin to add.
#[derive(Clone, Debug)]
pub struct NewPlugin {
    /// The name that workflow files use.
    pub name: String,
    /// Its version; without one, the one that its manifest says.
    pub version: Option<String>,
    /// Its component.
    pub bytes: Arc<[u8]>,
    /// A signature of it, as minisign writes it.
    pub signature: Option<String>,
    /// Where it came from, for people.
    pub origin: Option<String>,
    /// The caller that adds it, if it is known.
    pub by: Option<String>,
}

/// The result of adding a plugin.
#[derive(Clone, Debug)]
pub struct AddResult {
    /// The library's entry after the change.
    pub stored: PluginVersion,
    /// The plugin's manifest.
    pub manifest: Manifest,
    /// The newest version that is approved, and what this one asks for beyond it.
    pub beyond: Option<(String, Vec<String>)>,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// Why something could not be done with a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// A file cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing of that name and version.
    #[error("{0}")]
    Absent(String),
    /// The name and version stand for other bytes.
    #[error("{0}")]
    Taken(String),
    /// The request cannot be carried out.
    #[error("{0}")]
    Refused(String),
}

impl Library {
    /// The library in that directory, which is made when something is added.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The library of one tenant, used by runs of that tenant only.
    #[must_use]
    pub fn of_tenant(&self, tenant: &str) -> Self {
        Self::at(self.dir.join("tenants").join(utf8_percent_encode(tenant, FILE_NAME).to_string()))
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the component of that digest is, if it is there.
    #[must_use]
    pub fn path(&self, digest: &Digest) -> PathBuf {
        files::blob(&self.dir, digest)
    }

    /// All that is in it: by name, the highest version of each first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn all(&self) -> Result<Vec<PluginVersion>, LibraryError> {
        Ok(Index::read(&self.dir)?.all())
    }

    /// Finds `NAME` or `NAME@VERSION`, approved or on hold.
    ///
    /// # Errors
    /// When there is no such name or version, with those that there are; or when the library cannot be read.
    pub fn find(&self, asked: &str) -> Result<PluginVersion, LibraryError> {
        let all = self.all()?;
        let (name, version) =
            asked.split_once('@').map_or((asked, None), |(name, version)| (name, Some(version)));
        let named: Vec<_> = all.iter().filter(|stored| stored.name == name).collect();
        let found = match version {
            None => named.first().copied(),
            Some(version) => {
                let asked = VersionRequest::read(version);
                named.iter().copied().find(|stored| asked.fits(&stored.version))
            }
        };
        found.cloned().ok_or_else(|| LibraryError::Absent(nothing(asked, name, &all)))
    }

    /// The version of that whole name, `NAME@VERSION`, approved or held.
    ///
    /// # Errors
    /// When there is none, saying what there is; or when it cannot be read.
    pub fn exactly(&self, asked: &str) -> Result<PluginVersion, LibraryError> {
        let stored = self.find(asked)?;
        let exactly = format!("{}@{}", stored.name, stored.version);
        if exactly == asked {
            return Ok(stored);
        }
        Err(LibraryError::Refused(format!("expected a name and a whole version, such as {exactly}")))
    }

    /// Adds a version. It is approved if its name is new, or if it asks for no more than the newest approved version, which may have been
    /// removed since, and is signed by the same key; otherwise, and always with `hold`, it is on hold. A version that is there already can only get another signature.
    ///
    /// # Errors
    /// When it has no name and version of its own, or one that refers to other bytes; or when the library cannot be written.
    pub fn add(&self, new: NewPlugin, trust: &PluginTrust, hold: bool) -> Result<AddResult, LibraryError> {
        let (manifest, version) = described(&new)?;
        let digest = Digest::of(&new.bytes);
        let _lock = LibraryLock::take(&self.dir)?;
        let mut index = Index::read(&self.dir)?;
        if let Some(known) = index.get(&new.name, &version) {
            let stored = same(known, digest)?;
            // Adding a version again is how a new signature arrives.
            if let (Some(signature), Some(entry)) = (new.signature, index.entry(&stored)) {
                entry.signature = Some(signature);
                index.write(&self.dir)?;
            }
            return Ok(AddResult { stored, manifest, beyond: None, is_new: false });
        }
        let signed = trust.look(&new.bytes, new.signature.as_deref());
        let mut beyond = None;
        let mut held = match Baseline::find(self, &index, &new.name, &digest) {
            Baseline::Free => Vec::new(),
            Baseline::Version(newest) => {
                let extra = ExtraRequests::of(self, &newest, &manifest, &signed, trust)?;
                beyond.insert(extra).held()
            }
            Baseline::Unknown(why) => vec![why],
        };
        if hold && held.is_empty() {
            held.push("every version is, until it is approved".to_owned());
        }
        files::put(&self.path(&digest), &new.bytes)?;
        let entry = IndexEntry {
            digest: digest.to_string(),
            signature: new.signature,
            held,
            origin: new.origin,
            added_by: new.by,
            approved_by: None,
        };
        let stored = index.insert(&new.name, &version, entry);
        index.write(&self.dir)?;
        let stored = stored.ok_or_else(|| LibraryError::Refused("its digest is not valid".to_owned()))?;
        let beyond = beyond.map(|ExtraRequests { newest, more, .. }: ExtraRequests| (newest, more));
        Ok(AddResult { stored, manifest, beyond, is_new: true })
    }

    /// Reads a version's manifest and signature.
    ///
    /// # Errors
    /// When its bytes do not match its digest.
    pub fn look(
        &self,
        stored: &PluginVersion,
        trust: &PluginTrust,
    ) -> Result<(Manifest, SignatureCheck), LibraryError> {
        let bytes = stored.read(&self.path(&stored.digest)).map_err(LibraryError::Refused)?;
        let manifest = Manifest::of(&bytes, None).map_err(LibraryError::Refused)?;
        let signed = trust.look(&bytes, stored.signature.as_deref());
        Ok((Manifest { version: Some(stored.version.clone()), ..manifest }, signed))
    }

    /// Checks that a plugin could be added, as far as possible before it is compiled.
    ///
    /// # Errors
    /// The errors of [`Self::add`].
    pub fn check(&self, new: &NewPlugin) -> Result<(), LibraryError> {
        let (_, version) = described(new)?;
        let known = Index::read(&self.dir)?.get(&new.name, &version);
        known.map_or(Ok(()), |known| same(known, Digest::of(&new.bytes)).map(drop))
    }

    /// Approves a version on hold; `by` is recorded, and the version is used from then on. Returns false if it was approved
    /// before.
    ///
    /// # Errors
    /// When there is none, or the library cannot be written.
    pub fn approve(&self, stored: &PluginVersion, by: Option<&str>) -> Result<bool, LibraryError> {
        self.change(stored, |entry| {
            let was_held = !std::mem::take(&mut entry.held).is_empty();
            if was_held {
                entry.approved_by = by.map(ToOwned::to_owned);
            }
            was_held
        })
    }

    fn change<T>(
        &self,
        stored: &PluginVersion,
        change: impl FnOnce(&mut IndexEntry) -> T,
    ) -> Result<T, LibraryError> {
        let _lock = LibraryLock::take(&self.dir)?;
        let mut index = Index::read(&self.dir)?;
        let entry = index.entry(stored).ok_or_else(|| gone(stored))?;
        let changed = change(entry);
        index.write(&self.dir)?;
        Ok(changed)
    }

    /// Has the name stand for that version no more. Its component stays until [`Self::prune`], and runs that were submitted with
    /// it go on.
    ///
    /// # Errors
    /// When there is none, or the library cannot be written.
    pub fn remove(&self, stored: &PluginVersion) -> Result<(), LibraryError> {
        let _lock = LibraryLock::take(&self.dir)?;
        let mut index = Index::read(&self.dir)?;
        let mut entry = index.remove(stored).ok_or_else(|| gone(stored))?;
        // The signature of a version that was removed before is still known.
        let before = index.loose.extract_if(.., |loose| loose.entry.digest == entry.digest);
        let signature = before.filter_map(|loose| loose.entry.signature).last();
        entry.signature = entry.signature.or(signature);
        index.loose.push(RemovedVersion {
            name: stored.name.clone(),
            version: stored.version.clone(),
            entry,
        });
        index.write(&self.dir)
    }

    /// Versions that no name refers to any more and that are not deleted yet.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub fn removed(&self) -> Result<Vec<PluginVersion>, LibraryError> {
        let all = self.unnamed()?;
        Ok(all.into_iter().filter(|stored| self.path(&stored.digest).exists()).collect())
    }

    /// All that no name stands for any more, also what was deleted: who vouched for that is remembered, as runs may have it.
    ///
    /// # Errors
    /// When it cannot be read.
    fn unnamed(&self) -> Result<Vec<PluginVersion>, LibraryError> {
        self.holding().map(|holding| holding.unnamed)
    }

    /// The contents of the library at this moment.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub(super) fn holding(&self) -> Result<LibraryContents, LibraryError> {
        // First the mark: what changes meanwhile is looked at again.
        let mark = self.mark();
        let index = Index::read(&self.dir)?;
        let loose = index.loose.iter().filter(|loose| !index.names(&loose.entry.digest));
        Ok(LibraryContents {
            mark,
            all: index.all(),
            unnamed: loose.filter_map(RemovedVersion::stored).collect(),
        })
    }

    /// Changes with whatever is added, approved or removed.
    pub(super) fn mark(&self) -> Option<FileMark> {
        mark(&self.dir.join("index.json"))
    }

    /// Deletes the versions of [`Self::removed`] that `needed` does not name, and what an interrupted change left behind. The
    /// last ten thousand signatures of deleted versions stay, for runs that have the components. Returns the number of deleted
    /// components.
    ///
    /// # Errors
    /// When a file cannot be deleted.
    pub fn prune(&self, needed: &[Digest]) -> Result<usize, LibraryError> {
        let _lock = LibraryLock::take(&self.dir)?;
        let mut index = Index::read(&self.dir)?;
        let is_needed =
            |loose: &RemovedVersion| needed.iter().any(|needed| needed.to_string() == loose.entry.digest);
        // Later versions are compared with what was approved.
        let is_remembered =
            |loose: &RemovedVersion| loose.entry.signature.is_some() || loose.entry.held.is_empty();
        index.loose.retain(|loose| is_needed(loose) || is_remembered(loose));
        let remembered = index.loose.iter().filter(|loose| !is_needed(loose));
        let gone: BTreeSet<String> = remembered.clone().map(|loose| loose.entry.digest.clone()).collect();
        let mut too_many = remembered.count().saturating_sub(MAX_REMEMBERED_VERSIONS);
        index.loose.retain(|loose| {
            let is_forgotten = too_many > 0 && !is_needed(loose);
            too_many -= usize::from(is_forgotten);
            !is_forgotten
        });
        index.write(&self.dir)?;
        let is_gone =
            |digest: &Digest| gone.contains(&digest.to_string()) && !index.names(&digest.to_string());
        let stays: BTreeSet<PathBuf> =
            index.digests().filter(|digest| !is_gone(digest)).map(|digest| self.path(&digest)).collect();
        let all = files::blobs(&self.dir)?.into_iter().filter(|path| !stays.contains(path));
        let is_component = |path: &Path| path.extension().is_some_and(|ending| ending == "wasm");
        let delete = |path: PathBuf| Ok(files::delete(&path)? && is_component(&path));
        let deleted = all.map(delete).collect::<Result<Vec<_>, LibraryError>>()?;
        Ok(deleted.into_iter().filter(|was_component| *was_component).count())
    }
}

/// The contents of a library.
pub(super) struct LibraryContents {
    pub(super) mark: Option<FileMark>,
    pub(super) all: Vec<PluginVersion>,
    /// Versions that no name refers to, deleted ones included: their signatures are kept, as runs may have the components.
    pub(super) unnamed: Vec<PluginVersion>,
}

impl PluginVersion {
    /// Reads the component from that file.
    ///
    /// # Errors
    /// A message for the user when the file is missing, or does not match its digest.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let bytes = read_component(path)?;
        if Digest::of(&bytes) == self.digest {
            return Ok(bytes);
        }
        Err(format!(
            "{} is not the file that was added as {}@{}; remove it and add it again",
            path.display(),
            self.name,
            self.version
        ))
    }
}

/// Reads the manifest of a new plugin, and its version.
fn described(new: &NewPlugin) -> Result<(Manifest, String), LibraryError> {
    let refused = |why: String| Err(LibraryError::Refused(why));
    if !is_name(&new.name) || new.name.starts_with("sha256:") {
        return refused(format!(
            "{:?} is not a name for a plugin; expected one without blanks and `@`",
            new.name
        ));
    }
    let manifest = Manifest::of(&new.bytes, None).map_err(LibraryError::Refused)?;
    let version = match (&new.version, &manifest.version) {
        (Some(asked), Some(said)) if asked != said => {
            return refused(format!("the component says that it is version {said}, and not {asked}"));
        }
        (Some(version), _) | (None, Some(version)) => version.clone(),
        (None, None) => {
            return refused("the component does not say its version; say it: --as NAME@1.0.0".to_owned());
        }
    };
    match version.parse::<semver::Version>() {
        Ok(_) => Ok((Manifest { version: Some(version.clone()), ..manifest }, version)),
        Err(error) => refused(format!(
            "{version:?} is not a version: {error}; expected one such as 1.2.0 or 2.0.0-beta.1"
        )),
    }
}

fn same(known: PluginVersion, digest: Digest) -> Result<PluginVersion, LibraryError> {
    if known.digest == digest {
        return Ok(known);
    }
    Err(LibraryError::Taken(format!(
        "{}@{} exists already with other content, {}; this is {digest}: give it another version",
        known.name, known.version, known.digest
    )))
}

/// Why a version is held that another vouches for than for the one before.
fn other_hand(version: &str, old: &SignatureCheck, new: &SignatureCheck) -> Option<String> {
    let by = |key: &PublicKey| format!("it is not signed by {}, as {version} is", key.name());
    match (old, new) {
        (SignatureCheck::By(old), SignatureCheck::By(new)) if old == new => None,
        (SignatureCheck::By(old), _) => Some(by(old)),
        _ => None,
    }
}

/// The message for a name or version that does not exist.
fn nothing(asked: &str, name: &str, all: &[PluginVersion]) -> String {
    let versions: Vec<_> =
        all.iter().filter(|one| one.name == name).map(|one| one.version.as_str()).collect();
    if !versions.is_empty() {
        return format!("there is no {asked} in the library; of {name} there are {}", versions.join(", "));
    }
    let mut names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
    names.dedup();
    let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    format!("there is no {asked} in the library; there is {names}")
}

/// Why a plugin that is on the shelf is not used, or that there is no such version of it; nothing if it is not there at all.
pub(super) fn why_not(name: &str, version: Option<&str>, shelf: &[&PluginVersion]) -> Option<String> {
    held(name, version, shelf).or_else(|| no_version(name, version, shelf))
}

/// Why a plugin that is on the shelf is held, and how that is ended.
pub(super) fn held(name: &str, version: Option<&str>, shelf: &[&PluginVersion]) -> Option<String> {
    let fits = |stored: &PluginVersion| match version {
        Some(version) => VersionRequest::read(version).fits(&stored.version),
        None => true,
    };
    let is_it = |stored: &&&PluginVersion| {
        stored.name == name && fits(stored) && !stored.held.is_empty() && !stored.is_removed()
    };
    let held = shelf.iter().find(is_it)?;
    let exactly = format!("{name}@{}", held.version);
    let why = held.held.join("; ");
    Some(format!("plugin {exactly} is held: {why}; approve it with `phasm plugin approve {exactly}`"))
}

/// That there is no such version of a plugin that is on the shelf.
pub(super) fn no_version(name: &str, version: Option<&str>, shelf: &[&PluginVersion]) -> Option<String> {
    let there = shelf.iter().filter(|stored| stored.name == name && !stored.is_removed());
    let versions: Vec<_> = there.map(|stored| stored.version.as_str()).collect();
    let versions = if versions.is_empty() { return None } else { versions.join(", ") };
    Some(match version {
        Some(version) => format!("there is no version {version} of plugin `{name}`; there are {versions}"),
        None => format!(
            "of plugin `{name}` there are pre-releases only, which are used by name and version: {versions}"
        ),
    })
}

fn gone(stored: &PluginVersion) -> LibraryError {
    LibraryError::Absent(format!("{}@{} is not in the library any more", stored.name, stored.version))
}
