//! The details of a plugin.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::value::{Map, Value};
#[cfg(feature = "compile")]
use phasm_sandbox::check_complexity;
use phasm_sandbox::{Digest, Grants};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MissingGrants, PolicyVerdict, SignatureStatus, component::interfaces, state_of};
use crate::plugins::{
    CodeMeaning, GrantRequests, Manifest, PluginVersion, grant_record, read_component, signature_beside,
    trust::PluginTrust,
};

/// A component to inspect.
#[derive(Clone, Debug)]
pub enum ComponentSource {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// In a file.
    File(PathBuf),
}

impl ComponentSource {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Bytes(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// The details of a plugin.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Plugin")]
pub struct PluginView {
    /// The name that workflow files use.
    pub name: String,
    /// The version in its manifest.
    pub version: Option<String>,
    /// One sentence for people.
    pub description: Option<String>,
    /// The tenant that the plugin belongs to; none for a shared plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Default policies of tasks, in the form of workflow files.
    pub defaults: Map,
    /// JSON Schema of its inputs; null where the manifest has none.
    pub inputs: Value,
    /// JSON Schema of its outputs, likewise.
    pub outputs: Value,
    /// Names of its settings, which stand in `executor.config`, as an input may; none where the manifest lists none.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Codes that it returns, each with its meaning; none where the manifest lists none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeMeaning>,
    /// Whether the same inputs always have the same outcome, as its author says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deterministic: bool,
    /// Calls as examples: `name`, `inputs`, `settings`, `code`, `outputs` and `message`, each where it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// The grants that it asks for.
    #[schemars(with = "Map")]
    pub wants: GrantRequests,
    /// Its grants, as a journal describes them; null for none.
    #[serde(default)]
    pub granted: Value,
    /// Grants that it asks for and lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_grant: Option<MissingGrants>,
    /// The file of the component, for readers who may see paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<PathBuf>,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Digest of the component.
    pub digest: String,
    /// State of a version in the library: `approved` or `held`.
    #[schemars(extend("enum" = ["approved", "held", null]))]
    pub state: Option<String>,
    /// Why it is held.
    pub held: Vec<String>,
    /// The caller that added it, if it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_by: Option<String>,
    /// The approver, if the version was on hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// The signature.
    pub signature: SignatureStatus,
    /// Verdicts of the policies that require anything.
    pub trust: Vec<PolicyVerdict>,
    /// Interfaces that it imports.
    pub imports: Vec<String>,
    /// Exported interfaces.
    pub exports: Vec<String>,
}

/// Why a plugin cannot be inspected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    /// The component cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The component exceeds a limit of guests.
    #[error("{0}")]
    Unusable(String),
}

impl From<String> for InspectError {
    fn from(why: String) -> Self {
        Self::Unreadable(why)
    }
}

impl PluginView {
    /// The view of a component in a file or in memory, which may be a library's version. Signatures are checked with `keys`, and
    /// judged by `policies`.
    ///
    /// # Errors
    /// [`InspectError`], for the user.
    pub fn of(
        name: &str,
        component: &ComponentSource,
        stored: Option<&PluginVersion>,
        keys: &PluginTrust,
        policies: &[PluginTrust],
        grants: Option<&Grants>,
    ) -> Result<Self, InspectError> {
        let (bytes, path): (Arc<[u8]>, _) = match (component, stored) {
            (ComponentSource::Bytes(bytes), _) => (Arc::clone(bytes), None),
            (ComponentSource::File(path), Some(stored)) => (stored.read(path)?.into(), None),
            (ComponentSource::File(path), None) => (read_component(path)?.into(), Some(path.as_path())),
        };
        let mut manifest = Manifest::of(&bytes, path)?;
        let signature = match stored {
            Some(stored) => {
                manifest.version = Some(stored.version.clone());
                stored.signature.as_deref().map(str::to_owned)
            }
            None => path.map(signature_beside).transpose()?.flatten(),
        };
        // A host without a compiler gets components that were compiled elsewhere.
        #[cfg(feature = "compile")]
        check_complexity(&bytes)
            .map_err(|error| InspectError::Unusable(format!("plugin `{name}`: {error}")))?;
        let (imports, exports) = interfaces(&bytes);
        let text = signature.as_deref();
        Ok(Self {
            name: name.to_owned(),
            version: manifest.version,
            description: manifest.description,
            tenant: None,
            defaults: manifest.defaults.fields(),
            inputs: manifest.inputs,
            outputs: manifest.outputs,
            settings: manifest.settings.iter().map(ToString::to_string).collect(),
            codes: manifest.codes,
            deterministic: manifest.deterministic,
            examples: manifest.examples,
            granted: grants.map(grant_record::described).unwrap_or_default(),
            to_grant: MissingGrants::of(name, &manifest.wants, grants),
            wants: manifest.wants,
            bytes: bytes.len() as u64,
            digest: Digest::of(&bytes).to_string(),
            state: stored.map(|stored| state_of(stored).to_owned()),
            held: stored.map(|stored| stored.held.clone()).unwrap_or_default(),
            added_by: stored.and_then(|stored| stored.added_by.clone()),
            approved_by: stored.and_then(|stored| stored.approved_by.clone()),
            signature: SignatureStatus::of(keys.look(&bytes, text), text),
            trust: PolicyVerdict::by_all(policies, &bytes, text),
            component: component.path().map(Path::to_owned),
            imports,
            exports,
        })
    }
}
