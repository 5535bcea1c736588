//! Results of changes to a plugin library.

use phasm_engine::value::Map;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MissingGrants, SignatureStatus, state_of};
use crate::plugins::{AddResult, GrantRequests};

/// The result of adding a plugin.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AddedPlugin")]
pub struct AddView {
    /// The name that workflow files use.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of the component.
    pub digest: String,
    /// `approved` or `held`.
    #[schemars(extend("enum" = ["approved", "held"]))]
    pub state: String,
    /// Why it is held.
    pub held: Vec<String>,
    /// The signature.
    pub signature: SignatureStatus,
    /// The grants that it asks for.
    #[schemars(with = "Map")]
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
    pub(in crate::plugins) fn of(
        added: AddResult,
        signature: SignatureStatus,
        to_grant: Option<MissingGrants>,
    ) -> Self {
        let AddResult { stored, manifest, beyond, is_new } = added;
        let (newest, beyond) = beyond.unzip();
        Self {
            to_grant,
            state: state_of(&stored).to_owned(),
            name: stored.name,
            version: stored.version,
            digest: stored.digest.to_string(),
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApprovedPlugin")]
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
