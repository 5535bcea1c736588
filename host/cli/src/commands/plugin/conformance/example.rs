//! Examples of a manifest.

use phasm::engine::value::{Map, Value};
use serde::Deserialize;

/// A call that a manifest gives as an example, with what has to come of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PluginExample {
    /// A few words for people.
    pub(super) name: Option<String>,
    /// Inputs of the call.
    pub(super) inputs: Map,
    /// Settings, as in `executor.config`.
    pub(super) settings: Map,
    /// The response, if the attempt suspends itself: it is resumed with it.
    pub(super) response: Option<Map>,
    /// The code that it has to end with.
    pub(super) code: i32,
    /// Outputs that it has to have, among others.
    pub(super) outputs: Map,
    /// A part of its message.
    pub(super) message: Option<String>,
}

impl PluginExample {
    /// Reads the example with that number, from 1.
    ///
    /// # Errors
    /// The members that are wrong.
    pub(super) fn read(number: usize, written: &Value) -> Result<Self, String> {
        let example: Self = serde_json::from_str(&written.to_json())
            .map_err(|error| format!("examples[{}]: {error}", number - 1))?;
        let name = example.name.clone().unwrap_or_else(|| format!("example {number}"));
        Ok(Self { name: Some(name), ..example })
    }

    /// Returns its name.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}
