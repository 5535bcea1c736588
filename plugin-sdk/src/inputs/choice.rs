//! One of a few words.

use serde::de::{Deserializer, Error, Visitor};
use std::fmt;

/// Reads one of `choices`, each a word and what it stands for; the reader behind the enums of
/// [`inputs!`](crate::inputs!).
///
/// # Errors
///
/// Anything but one of the words.
pub fn choice<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    words: &'static [&'static str],
    choices: impl IntoIterator<Item = T>,
) -> Result<T, D::Error> {
    let at = deserializer.deserialize_str(Words(words))?;
    choices.into_iter().nth(at).ok_or_else(|| D::Error::custom("no such choice"))
}

struct Words(&'static [&'static str]);

impl Visitor<'_> for Words {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|word| format!("`{word}`")).collect();
        match words.as_slice() {
            [one] => f.write_str(one),
            [most @ .., last] => write!(f, "{} or {last}", most.join(", ")),
            [] => f.write_str("nothing"),
        }
    }

    fn visit_str<E: Error>(self, given: &str) -> Result<usize, E> {
        let at = self.0.iter().position(|word| *word == given);
        at.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(given), &self))
    }
}
