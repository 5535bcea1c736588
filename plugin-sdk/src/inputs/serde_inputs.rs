//! Inputs as one object for whatever serde can read.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, value::MapAccessDeserializer};
use serde_json::Error;

use super::{BadInputs, FromInputs, Inputs, explain::explain};
use crate::Json;

impl<T: DeserializeOwned> FromInputs for T {
    fn from_inputs(inputs: Inputs, config: &Json) -> Result<Self, BadInputs> {
        let pairs = with_config(inputs, config);
        let pairs = Pairs { rest: pairs.iter(), value: None };
        T::deserialize(MapAccessDeserializer::new(pairs)).map_err(|why| BadInputs(vec![reword_missing(&why)]))
    }
}

/// The inputs that are not null, the last of each name, then what only the config has.
fn with_config(inputs: Inputs, config: &Json) -> Vec<(String, Json)> {
    let mut pairs: Vec<(String, Json)> = Vec::with_capacity(inputs.len());
    for (name, json) in inputs.into_iter().filter(|(_, json)| !json.is_null()) {
        pairs.retain(|(earlier, _)| *earlier != name);
        pairs.push((name, json));
    }
    let config: BTreeMap<String, Json> = config.parse().unwrap_or_default();
    for (name, json) in config {
        if !pairs.iter().any(|(given, _)| *given == name) {
            pairs.push((name, json));
        }
    }
    pairs
}

fn reword_missing(why: &Error) -> String {
    let message = why.to_string();
    match message.strip_prefix("missing field ") {
        Some(name) => format!("input {name} is missing"),
        None => message,
    }
}

/// The pairs as serde walks through them; an error names the input it is about.
struct Pairs<'de> {
    rest: std::slice::Iter<'de, (String, Json)>,
    value: Option<&'de (String, Json)>,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.value = self.rest.next();
        let Some((name, _)) = self.value else { return Ok(None) };
        seed.deserialize(serde::de::value::StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, json) = self.value.take().ok_or_else(|| Error::custom("a value without a name"))?;
        let mut reader = serde_json::Deserializer::from_str(json.as_str());
        seed.deserialize(&mut reader)
            .map_err(|why| Error::custom(format!("input `{name}`: {}", explain(&why, json.as_str()))))
    }
}
