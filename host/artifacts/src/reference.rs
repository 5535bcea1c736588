//! References to artifacts, as values have them.

use std::sync::Arc;

use phasm_engine::value::{Map, Value};
use phasm_sandbox::Digest;

/// Media type of a file about which nothing is known.
pub(crate) const UNKNOWN_MEDIA: &str = "application/octet-stream";

/// A stored file. In values it is `{"artifact": "sha256:…", "size": 123, "media": "text/csv", "name": "rows.csv"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Digest of the content.
    pub digest: Digest,
    /// Size in bytes.
    pub size: u64,
    /// Media type, as the program that made it says.
    pub media: Arc<str>,
    /// Name for people; no path.
    pub name: Arc<str>,
}

impl Artifact {
    /// Returns a file of which only the digest is known.
    pub(crate) fn unnamed(digest: Digest) -> Self {
        Self { digest, size: 0, media: UNKNOWN_MEDIA.into(), name: "".into() }
    }

    /// Reads a reference. Members that are missing or of another type have their defaults: a reference may be written by hand, and
    /// the digest alone counts.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        Self::of_object(value.as_object()?)
    }

    pub(crate) fn of_object(object: &Map) -> Option<Self> {
        let digest: Digest = object.get("artifact")?.as_str()?.parse().ok()?;
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let size = object.get("size").and_then(|size| match size {
            Value::Number(size) => size.as_u64(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        });
        Some(Self {
            digest,
            size: size.unwrap_or_default(),
            media: text("media").unwrap_or(UNKNOWN_MEDIA).into(),
            name: text("name").unwrap_or_default().into(),
        })
    }

    /// Returns the reference as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        value(&self.digest.to_string(), self.size, &self.media, &self.name)
    }

    /// Returns every artifact that `value` names, at any depth. One that is named several times is there several times.
    #[must_use]
    pub fn named_in(value: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        collect(value, &mut found);
        found
    }

    /// Returns the name for messages: the file's, or the digest.
    pub(crate) fn shown(&self) -> String {
        if self.name.is_empty() {
            self.digest.to_string()
        } else {
            format!("`{}` ({})", self.name, self.digest)
        }
    }
}

/// Returns a reference as a value.
pub(crate) fn value(digest: &str, size: u64, media: &str, name: &str) -> Value {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let members: [(&str, Value); 4] =
        [("artifact", digest.into()), ("size", size.into()), ("media", media.into()), ("name", name.into())];
    members.into_iter().map(|(name, value)| (name.into(), value)).collect::<Map>().into()
}

fn collect(value: &Value, found: &mut Vec<Artifact>) {
    match value {
        Value::Object(object) => match Artifact::of_object(object) {
            Some(artifact) => found.push(artifact),
            None => object.values().for_each(|value| collect(value, found)),
        },
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// An object with a member `artifact`, and the members and indices that lead to it.
pub(crate) struct ReferencePlace<'v> {
    pub(crate) object: &'v Map,
    pub(crate) path: &'v [String],
}

/// Returns `value` with the objects replaced for which `replace` returns another value; none, if it returns none. All other parts are
/// shared with `value`.
///
/// # Errors
/// The first error of `replace`.
pub(crate) fn replaced<E>(
    value: &Value,
    path: &mut Vec<String>,
    replace: &mut impl FnMut(ReferencePlace<'_>) -> Result<Option<Value>, E>,
) -> Result<Option<Value>, E> {
    match value {
        Value::Object(object) => {
            if object.contains_key("artifact")
                && let Some(other) = replace(ReferencePlace { object, path })?
            {
                return Ok(Some(other));
            }
            let mut changed = None;
            for (name, member) in object.iter().filter(|(_, member)| may_hold(member)) {
                path.push(name.to_string());
                if let Some(other) = replaced(member, path, replace)? {
                    changed.get_or_insert_with(|| Map::clone(object)).insert(Arc::clone(name), other);
                }
                path.pop();
            }
            Ok(changed.map(Value::from))
        }
        Value::Array(items) => {
            let mut changed: Option<Vec<Value>> = None;
            for (index, item) in items.iter().enumerate().filter(|(_, item)| may_hold(item)) {
                path.push(index.to_string());
                if let Some(other) = replaced(item, path, replace)?
                    && let Some(place) = changed.get_or_insert_with(|| Vec::clone(items)).get_mut(index)
                {
                    *place = other;
                }
                path.pop();
            }
            Ok(changed.map(Value::from))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(None),
    }
}

fn may_hold(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}
