//! Values that are kept and seldom looked at.

use std::{collections::BTreeMap, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    ser::{Error as _, SerializeMap as _},
};
use serde_json::value::RawValue;

use crate::{
    tree::{Tree, TreeNode},
    value::Value,
};

/// A value as compact JSON text, shared by clones: a twentieth of the memory that a document's [`Value`] takes. It is written as the
/// value that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(Arc<str>);

impl JsonText {
    /// Returns the tree's value, the same as [`Tree::to_value`] gives.
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        Self::written(&Plain(tree))
    }

    // Values and trees have string keys and finite numbers only; serialising them cannot fail.
    fn written(value: &impl Serialize) -> Self {
        Self(serde_json::to_string(value).unwrap_or_default().into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the text and returns its value.
    #[must_use]
    pub fn value(&self) -> Value {
        let mut reader = serde_json::Deserializer::from_str(&self.0);
        // The written value was held to its reader's depth limit, so there is no need for another one here.
        reader.disable_recursion_limit();
        Value::deserialize(&mut reader).unwrap_or_default()
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        Self::written(value)
    }
}

impl Default for JsonText {
    /// `null`.
    fn default() -> Self {
        Self("null".into())
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self::from(&value))
    }
}

/// A tree without positions, its members in order and each once.
struct Plain<'a>(&'a Tree);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.node {
            TreeNode::Null => serializer.serialize_unit(),
            TreeNode::Bool(flag) => serializer.serialize_bool(*flag),
            TreeNode::Number(number) => number.serialize(serializer),
            TreeNode::String(text) => serializer.serialize_str(text),
            TreeNode::Array(items) => serializer.collect_seq(items.iter().map(Plain)),
            TreeNode::Object(members) => {
                let last: BTreeMap<&str, &Tree> =
                    members.iter().map(|(key, tree)| (&*key.name, tree)).collect();
                let mut map = serializer.serialize_map(Some(last.len()))?;
                for (name, tree) in last {
                    map.serialize_entry(name, &Plain(tree))?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Key, Span};

    #[test]
    fn what_is_written_is_what_is_read() {
        for text in [
            "null",
            "true",
            "-7",
            "18446744073709551615",
            "1.0",
            "1e300",
            "\"a\\\"\\u0000é\"",
            "[]",
            "{\"a\":[{},null]}",
        ] {
            let value = Value::from_json(text).unwrap();
            for kept in [JsonText::from(&value), JsonText::of(&Tree::from(&value))] {
                assert_eq!((kept.as_str(), kept.value()), (&*value.to_json(), value.clone()), "{text}");
                assert_eq!(serde_json::to_string(&kept).unwrap(), value.to_json());
                assert_eq!(serde_json::from_str::<JsonText>(text).unwrap(), kept);
            }
        }
        assert!(JsonText::default().is_null() && !JsonText::from(&Value::from(0)).is_null());
    }

    #[test]
    fn members_are_in_order_and_the_last_of_one_name_counts() {
        let member = |name: &str, value: i64| {
            (Key { name: name.into(), span: Span::default() }, Tree::from(&Value::from(value)))
        };
        let node = TreeNode::Object(vec![member("b", 1), member("a", 2), member("b", 3)]);
        let tree = Tree::new(node, Span::default());
        assert_eq!(JsonText::of(&tree).as_str(), "{\"a\":2,\"b\":3}");
        assert_eq!(JsonText::of(&tree), JsonText::from(&tree.to_value()));
    }

    #[test]
    fn it_is_as_deep_as_documents_may_be() {
        let deep = (0..300).fold(Value::from(1), |inner, _| vec![inner].into());
        assert_eq!(JsonText::from(&deep).value(), deep);
        assert_eq!(serde_json::to_string(&JsonText::from(&deep)).unwrap(), deep.to_json());
    }
}
