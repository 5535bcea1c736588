//! Values on their way between Rhai and us.

use rhai::{Dynamic, ImmutableString};

use crate::{
    expr::{budget::MAX_VALUE_DEPTH, emit::INLINE_TEXT_BYTES, number::Num, value_ref::ValueRef},
    value::{Number, Value},
};

/// A value while operations work on it; a string that Rhai holds is not copied.
#[derive(Clone, Debug)]
pub(in crate::expr) enum Operand {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Short(ImmutableString),
    Other(SharedValue),
}

/// A shared value in Rhai's hands.
#[derive(Clone, Debug, Default)]
pub(in crate::expr) struct SharedValue {
    pub(in crate::expr) value: Value,
    /// How many levels an evaluation has put around what it was given, at most: without a bound a loop could nest a
    /// value so deeply that dropping it exhausts the stack. At 0 it is a part of what was given, or a text.
    built: usize,
}

impl Operand {
    pub(in crate::expr) fn value_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Bool(b) => ValueRef::Bool(*b),
            Self::Int(int) => ValueRef::Number(Num::Int((*int).into())),
            Self::Float(float) => ValueRef::Number(Num::Float(*float)),
            Self::Short(text) => ValueRef::Text(text),
            Self::Other(held) => (&held.value).into(),
        }
    }

    /// How many levels were put around what it is made of.
    pub(in crate::expr) fn built(&self) -> usize {
        match self {
            Self::Other(held) => held.built,
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Short(_) => 0,
        }
    }

    /// The same, with `built` levels put around its parts.
    ///
    /// # Errors
    /// When these are too many.
    pub(in crate::expr) fn with_levels(self, built: usize) -> Result<Self, String> {
        match self {
            Self::Other(_) if built > MAX_VALUE_DEPTH => {
                Err(format!("the value made nests too deeply; at most {MAX_VALUE_DEPTH} levels are allowed"))
            }
            Self::Other(held) => Ok(Self::Other(SharedValue { built, ..held })),
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Short(_) => Ok(self),
        }
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(b),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(int), _) => Self::Int(int),
                (None, Some(float)) if number.is_f64() => Self::Float(float),
                _ => Self::Other(Value::Number(number).into()),
            },
            Value::String(text) if text.len() <= INLINE_TEXT_BYTES => Self::Short(text.as_ref().into()),
            Value::String(_) | Value::Array(_) | Value::Object(_) => Self::Other(value.into()),
        }
    }
}

impl From<Value> for SharedValue {
    fn from(value: Value) -> Self {
        Self { value, built: 0 }
    }
}

impl From<Operand> for Value {
    fn from(operand: Operand) -> Self {
        match operand {
            Operand::Null => Self::Null,
            Operand::Bool(b) => b.into(),
            Operand::Int(int) => int.into(),
            Operand::Float(float) => Number::from_f64(float).map_or(Self::Null, Self::Number),
            Operand::Short(text) => text.as_str().into(),
            Operand::Other(held) => held.value,
        }
    }
}

impl From<Operand> for Dynamic {
    fn from(operand: Operand) -> Self {
        match operand {
            Operand::Null => Self::UNIT,
            Operand::Bool(b) => b.into(),
            Operand::Int(int) => int.into(),
            Operand::Float(float) => float.into(),
            Operand::Short(text) => text.into(),
            Operand::Other(held) => Self::from(held),
        }
    }
}

impl From<Dynamic> for Operand {
    fn from(value: Dynamic) -> Self {
        if let Ok(int) = value.as_int() {
            Self::Int(int)
        } else if let Ok(b) = value.as_bool() {
            Self::Bool(b)
        } else if let Ok(float) = value.as_float() {
            Self::Float(float)
        } else if value.is_string() {
            value.into_immutable_string().map_or(Self::Null, Self::Short)
        } else {
            value.try_cast::<SharedValue>().map_or(Self::Null, Self::Other)
        }
    }
}
