//! Named values of views.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::limit::LeftOutValue;
use crate::{outcome::Output, plan::Parameter, value::Value};

/// A named value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Named")]
pub struct NamedInput {
    /// Its name.
    pub name: Arc<str>,
    /// Its value; null for a secret, and where it is left out.
    pub value: Value,
    /// Where the value is, if it is too large to be shown here. It is a value for certain then, and not null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutValue>,
}

/// A named value and its type.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Output")]
pub struct NamedOutput {
    /// Its name.
    pub name: Arc<str>,
    /// The declared type, else the value's own.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its value; null where it is left out.
    pub value: Value,
    /// Where the value is, if it is too large to be shown here. It is a value for certain then, and not null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutValue>,
}

impl NamedInput {
    pub(super) fn limited(name: &Arc<str>, value: Value, left_out: Option<LeftOutValue>) -> Self {
        let value = if left_out.is_some() { Value::Null } else { value };
        Self { name: Arc::clone(name), value, left_out }
    }
}

impl NamedOutput {
    pub(super) fn limited(output: &Output, declared: &[Parameter], left_out: Option<LeftOutValue>) -> Self {
        let declared = declared.iter().find(|parameter| parameter.name == output.name);
        let kind = declared.map(|parameter| parameter.kind.as_str()).filter(|kind| *kind != "any");
        Self {
            name: output.name.clone(),
            kind: kind.unwrap_or_else(|| output.value.type_name()),
            value: if left_out.is_some() { Value::Null } else { output.value.clone() },
            left_out,
        }
    }
}
