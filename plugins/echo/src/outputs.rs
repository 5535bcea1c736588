//! Outputs: what was echoed, then what was declared.

use phasm_sdk::{inputs::Nested, prelude::*};

use crate::controls::Declared;

inputs! {
    /// The types a declared output may have; SPEC section 1 names them.
    #[derive(Clone, Copy)]
    pub(crate) enum Type {
        String = "string",
        Number = "number",
        Float = "float",
        Integer = "integer",
        Int = "int",
        Boolean = "boolean",
        Bool = "bool",
        Object = "object",
        Array = "array",
        Any = "any",
    }
}

impl Type {
    fn zero(self) -> Json {
        Json::from_text(match self {
            Self::String => "\"\"",
            Self::Number | Self::Float | Self::Integer | Self::Int => "0",
            Self::Boolean | Self::Bool => "false",
            Self::Object => "{}",
            Self::Array => "[]",
            Self::Any => "null",
        })
    }
}

/// Adds the declared outputs; one without a value is the input of that name, else its type's zero.
pub(crate) fn declare(outputs: &mut Vec<(String, Json)>, declared: Vec<Nested<Declared>>) {
    for Nested(Declared { name, r#type, value }) in declared {
        match value {
            Some(value) => set(outputs, name, value),
            None if outputs.iter().any(|(known, _)| *known == name) => {}
            None => outputs.push((name, r#type.zero())),
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
