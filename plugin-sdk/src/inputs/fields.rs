//! Reads inputs one by one and gathers what is wrong with all of them.

use std::{borrow::Cow, collections::BTreeMap};

use serde::de::DeserializeOwned;

use super::{
    BadInputs, Inputs,
    explain::{expectation, explain},
};
use crate::{Json, host};

/// The reader behind [`inputs!`](crate::inputs!).
#[derive(Debug)]
pub struct Fields<'a> {
    inputs: &'a Inputs,
    config: &'a Json,
    parsed_config: Option<BTreeMap<String, Json>>,
    problems: BadInputs,
}

impl<'a> Fields<'a> {
    /// Reads from `inputs`, then from `config`.
    #[must_use]
    pub fn new(inputs: &'a Inputs, config: &'a Json) -> Self {
        Self { inputs, config, parsed_config: None, problems: BadInputs::default() }
    }

    /// The input called `name`. Without a value there is a problem, unless a `T` can be absent, as an `Option` can.
    pub fn required<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        match self.given(name) {
            Some(text) => self.parse(name, &text),
            None => self.absent(name),
        }
    }

    /// The input called `name`, or `default()` without a value.
    pub fn or_else<T: DeserializeOwned>(&mut self, name: &str, default: impl FnOnce() -> T) -> Option<T> {
        match self.given(name) {
            Some(text) => self.parse(name, &text),
            None => Some(default()),
        }
    }

    /// Logs a warning for each input that is not in `known`, so that a misspelt name does not go unnoticed.
    pub fn warn_of_others(&self, known: &[&str]) {
        for (name, _) in self.inputs.iter().filter(|(name, _)| !known.contains(name)) {
            let text = format!("input `{name}` is not used; this executor knows `{}`", known.join("`, `"));
            host::log(host::Level::Warn, &text);
        }
    }

    /// Everything that was wrong.
    #[must_use]
    pub fn into_problems(self) -> BadInputs {
        self.problems
    }

    /// The text of what was given and is not null.
    fn given(&mut self, name: &str) -> Option<Cow<'a, str>> {
        if let Some(json) = self.inputs.get(name).filter(|json| !json.is_null()) {
            return Some(json.as_str().into());
        }
        let config = self.parsed_config.get_or_insert_with(|| self.config.parse().unwrap_or_default());
        config.get(name).filter(|json| !json.is_null()).map(|json| json.as_str().to_owned().into())
    }

    fn parse<T: DeserializeOwned>(&mut self, name: &str, text: &str) -> Option<T> {
        let parsed = serde_json::from_str(text);
        parsed.map_err(|why| self.problems.push(format!("input `{name}`: {}", explain(&why, text)))).ok()
    }

    fn absent<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        match serde_json::from_str("null") {
            Ok(value) => Some(value),
            Err(why) => {
                self.problems.push(format!("input `{name}` is missing; expected {}", expectation(&why)));
                None
            }
        }
    }
}
