//! Instants as they are kept: RFC 3339 in UTC.

use phasm_engine::time::Timestamp;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

pub(super) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    Timestamp::from_rfc3339(&text).ok_or_else(|| D::Error::custom(format!("{text} is not a time")))
}

/// One that may not be there.
pub(super) mod maybe {
    use phasm_engine::time::Timestamp;
    use serde::{Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde gives it so")]
    pub(in super::super) fn serialize<S: Serializer>(
        at: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => serializer.serialize_str(&at.to_rfc3339()),
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}
