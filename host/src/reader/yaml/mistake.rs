//! Mistakes in text that is not YAML: the mistake that stopped the parser, its place, and the fix.
//!
//! The parser notices many a mistake only lines later, and explains it in terms of its own rules.

mod brackets;
mod colons;
mod indentation;
mod line;
mod quotes;
mod signs;

use std::ops::Range;

/// A mistake that explains why the parser stopped.
#[derive(Debug, PartialEq)]
pub(super) struct Mistake {
    /// Bytes of the text.
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) hint: String,
}

/// Where and why the parser stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'a> {
    pub(super) text: &'a str,
    /// The byte it stopped at.
    pub(super) at: usize,
    /// Its own words.
    pub(super) info: &'a str,
    /// The innermost `[` or `{` that was open.
    pub(super) bracket: Option<usize>,
}

/// From the surest to the vaguest.
const KNOWN: [fn(&Stop<'_>) -> Option<Mistake>; 8] = [
    indentation::tab,
    quotes::escape,
    quotes::unclosed,
    quotes::trailing,
    signs::reserved,
    brackets::bracket,
    colons::colon,
    indentation::column,
];

impl Stop<'_> {
    /// The mistake, if it is one that people make.
    pub(super) fn explain(&self) -> Option<Mistake> {
        let Mistake { at, message, hint } = KNOWN.iter().find_map(|known| known(self))?;
        // A part that is missing at the end of the text is marked at its last byte.
        let end = self.text.len();
        Some(Mistake { at: at.start.min(end)..at.end.min(end), message, hint })
    }

    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.info.contains(word))
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// Characters of a line that a hint shows.
const LONGEST: usize = 120;

/// `text` in backquotes, or `otherwise` where it is too long to be repeated.
fn shown(text: &str, otherwise: &str) -> String {
    if text.is_empty() || text.chars().nth(LONGEST).is_some() {
        otherwise.to_owned()
    } else {
        format!("`{text}`")
    }
}
