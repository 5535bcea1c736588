//! Types of columns, and values of them as JSON. All of them arrive as text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::number;
use postgres_types::{Kind, Type};

use crate::{array, rows::quoted};

/// How values of a type are written as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bool,
    /// A number that is exact; `NaN` and the infinities are texts.
    Number,
    /// A value that is JSON already.
    Json,
    /// Bytes, as base64.
    Bytes,
    /// A day and a time, with `T` between them.
    Timestamp,
    /// The text of the server.
    Text,
    /// A list of such values, with this character between them.
    List(Box<Self>, char),
}

impl Form {
    /// Returns the form of a type, and the type's name.
    pub(crate) fn of(oid: u32) -> (Self, String) {
        match Type::from_oid(oid) {
            Some(of) => (Self::of_type(&of), of.name().to_owned()),
            // A type of the database's own: an enum, a domain over no other, a composite.
            None => (Self::Text, format!("oid {oid}")),
        }
    }

    fn of_type(of: &Type) -> Self {
        if let Kind::Array(member) = of.kind() {
            let delimiter = if *member == Type::BOX { ';' } else { ',' };
            return Self::List(Box::new(Self::of_type(member)), delimiter);
        }
        match *of {
            Type::BOOL => Self::Bool,
            Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT4 | Type::FLOAT8 | Type::OID => Self::Number,
            Type::JSON | Type::JSONB => Self::Json,
            Type::BYTEA => Self::Bytes,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => Self::Timestamp,
            _ => Self::Text,
        }
    }

    /// Adds a value to JSON text.
    ///
    /// # Errors
    /// The reason why it cannot be written without loss.
    pub(crate) fn write(&self, text: &str, json: &mut String) -> Result<(), String> {
        match self {
            Self::Bool => json.push_str(if text == "t" { "true" } else { "false" }),
            Self::Number if text.ends_with(|last: char| last.is_ascii_digit()) => json.push_str(text),
            Self::Number | Self::Text => json.push_str(&quoted(text)),
            Self::Json => {
                if let Some((_, lost)) = number::lost(text) {
                    return Err(format!("{}; `::text` returns it as text", number::complaint(lost)));
                }
                json.push_str(text);
            }
            Self::Bytes => json.push_str(&quoted(&STANDARD.encode(bytes(text)?))),
            Self::Timestamp => json.push_str(&quoted(&timestamp(text))),
            Self::List(member, delimiter) => array::write(text, *delimiter, member, json)?,
        }
        Ok(())
    }
}

/// Reads `\x48656c6c6f`.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("\\x").unwrap_or(text).as_bytes();
    let pairs = digits
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    pairs.collect::<Option<_>>().ok_or_else(|| "bytes that are not hexadecimal digits".to_owned())
}

/// Writes `2026-01-31 08:00:00.5+00` as RFC 3339 does. Years before the first one and `infinity` stay as the server writes them.
fn timestamp(text: &str) -> String {
    let Some((day, time)) = text.split_once(' ').filter(|_| !text.ends_with("BC")) else {
        return text.to_owned();
    };
    match time.strip_suffix("+00") {
        Some(time) => format!("{day}T{time}Z"),
        None => format!("{day}T{time}"),
    }
}
