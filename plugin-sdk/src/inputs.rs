//! The bound inputs, untyped and typed.
//!
//! A typed input that is absent or null is looked up in `executor.config`, so that fixed values can stand there.

mod choice;
mod explain;
mod fields;
mod object;
mod serde_inputs;

use std::fmt;

use crate::{Json, Outcome, schema::Schema};
pub use choice::choice;
pub use fields::Fields;
pub use object::Object;

/// The inputs as they came: names and JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(Vec<(String, Json)>);

impl Inputs {
    /// The value called `name`; of equal names the last wins.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Names and values in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the inputs whose names are not in `names`.
    #[must_use]
    pub fn without(self, names: &[&str]) -> Self {
        self.into_iter().filter(|(name, _)| !names.contains(&name.as_str())).collect()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Json)> for Inputs {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl IntoIterator for Inputs {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Types that inputs can be read as: those declared by [`inputs!`](crate::inputs!), serde's, and [`Inputs`] as they are.
pub trait FromInputs: Sized {
    /// Schema of the inputs, where it is known.
    const SCHEMA: Option<&'static Schema> = None;

    /// Reads the inputs, looking into `config`, an object, for those that are not given.
    ///
    /// # Errors
    ///
    /// Everything that does not fit.
    fn from_inputs(inputs: Inputs, config: &Json) -> Result<Self, BadInputs>;
}

impl FromInputs for Inputs {
    fn from_inputs(inputs: Inputs, _: &Json) -> Result<Self, BadInputs> {
        Ok(inputs)
    }
}

/// Inputs that do not fit: code 3, kind `input`, not retryable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadInputs(Vec<String>);

impl BadInputs {
    /// One more problem; the text names the input, what was expected and what was given.
    pub fn push(&mut self, problem: impl Into<String>) {
        self.0.push(problem.into());
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for BadInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl From<BadInputs> for Outcome {
    fn from(problems: BadInputs) -> Self {
        Outcome::error(problems.to_string()).kind("input").retryable(false)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
