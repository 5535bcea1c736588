//! Checks of values against a declared type and its allowed values. Nothing is converted.

use crate::{
    problem::{
        codes::{Entry, values},
        shortened,
    },
    value::Value,
};

/// The types a parameter may declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterType {
    /// Anything.
    #[default]
    Any,
    /// Text.
    String,
    /// Any number.
    Number,
    /// A number without fraction (1.0 is one).
    Integer,
    /// A truth value.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
}

/// Why a value does not fit: the kind of problem, and what is wrong.
pub(crate) type TypeMismatch = (&'static Entry, String);

impl ParameterType {
    /// Whether a value may be bound to a parameter of this type; null fits any, 1.0 is an integer.
    #[must_use]
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _)
            | (_, Value::Null)
            | (Self::String, Value::String(_))
            | (Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_))
            | (Self::Array, Value::Array(_)) => true,
            (Self::Integer, Value::Number(n)) => !n.is_f64() || n.as_f64().is_some_and(|f| f.fract() == 0.0),
            (
                Self::String | Self::Number | Self::Integer | Self::Boolean | Self::Object | Self::Array,
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            ) => false,
        }
    }

    /// The type as documents name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }

    /// Returns the fault in binding `value` to a parameter of this type whose `enum` is `allowed` (empty: unrestricted); `None`
    /// if it fits. Null always fits.
    #[must_use]
    pub fn complaint(self, value: &Value, allowed: &[Value]) -> Option<String> {
        self.type_mismatch(value, allowed).map(|(_, message)| message)
    }

    pub(crate) fn type_mismatch(self, value: &Value, allowed: &[Value]) -> Option<TypeMismatch> {
        if !self.accepts(value) {
            return Some(self.wrong(value.type_name()));
        }
        let (entry, expected) = self.demand(value, allowed)?;
        Some((entry, format!("found {}; expected {expected}", shortened(value.clone()))))
    }

    pub(crate) fn wrong(self, found: &str) -> TypeMismatch {
        (&values::WRONG_LITERAL, format!("found {found}; expected {}", self.described()))
    }

    /// Returns the expected value if `value` does not fit; `None` if it does.
    pub(crate) fn demand(self, value: &Value, allowed: &[Value]) -> Option<(&'static Entry, String)> {
        if !self.accepts(value) {
            return Some((&values::WRONG_LITERAL, self.described()));
        }
        let fits = value.is_null() || allowed.is_empty() || allowed.iter().any(|one| equal(one, value));
        (!fits).then(|| (&values::NOT_IN_ENUM, Self::one_of(allowed)))
    }

    /// The type in a sentence.
    pub(crate) fn described(self) -> String {
        format!("a value of type {}", self.as_str())
    }

    /// The values of an `enum` in a sentence.
    pub(crate) fn one_of(allowed: &[Value]) -> String {
        let list: Vec<_> = allowed.iter().map(Value::to_json).collect();
        format!("one of {}", list.join(", "))
    }

    /// Whether some value but null is of both types.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let pair = (self, other);
        self == other
            || matches!(pair, (Self::Any, _) | (_, Self::Any))
            || matches!(pair, (Self::Integer, Self::Number) | (Self::Number, Self::Integer))
    }
}

/// Equality with 1 == 1.0.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64() => a.as_f64() == b.as_f64(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        Value::from_json(json).unwrap()
    }

    /// R-B8, R-W6.
    #[test]
    fn types_accept_what_needs_no_conversion() {
        use ParameterType::{Any, Array, Boolean, Integer, Number, Object, String};
        let rows = [
            ("1", Integer, true),
            ("1.0", Integer, true),
            ("1.5", Integer, false),
            ("18446744073709551615", Integer, true),
            ("1", Number, true),
            ("1.5", Number, true),
            ("\"1\"", Integer, false),
            ("1", String, false),
            ("true", Boolean, true),
            ("\"true\"", Boolean, false),
            ("[]", Array, true),
            ("{}", Array, false),
            ("{}", Object, true),
            ("null", Integer, true),
            ("{}", Any, true),
        ];
        for (json, kind, fits) in rows {
            assert_eq!(kind.accepts(&value(json)), fits, "{json} as {}", kind.as_str());
        }
    }

    /// R-B3.
    #[test]
    fn restricted_parameters_take_listed_values_and_null() {
        let allowed = [value("1"), value("\"low\""), value("[1]")];
        for (json, fits) in
            [("1", true), ("1.0", true), ("\"low\"", true), ("[1]", true), ("null", true), ("2", false)]
        {
            assert_eq!(ParameterType::Any.complaint(&value(json), &allowed).is_none(), fits, "{json}");
        }
        let found = ParameterType::Any.complaint(&value("2"), &allowed).unwrap();
        assert_eq!(found, r#"found 2; expected one of 1, "low", [1]"#);
    }
}
