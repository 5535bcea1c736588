//! Outputs: what was echoed, then what was declared.

use phasm_sdk::{inputs::Object, prelude::*};

use crate::controls::Declaration;

/// The zero of a type; one that the specification (R-W6) does not name is taken for a string, as Aether's own echo takes it.
fn zero(r#type: &str) -> Json {
    Json::from_text(match r#type {
        "number" | "float" | "integer" | "int" => "0",
        "boolean" | "bool" => "false",
        "object" => "{}",
        "array" => "[]",
        "any" => "null",
        "string" => "\"\"",
        other => {
            warn!("outputs: unknown type `{other}`, taken for a string");
            "\"\""
        }
    })
}

/// Adds the declared outputs; one without a value is the input of that name, else its type's zero.
pub(crate) fn declare(outputs: &mut Vec<(String, Json)>, declared: Vec<Object<Declaration>>) {
    for Object(Declaration { name, r#type, value }) in declared {
        match value {
            Some(value) => set(outputs, name, value),
            None if outputs.iter().any(|(known, _)| *known == name) => {}
            None => outputs.push((name, zero(&r#type))),
        }
    }
}

/// Gives `name` the value, in its old place if it has one.
pub(crate) fn set(outputs: &mut Vec<(String, Json)>, name: String, value: Json) {
    match outputs.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => outputs.push((name, value)),
    }
}
