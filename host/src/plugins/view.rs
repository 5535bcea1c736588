//! Plugins as programs and people are shown them, the same on the command line and over HTTP.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::{
    text,
    value::{Map, Value},
};
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use super::{
    AddResult, GrantRequests, Library, Manifest, PluginVersion, Source, grant_record,
    library::{VersionRequest, higher},
    read_component, read_manifest, signature_beside,
};
use crate::plugins::trust::{PluginTrust, PublicKey, Signature, Signed};
#[cfg(feature = "compile")]
use phasm_sandbox::check_complexity;
use phasm_sandbox::{Digest, Grants};

/// Waits to be approved.
const HELD: &str = "held";
const APPROVED: &str = "approved";
const BROKEN: &str = "broken";
/// The most of a description that a list has, in bytes.
const LONGEST_DESCRIPTION: usize = 4 << 10;

/// The signature of a component, checked with the keys of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureStatus {
    /// `good`, `none`, `unknown-key`, `wrong` or `unreadable`.
    pub state: String,
    /// The key, if the configuration has it.
    pub key: Option<String>,
    /// Its number, which a signature names.
    pub number: Option<String>,
    /// The signer's comment; only from a signature that was verified.
    pub comment: Option<String>,
    /// Why it does not count.
    pub why: Option<String>,
}

impl SignatureStatus {
    /// The result of a check, with the text that was checked.
    #[must_use]
    pub fn of(signed: Signed, text: Option<&str>) -> Self {
        let comment = || Some(text?.parse::<Signature>().ok()?.comment().to_owned());
        let nothing =
            |state: &str| Self { state: state.to_owned(), key: None, number: None, comment: None, why: None };
        let of_key = |state, key: PublicKey| {
            let (key, number) = (Some(key.to_string()), Some(key.number()));
            Self { key, number, ..nothing(state) }
        };
        match signed {
            Signed::Not => nothing("none"),
            Signed::By(key) => Self { comment: comment(), ..of_key("good", key) },
            Signed::ByStranger(number) => Self { number: Some(number), ..nothing("unknown-key") },
            Signed::Wrong(key, why) => Self { why: Some(why), ..of_key("wrong", key) },
            Signed::Unreadable(why) => Self { why: Some(why), ..nothing("unreadable") },
        }
    }
}

/// Whether one policy takes a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The table of the configuration that says it.
    pub policy: String,
    /// Whether it is used.
    pub used: bool,
    /// Why not.
    pub why: Option<String>,
}

impl Judged {
    /// The results for every policy that requires anything.
    #[must_use]
    pub fn by_all(trusts: &[PluginTrust], bytes: &[u8], text: Option<&str>) -> Vec<Self> {
        let digest = Digest::of(bytes);
        let judge = |trust: &PluginTrust| {
            let why = trust.judge(&digest, &trust.look(bytes, text)).err();
            Self { policy: trust.table(), used: why.is_none(), why }
        };
        trusts.iter().filter(|trust| !trust.is_empty()).map(judge).collect()
    }
}

/// Grants that a plugin asks for and lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingGrants {
    /// Each in a few words.
    pub lacking: Vec<String>,
    /// Lines of a configuration that grant it.
    pub lines: String,
}

impl MissingGrants {
    /// Returns the grants that the plugin of that name lacks; none, if it lacks nothing.
    #[must_use]
    pub fn of(name: &str, wants: &GrantRequests, granted: Option<&Grants>) -> Option<Self> {
        let lacking = wants.lacking(granted.unwrap_or(&Grants::default()));
        (!lacking.is_empty()).then(|| Self { lacking, lines: wants.lines(name) })
    }

    /// [`Self::of`] for a plugin of one tenant, which only the tenant's own grants apply to.
    #[must_use]
    pub fn of_tenant(mut self, tenant: Option<&str>) -> Self {
        if let Some(tenant) = tenant {
            self.lines =
                self.lines.replacen("[grants.", &format!("[tenants.{}.grants.", toml_key(tenant)), 1);
        }
        self
    }
}

fn toml_key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.chars().all(is_plain) { name.to_owned() } else { toml::Value::from(name).to_string() }
}

/// One plugin of a list, as it lies there; nothing is built.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginRow {
    /// The name that workflow files use.
    pub name: String,
    /// The version in its manifest.
    pub version: Option<String>,
    /// component, built, stale (its source is newer, or was never built) or broken; of the library approved or held.
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
    pub fn shelved(library: &Library, stored: PluginVersion, keys: &PluginTrust) -> Self {
        let path = library.path(&stored.digest);
        let found = stored.read(&path).and_then(|bytes| {
            let signed = SignatureStatus::of(
                keys.look(&bytes, stored.signature.as_deref()),
                stored.signature.as_deref(),
            );
            Ok((Manifest::of(&bytes, None)?, signed, bytes.len() as u64))
        });
        let state = match (&found, stored.held.is_empty()) {
            (Err(_), _) => BROKEN,
            (Ok(_), true) => APPROVED,
            (Ok(_), false) => HELD,
        };
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
            approved_by: stored.approved_by.clone(),
            stored: Some(stored),
            ..row
        }
    }

    /// The row of a plugin in a directory or in memory; `fresh` finds the component that was built from a folder.
    #[must_use]
    pub fn lying(name: String, source: &Source, fresh: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let (path, state, found) = match source {
            Source::Bytes(bytes) => (None, "component", weighed(bytes, None)),
            Source::File(path) => (Some(path), "component", of_component(path)),
            Source::Folder(folder) => match fresh(folder) {
                Some(built) => (Some(folder), "built", of_component(&built)),
                None => (Some(folder), "stale", of_crate(folder).map(|manifest| (manifest, None))),
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
            approved_by: None,
            stored: None,
        }
    }

    /// Which of several of one name a version means: exactly that one, or that digest, or the highest that begins so. Before what is held.
    #[must_use]
    pub fn meant(all: &[Self], version: &str) -> Option<usize> {
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

/// Whether something that comes before has a bare name: `names` are those that do, each with whether it is held.
pub fn shadows<'a>(
    mut before: impl Iterator<Item = (&'a str, bool)>,
    name: &str,
    stored: Option<&PluginVersion>,
) -> bool {
    stored.is_none_or(PluginVersion::is_offered) && before.any(|(known, is_held)| known == name && !is_held)
}

fn shortened(text: &str) -> String {
    text::cut(text, LONGEST_DESCRIPTION).into_owned()
}

/// A component's manifest, digest and size in bytes.
type ComponentSummary = (Manifest, Option<(String, u64)>);

fn of_component(wasm: &Path) -> Option<ComponentSummary> {
    weighed(&read_component(wasm).ok()?, Some(wasm))
}

fn weighed(bytes: &[u8], path: Option<&Path>) -> Option<ComponentSummary> {
    let component = (Digest::of(bytes).to_string(), bytes.len() as u64);
    Some((Manifest::of(bytes, path).ok()?, Some(component)))
}

/// Reads the manifest of a crate; members that it inherits from its workspace are looked up there.
fn of_crate(folder: &Path) -> Option<Manifest> {
    let own = table_of(folder)?;
    let package = own.get("package")?;
    let shared = folder
        .ancestors()
        .skip(1)
        .filter_map(table_of)
        .find_map(|table| table.get("workspace").and_then(|workspace| workspace.get("package")).cloned());
    let field = |name: &str| {
        let field = package.get(name)?;
        let inherited = || shared.as_ref()?.get(name)?.as_str();
        field.as_str().or_else(inherited).map(str::to_owned)
    };
    Some(Manifest {
        name: field("name"),
        version: field("version"),
        description: field("description"),
        ..Manifest::default()
    })
}

fn table_of(folder: &Path) -> Option<toml::Table> {
    read_manifest(&folder.join("Cargo.toml")).ok()?.parse().ok()
}

/// A component to look into.
#[derive(Clone, Debug)]
pub enum Lying {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// In a file.
    File(PathBuf),
}

impl Lying {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Bytes(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// The details of a plugin.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Default policies of tasks, as documents write them.
    pub defaults: Map,
    /// JSON Schema of its inputs; null where it says nothing of them.
    pub inputs: Value,
    /// JSON Schema of its outputs, likewise.
    pub outputs: Value,
    /// The grants that it asks for.
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
    pub state: Option<String>,
    /// Why it is held.
    pub held: Vec<String>,
    /// The approver, if the version was on hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// The signature.
    pub signature: SignatureStatus,
    /// Whether those policies have it used that ask for anything.
    pub trust: Vec<Judged>,
    /// Interfaces that it imports.
    pub imports: Vec<String>,
    /// Exported interfaces.
    pub exports: Vec<String>,
}

/// Why a plugin cannot be looked into.
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
    /// The view of a component in a file or in memory, which may be a library's version.
    ///
    /// # Errors
    /// [`InspectError`], for the user.
    pub fn of(
        name: &str,
        (component, stored): (&Lying, Option<&PluginVersion>),
        (keys, trusts): (&PluginTrust, &[PluginTrust]),
        grants: Option<&Grants>,
    ) -> Result<Self, InspectError> {
        let (bytes, path): (Arc<[u8]>, _) = match (component, stored) {
            (Lying::Bytes(bytes), _) => (Arc::clone(bytes), None),
            (Lying::File(path), Some(stored)) => (stored.read(path)?.into(), None),
            (Lying::File(path), None) => (read_component(path)?.into(), Some(path.as_path())),
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
        let state = |stored: &PluginVersion| if stored.held.is_empty() { APPROVED } else { HELD }.to_owned();
        Ok(Self {
            name: name.to_owned(),
            version: manifest.version,
            description: manifest.description,
            tenant: None,
            defaults: manifest.defaults.fields(),
            inputs: manifest.inputs,
            outputs: manifest.outputs,
            granted: grants.map(grant_record::described).unwrap_or_default(),
            to_grant: MissingGrants::of(name, &manifest.wants, grants),
            wants: manifest.wants,
            bytes: bytes.len() as u64,
            digest: Digest::of(&bytes).to_string(),
            state: stored.map(state),
            held: stored.map(|stored| stored.held.clone()).unwrap_or_default(),
            approved_by: stored.and_then(|stored| stored.approved_by.clone()),
            signature: SignatureStatus::of(keys.look(&bytes, text), text),
            trust: Judged::by_all(trusts, &bytes, text),
            component: component.path().map(Path::to_owned),
            imports,
            exports,
        })
    }
}

/// The interfaces a component imports, and what it exports. Text format and broken components have none that could be read.
#[must_use]
pub fn interfaces(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut imports, mut exports, mut depth) = (Vec::new(), Vec::new(), 0_u32);
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "a component has many more sections than these")]
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().flatten().map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().flatten().map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    // Types that stand by themselves are no interfaces.
    imports.retain(|name| name.contains(':'));
    (imports, exports)
}

/// The result of adding a plugin.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddView {
    /// The name that workflow files use.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of the component.
    pub digest: String,
    /// `approved` or `held`.
    pub state: String,
    /// Why it is held.
    pub held: Vec<String>,
    /// The signature.
    pub signature: SignatureStatus,
    /// The grants that it asks for.
    pub wants: GrantRequests,
    /// The newest version that is approved; nothing for the first.
    pub newest: Option<String>,
    /// The grants that it asks for beyond the newest approved version.
    pub beyond: Option<Vec<String>>,
    /// Grants that it asks for and lacks.
    pub to_grant: Option<MissingGrants>,
    /// Whether it was not there before.
    pub is_new: bool,
}

impl AddView {
    pub(super) fn of(added: AddResult, signature: SignatureStatus, to_grant: Option<MissingGrants>) -> Self {
        let AddResult { stored, manifest, beyond, is_new } = added;
        let (newest, beyond) = beyond.unzip();
        Self {
            to_grant,
            name: stored.name,
            version: stored.version,
            digest: stored.digest.to_string(),
            state: if stored.held.is_empty() { APPROVED } else { HELD }.to_owned(),
            held: stored.held,
            signature,
            wants: manifest.wants,
            newest,
            beyond,
            is_new,
        }
    }
}

/// The result of an approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    /// The name that workflow files use.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of the component.
    pub digest: String,
    /// Whether it was held before.
    pub was_held: bool,
    /// Grants that it asks for and lacks.
    pub to_grant: Option<MissingGrants>,
}
