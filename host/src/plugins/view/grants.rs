//! Grants that a plugin asks for and lacks.

use phasm_sandbox::Grants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plugins::GrantRequests;

/// Grants that a plugin asks for and lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
