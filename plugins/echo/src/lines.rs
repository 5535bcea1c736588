//! Lines for the log.

use phasm_sdk::{
    prelude::*,
    serde::{Deserialize, Deserializer, de::Error},
};

/// Lines for the log: as many as a number says, a text, or a list of texts.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Lines {
    #[default]
    None,
    Count(u64),
    Texts(Vec<String>),
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let unfit = || D::Error::custom("expected a number of lines, a text or a list of texts");
        match Value::deserialize(deserializer)? {
            Value::Number(count) => count.as_u64().map(Self::Count).ok_or_else(unfit),
            Value::String(text) => Ok(text.parse().map_or_else(|_| Self::Texts(vec![text]), Self::Count)),
            Value::Array(texts) => {
                let texts = texts.into_iter().map(|text| text.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Self::Texts).ok_or_else(unfit)
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => Err(unfit()),
        }
    }
}

impl Lines {
    pub(crate) fn write(&self) {
        match self {
            Self::None => {}
            Self::Count(count) => (1..=*count).for_each(|n| info!("line {n}")),
            Self::Texts(texts) => texts.iter().for_each(|text| info!("{text}")),
        }
    }
}
