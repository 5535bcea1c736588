//! A `plugin.toml`: the name of a project, what tests and readers want to know, and a table of its language.

use std::path::Path;

use phasm_files::read_adjacent_text;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::error::FolderError;

/// The file that describes a project whose language has no place for it.
pub(super) const PLUGIN_TOML: &str = "plugin.toml";
/// The largest `plugin.toml` that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A `plugin.toml` with the settings of one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginToml<Settings> {
    name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    codes: Option<Value>,
    deterministic: Option<Value>,
    examples: Option<Value>,
    #[serde(rename = "c", alias = "go")]
    pub(super) settings: Settings,
}

impl<Settings> PluginToml<Settings> {
    /// The name; empty without one.
    pub(super) fn name(&self) -> String {
        self.name.clone().unwrap_or_default()
    }

    /// Members of the manifest that are for tests and readers.
    pub(super) fn members(&self) -> Map<String, Value> {
        let members =
            [("codes", &self.codes), ("deterministic", &self.deterministic), ("examples", &self.examples)];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))).collect()
    }
}

/// Reads the `plugin.toml` of a folder; none if there is none with a table of this language.
///
/// # Errors
/// [`FolderError`].
pub(super) fn read<Settings: DeserializeOwned>(
    folder: &Path,
    language: &str,
) -> Result<Option<PluginToml<Settings>>, FolderError> {
    let path = folder.join(PLUGIN_TOML);
    if !path.is_file() {
        return Ok(None);
    }
    // Messages quote it, and anyone who may write in the directory can lay a link there.
    let text = read_adjacent_text(&path, MAX_BYTES)
        .map_err(|source| FolderError::Read { path: path.clone(), source })?;
    let no_toml = |source| FolderError::Manifest { manifest: path.clone(), source: Box::new(source) };
    // A file of this name may be something else's.
    if !text.parse::<toml::Table>().map_err(no_toml)?.contains_key(language) {
        return Ok(None);
    }
    toml::from_str(&text).map(Some).map_err(no_toml)
}

/// The error that a project is none, with everything that is wrong.
pub(super) fn refused(folder: &Path, problems: Vec<String>) -> FolderError {
    FolderError::PluginToml { manifest: folder.join(PLUGIN_TOML), problems }
}
