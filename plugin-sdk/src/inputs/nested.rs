//! Objects within inputs.

use std::{fmt, marker::PhantomData, ops::Deref};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use super::{FromInputs, Inputs};
use crate::Json;

/// An object read as inputs are: as what [`inputs!`](crate::inputs!) declares, or as untouched [`Inputs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nested<T>(pub T);

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: FromInputs> Deserialize<'de> for Nested<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: FromInputs> Visitor<'de> for Object<T> {
    type Value = Nested<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Nested<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry::<String, Json>()? {
            pairs.push(pair);
        }
        T::from_inputs(Inputs(pairs), &Json::from_text("{}")).map(Nested).map_err(A::Error::custom)
    }
}
