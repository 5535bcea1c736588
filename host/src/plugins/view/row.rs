//! Plugins of a list.

use std::path::{Path, PathBuf};

use phasm_engine::{text, value::Value};
use phasm_sandbox::Grants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HELD, SignatureStatus, component, state_of};
use crate::plugins::{
    Library, Manifest, PluginVersion, Source, grant_record,
    library::{VersionRequest, higher},
    trust::PluginTrust,
};

/// State of a plugin that cannot be read.
const BROKEN: &str = "broken";
/// Bytes of a description in a list.
const MAX_DESCRIPTION_BYTES: usize = 4 << 10;

/// One plugin of a list; nothing is built for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginRow {
    /// The name that workflow files use.
    pub name: String,
    /// The version in its manifest.
    pub version: Option<String>,
    /// component, built, stale (its source is newer, or was never built) or broken; of the library approved or held.
    #[schemars(extend("enum" = ["component", "built", "stale", "broken", "approved", "held"]))]
    pub state: String,
    /// One sentence for people.
    pub description: Option<String>,
    /// The file, for readers who may see paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Another of the same name is found first.
    pub shadowed: bool,
    /// The tenant that the plugin belongs to; none for a shared plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Digest of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Bytes of its component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its grants, as a journal describes them; null for none.
    #[serde(default)]
    pub granted: Value,
    /// The signature, for a plugin of the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureStatus>,
    /// Why it is held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// The caller that added it, if it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_by: Option<String>,
    /// The approver, if the version was on hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// The library's entry.
    #[serde(skip)]
    pub stored: Option<PluginVersion>,
}

impl PluginRow {
    /// Whether it waits to be approved.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.state == HELD
    }

    /// A version in a library.
    #[must_use]
    pub fn of_library(library: &Library, stored: PluginVersion, keys: &PluginTrust) -> Self {
        let path = library.path(&stored.digest);
        let found = stored.read(&path).and_then(|bytes| {
            let signed = SignatureStatus::of(
                keys.look(&bytes, stored.signature.as_deref()),
                stored.signature.as_deref(),
            );
            Ok((Manifest::of(&bytes, None)?, signed, bytes.len() as u64))
        });
        let state = if found.is_ok() { state_of(&stored) } else { BROKEN };
        let (description, signature, size) = match found {
            Ok((said, signed, size)) => (said.description, Some(signed), Some(size)),
            Err(_) => (None, None, None),
        };
        let row = Self::plain(stored.name.clone(), Some(path), state);
        Self {
            version: Some(stored.version.clone()),
            description: description.as_deref().map(shortened),
            digest: Some(stored.digest.to_string()),
            size,
            signature,
            held: stored.held.clone(),
            added_by: stored.added_by.clone(),
            approved_by: stored.approved_by.clone(),
            stored: Some(stored),
            ..row
        }
    }

    /// The row of a plugin in a directory or in memory; `fresh` finds the component that was built from a folder.
    #[must_use]
    pub fn of_source(name: String, source: &Source, fresh: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let (path, state, found) = match source {
            Source::Bytes(bytes) => (None, "component", component::summary(bytes, None)),
            Source::File(path) => (Some(path), "component", component::read_summary(path)),
            Source::Folder(folder) => match fresh(folder) {
                Some(built) => (Some(folder), "built", component::read_summary(&built)),
                None => (
                    Some(folder),
                    "stale",
                    component::source_manifest(folder).map(|manifest| (manifest, None)),
                ),
            },
        };
        let row = Self::plain(name, path.cloned(), if found.is_some() { state } else { BROKEN });
        let (Manifest { version, description, .. }, measured) = found.unwrap_or_default();
        let (digest, size) = measured.unzip();
        Self { version, description: description.as_deref().map(shortened), digest, size, ..row }
    }

    fn plain(name: String, path: Option<PathBuf>, state: &str) -> Self {
        Self {
            name,
            version: None,
            state: state.to_owned(),
            description: None,
            path,
            shadowed: false,
            tenant: None,
            digest: None,
            size: None,
            granted: Value::Null,
            signature: None,
            held: Vec::new(),
            added_by: None,
            approved_by: None,
            stored: None,
        }
    }

    /// Selects the row that `version` means among several of one name: that version or digest, or the highest version that begins
    /// with it. Approved versions come first.
    #[must_use]
    pub fn select(all: &[Self], version: &str) -> Option<usize> {
        let asked = VersionRequest::read(version);
        let is_it = |row: &Self| {
            row.digest.as_deref() == Some(version)
                || row.version.as_deref().is_some_and(|own| asked.fits(own))
        };
        let own = |row: &Self| row.version.clone().unwrap_or_default();
        let fitting = all.iter().enumerate().filter(|(_, row)| is_it(row));
        fitting
            .min_by(|(_, a), (_, b)| higher(&own(a), &own(b)).then(a.is_held().cmp(&b.is_held())))
            .map(|(at, _)| at)
    }

    /// The same, with what it may touch.
    #[must_use]
    pub fn with_grants(self, grants: Option<&Grants>) -> Self {
        Self { granted: grants.map(grant_record::described).unwrap_or_default(), ..self }
    }
}

/// Returns true if one of the plugins `before` takes the bare name. Each is given by its name and whether it is held.
pub fn shadows<'a>(
    mut before: impl Iterator<Item = (&'a str, bool)>,
    name: &str,
    stored: Option<&PluginVersion>,
) -> bool {
    stored.is_none_or(PluginVersion::is_offered) && before.any(|(known, is_held)| known == name && !is_held)
}

fn shortened(text: &str) -> String {
    text::cut(text, MAX_DESCRIPTION_BYTES).into_owned()
}
