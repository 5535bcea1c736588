//! JSON values that are cheap to share.
//!
//! Inputs, outputs, items and configuration travel through events, state, commands and expressions. A [`Value`] clones in
//! constant time whatever its size, so that no step of the engine costs more because an executor returned a large value.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
pub use serde_json::Number;

use super::number;

/// The members of a JSON object, in key order.
pub type Map = BTreeMap<Arc<str>, Value>;

/// A JSON value; arrays, objects and strings are shared, not copied, by `clone`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// JSON `null`, and what a missing member reads as.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits or a finite double.
    Number(Number),
    /// Text.
    String(Arc<str>),
    /// A list.
    Array(Arc<Vec<Value>>),
    /// Named members.
    Object(Arc<Map>),
}

/// Returns whether a text is the index of an element: digits, and nothing more.
pub(crate) fn is_index(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Value {
    /// The JSON name of this value's type, as problems print it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(n) if n.is_f64() => "number",
            Self::Number(_) => "integer",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text of a string value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// The members of an object value.
    #[must_use]
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::String(_) => None,
        }
    }

    /// The elements of an array value.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Object(_) => None,
        }
    }

    /// The member `key` of an object, or the element of an array when `key` is a decimal index.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(map) => map.get(key),
            Self::Array(items) if is_index(key) => items.get(key.parse::<usize>().ok()?),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    /// Compact JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A `Value` has string keys and finite numbers only; serialising it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads one JSON text.
    ///
    /// # Errors
    /// Fails when `text` is not exactly one JSON value, or has a number that cannot be kept ([`number::lost`]).
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let lost = |number: &str| JsonError::Number(number::complaint(number));
        let read = serde_json::from_str(text);
        let value = read.map_err(|error| number::lost(text).map_or(JsonError::Syntax(error), lost))?;
        number::first_lost(text).map_or(Ok(value), |(_, number)| Err(lost(number)))
    }
}

/// Why a text is no JSON value.
#[derive(Debug)]
pub enum JsonError {
    /// The text is no JSON.
    Syntax(serde_json::Error),
    /// A number in it would become another one.
    Number(String),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "{error}"),
            Self::Number(complaint) => f.write_str(complaint),
        }
    }
}

impl std::error::Error for JsonError {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(value: Arc<str>) -> Self {
        Self::String(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(Arc::new(items))
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Object(Arc::new(map))
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(b) => Self::Bool(b),
            serde_json::Value::Number(n) => Self::Number(n),
            serde_json::Value::String(s) => Self::String(s.into()),
            serde_json::Value::Array(items) => items.into_iter().map(Self::from).collect::<Vec<_>>().into(),
            serde_json::Value::Object(map) => {
                map.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<Map>().into()
            }
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(n) => Self::Number(n.clone()),
            Value::String(s) => Self::String(s.as_ref().to_owned()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Object(map.iter().map(|(k, v)| (k.as_ref().to_owned(), v.into())).collect())
            }
        }
    }
}

/// Any JSON.
impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(b) => serializer.serialize_bool(*b),
            Self::Number(n) => n.serialize(serializer),
            Self::String(s) => serializer.serialize_str(s),
            Self::Array(items) => serializer.collect_seq(items.iter()),
            Self::Object(map) => serializer.collect_map(map.iter()),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, value)) = access.next_entry::<Arc<str>, Value>()? {
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trips_exactly() {
        for text in [
            "null",
            "true",
            "1",
            "-7",
            "18446744073709551615",
            "1.0",
            "1.5e300",
            r#""é\n""#,
            r#"[1,{"a":[]}]"#,
        ] {
            let value = Value::from_json(text).unwrap();
            assert_eq!(Value::from_json(&value.to_json()).unwrap(), value, "{text}");
            assert_eq!(Value::from(serde_json::Value::from(&value)), value, "{text}");
        }
        assert_eq!(Value::from_json("1.0").unwrap().to_json(), "1.0");
    }

    #[test]
    fn members_are_found_by_key_or_index() {
        let value = Value::from_json(r#"{"a":[10,20]}"#).unwrap();
        assert_eq!(value.member("a").and_then(|a| a.member("1")), Some(&20.into()));
        assert_eq!(value.member("b"), None);
    }
}
