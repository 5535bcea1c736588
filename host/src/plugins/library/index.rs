//! The index of a library.

use std::{collections::BTreeMap, io::ErrorKind, path::Path, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    LibraryError,
    files::{failed, put},
    version::{higher, is_prerelease},
};
use phasm_files::read_own_text;
use phasm_sandbox::Digest;

/// More is no index.
const MAX_INDEX_BYTES: u64 = 16 << 20;
/// Format version that this program reads and writes.
const FORMAT: u32 = 1;

/// One version of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginVersion {
    /// The name that workflow files use.
    pub name: String,
    /// Its version, as `MAJOR.MINOR.PATCH`, with what semantic versioning has behind it.
    pub version: String,
    /// Its component.
    pub digest: Digest,
    /// A signature of it.
    pub signature: Option<Arc<str>>,
    /// Why it is not used; nothing if it is approved.
    pub held: Vec<String>,
    /// Where it came from.
    pub origin: Option<String>,
    /// The caller that added it, if it was known.
    pub added_by: Option<String>,
    /// The approver, if the version was on hold.
    pub approved_by: Option<String>,
}

impl PluginVersion {
    /// Whether the bare name may mean it: it is approved, and no pre-release.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.held.is_empty() && !is_prerelease(&self.version)
    }

    pub(super) fn is_removed(&self) -> bool {
        self.held.iter().any(|why| why == REMOVED)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Index {
    format: u32,
    plugins: BTreeMap<String, BTreeMap<String, IndexEntry>>,
    /// Versions that are removed and not deleted yet.
    #[serde(default)]
    pub(super) loose: Vec<RemovedVersion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IndexEntry {
    pub(super) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) held: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    #[serde(rename = "addedBy", default, skip_serializing_if = "Option::is_none")]
    pub(super) added_by: Option<String>,
    #[serde(rename = "approvedBy", default, skip_serializing_if = "Option::is_none")]
    pub(super) approved_by: Option<String>,
}

/// A component that no name stands for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RemovedVersion {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) entry: IndexEntry,
}

/// Why what was removed is not used.
const REMOVED: &str = "it was removed";

impl RemovedVersion {
    pub(super) fn stored(&self) -> Option<PluginVersion> {
        let stored = stored(&self.name, &self.version, &self.entry)?;
        Some(PluginVersion { held: vec![REMOVED.to_owned()], ..stored })
    }
}

impl Index {
    pub(super) fn read(dir: &Path) -> Result<Self, LibraryError> {
        let path = dir.join("index.json");
        let text = match read_own_text(&path, MAX_INDEX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(&path)(error)),
        };
        let refused = |why: String| {
            LibraryError::Refused(format!("{} is not an index of a library: {why}", path.display()))
        };
        let index: Self = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if index.format > FORMAT {
            return Err(refused(format!("it has format {}, of a later version of phasm", index.format)));
        }
        Ok(index)
    }

    pub(super) fn write(&mut self, dir: &Path) -> Result<(), LibraryError> {
        self.format = FORMAT;
        let path = dir.join("index.json");
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(&path)(error.into()))?;
        put(&path, &text)
    }

    /// By name, the highest version first.
    pub(super) fn all(&self) -> Vec<PluginVersion> {
        let mut all: Vec<_> = self
            .plugins
            .iter()
            .flat_map(|(name, versions)| {
                versions.iter().filter_map(|(version, entry)| stored(name, version, entry))
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| higher(&a.version, &b.version)));
        all
    }

    pub(super) fn get(&self, name: &str, version: &str) -> Option<PluginVersion> {
        stored(name, version, self.plugins.get(name)?.get(version)?)
    }

    pub(super) fn entry(&mut self, of: &PluginVersion) -> Option<&mut IndexEntry> {
        self.plugins.get_mut(&of.name)?.get_mut(&of.version)
    }

    pub(super) fn insert(&mut self, name: &str, version: &str, entry: IndexEntry) -> Option<PluginVersion> {
        let made = stored(name, version, &entry);
        self.plugins.entry(name.to_owned()).or_default().insert(version.to_owned(), entry);
        made
    }

    pub(super) fn remove(&mut self, of: &PluginVersion) -> Option<IndexEntry> {
        let versions = self.plugins.get_mut(&of.name)?;
        let entry = versions.remove(&of.version);
        if versions.is_empty() {
            self.plugins.remove(&of.name);
        }
        entry
    }

    /// Whether a name stands for these bytes.
    pub(super) fn names(&self, digest: &str) -> bool {
        self.plugins.values().flat_map(BTreeMap::values).any(|entry| entry.digest == digest)
    }

    /// Digests of all versions that have or had a name.
    pub(super) fn digests(&self) -> impl Iterator<Item = Digest> {
        let named = self.plugins.values().flat_map(BTreeMap::values);
        named.chain(self.loose.iter().map(|loose| &loose.entry)).filter_map(|entry| entry.digest.parse().ok())
    }
}

/// Skips an entry with a name or version that no request can refer to; another program wrote it.
fn stored(name: &str, version: &str, entry: &IndexEntry) -> Option<PluginVersion> {
    Some(PluginVersion {
        name: name.to_owned(),
        version: version.to_owned(),
        digest: entry.digest.parse().ok()?,
        signature: entry.signature.as_deref().map(Arc::from),
        held: entry.held.clone(),
        origin: entry.origin.clone(),
        added_by: entry.added_by.clone(),
        approved_by: entry.approved_by.clone(),
    })
}
