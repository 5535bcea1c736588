//! The types whose values are known.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::{HasSchema, Schema};
use crate::{Json, duration::Millis};

macro_rules! schemas {
    ($($type:ty => $schema:expr),+ $(,)?) => {
        $(impl HasSchema for $type {
            const SCHEMA: &'static Schema = &$schema;
        })+
    };
}

macro_rules! integers {
    ($($type:ty),+) => {
        schemas! { $($type => Schema::Integer { min: Some(<$type>::MIN as i64), max: Some(<$type>::MAX as i64) }),+ }
    };
}

integers!(u8, u16, u32, i8, i16, i32);

schemas! {
    bool => Schema::Boolean,
    String => Schema::String,
    char => Schema::String,
    f32 => Schema::Number,
    f64 => Schema::Number,
    i64 => Schema::Integer { min: None, max: None },
    u64 => Schema::Integer { min: Some(0), max: None },
    isize => POINTER_SIZED[0],
    usize => POINTER_SIZED[1],
    Millis => Schema::Duration,
    Json => Schema::Any,
    Value => Schema::Any,
    Map<String, Value> => Schema::Map(&Schema::Any),
}

/// Guests have 32 bits.
const POINTER_SIZED: [Schema; 2] = if usize::BITS == 32 {
    [*<i32 as HasSchema>::SCHEMA, *<u32 as HasSchema>::SCHEMA]
} else {
    [*<i64 as HasSchema>::SCHEMA, *<u64 as HasSchema>::SCHEMA]
};

impl<T: HasSchema> HasSchema for Option<T> {
    const SCHEMA: &'static Schema = &Schema::Optional(T::SCHEMA);
}

impl<T: HasSchema> HasSchema for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: HasSchema> HasSchema for Vec<T> {
    const SCHEMA: &'static Schema = &Schema::List(T::SCHEMA);
}

impl<T: HasSchema> HasSchema for BTreeMap<String, T> {
    const SCHEMA: &'static Schema = &Schema::Map(T::SCHEMA);
}

impl<T: HasSchema, S> HasSchema for HashMap<String, T, S> {
    const SCHEMA: &'static Schema = &Schema::Map(T::SCHEMA);
}
