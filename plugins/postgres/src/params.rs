//! Values of parameters as text, by the types that the server finds for them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::Json;
use postgres_types::{Kind, Type};

use crate::array;

/// Returns the text that is sent for a value; `None` is NULL.
///
/// # Errors
/// The reason why the value does not fit the type.
pub(crate) fn text(value: &Json, of: &Type) -> Result<Option<String>, String> {
    if value.is_null() {
        return Ok(None);
    }
    if matches!(*of, Type::JSON | Type::JSONB) {
        return Ok(Some(value.as_str().to_owned()));
    }
    let json = value.as_str().trim();
    if json.starts_with('[') {
        let Kind::Array(member) = of.kind() else { return Err(misfit("a list", of)) };
        return list(value, member).map(Some);
    }
    if json.starts_with('{') {
        return Err(misfit("an object", of));
    }
    if !json.starts_with('"') {
        // A number or a Boolean; the server reads it as it is written here.
        return if *of == Type::BYTEA { Err(misfit("no text", of)) } else { Ok(Some(json.to_owned())) };
    }
    let text: String = value.parse().map_err(|_| misfit("a text that is no text", of))?;
    if text.contains('\0') {
        return Err("a text with a character NUL, which PostgreSQL does not know".to_owned());
    }
    if *of == Type::BYTEA {
        let bytes =
            STANDARD.decode(&text).map_err(|_| "expected bytes as base64, got another text".to_owned())?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        return Ok(Some(format!("\\x{digits}")));
    }
    Ok(Some(text))
}

/// Writes a list as an array. A list in it is another dimension, except where members are JSON.
fn list(value: &Json, member: &Type) -> Result<String, String> {
    let members: Vec<Json> = value.parse().map_err(|_| misfit("no list", member))?;
    let is_json = matches!(*member, Type::JSON | Type::JSONB);
    let mut array = String::from("{");
    for (at, value) in members.iter().enumerate() {
        if at > 0 {
            array.push(if *member == Type::BOX { ';' } else { ',' });
        }
        if value.as_str().trim().starts_with('[') && !is_json {
            array.push_str(&list(value, member)?);
            continue;
        }
        match text(value, member)? {
            None => array.push_str("NULL"),
            Some(text) => array::push_quoted(&text, &mut array),
        }
    }
    array.push('}');
    Ok(array)
}

fn misfit(got: &str, of: &Type) -> String {
    format!("expected a value of type `{}`, got {got}", of.name())
}
