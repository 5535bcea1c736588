//! Bound inputs, and outputs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{outcome::Output, plan::SecretRef, value::Value};

/// Bound inputs in declared order, shared.
pub type Bindings = Arc<Vec<Binding>>;

/// Named outputs, shared.
pub type Outputs = Arc<Vec<Output>>;

/// One bound input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenBinding")]
pub struct Binding {
    /// The input.
    pub name: Arc<str>,
    /// The binding.
    #[serde(flatten)]
    pub value: InputValue,
}

/// The value an input is bound to, or the secret.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InputValue {
    /// A value.
    Value(Value),
    /// A secret: read by the host at each dispatch, never recorded, null to expressions.
    SecretKeyRef(SecretRef),
}

/// A [`Binding`] as a journal holds it: with a value, which may be null, or with a secret.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenBinding {
    name: Arc<str>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    secret_key_ref: Option<SecretRef>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<WrittenBinding> for Binding {
    type Error = &'static str;

    fn try_from(WrittenBinding { name, value, secret_key_ref }: WrittenBinding) -> Result<Self, Self::Error> {
        let value = match (value, secret_key_ref) {
            (Some(value), None) => InputValue::Value(value),
            (None, Some(secret)) => InputValue::SecretKeyRef(secret),
            (Some(_), Some(_)) | (None, None) => {
                return Err("expected either `value` or `secretKeyRef` of an input");
            }
        };
        Ok(Self { name, value })
    }
}

impl InputValue {
    /// The value as expressions and views see it: a secret reads as null.
    #[must_use]
    pub fn visible(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::SecretKeyRef(_) => Value::Null,
        }
    }
}
