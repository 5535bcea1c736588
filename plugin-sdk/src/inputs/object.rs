//! Objects within inputs.

use std::{fmt, marker::PhantomData, ops::Deref};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use super::{FromInputs, Inputs};
use crate::{
    Json,
    schema::{HasSchema, Schema},
};

/// An object within inputs, read as a declaration of [`inputs!`](crate::inputs!) or as untyped [`Inputs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: FromInputs> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

impl<T: FromInputs> HasSchema for Object<T> {
    const SCHEMA: &'static Schema = match T::SCHEMA {
        Some(schema) => schema,
        None => &Schema::Map(&Schema::Any),
    };
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: FromInputs> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry::<String, Json>()? {
            pairs.push(pair);
        }
        T::from_inputs(Inputs(pairs), &Json::from_text("{}")).map(Object).map_err(A::Error::custom)
    }
}
