//! References to secrets.

use std::sync::Arc;

/// Names one secret of the operator's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// The secret.
    pub name: Arc<str>,
    /// The key within it.
    pub key: Arc<str>,
}
