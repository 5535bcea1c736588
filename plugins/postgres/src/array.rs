//! Arrays as PostgreSQL writes them: `{1,2,NULL}`, `{{"a b"},{"c"}}`, `[0:1]={1,2}`.

use std::{iter::Peekable, str::Chars};

use crate::form::Form;

/// Dimensions of an array: the server has no more.
const MAX_DIMENSIONS: usize = 6;

/// Adds an array to JSON text as lists in lists.
///
/// # Errors
/// The reason why the text is no array, or why a member cannot be written.
pub(crate) fn write(text: &str, delimiter: char, member: &Form, json: &mut String) -> Result<(), String> {
    // Bounds, where they do not begin with 1.
    let text = if text.starts_with('[') { text.split_once('=').map_or(text, |(_, text)| text) } else { text };
    let mut reader = Reader { chars: text.chars().peekable(), delimiter, member };
    reader.list(json, MAX_DIMENSIONS)?;
    if reader.chars.next().is_some() { Err(broken()) } else { Ok(()) }
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    delimiter: char,
    member: &'a Form,
}

impl Reader<'_> {
    fn list(&mut self, json: &mut String, depth: usize) -> Result<(), String> {
        if self.chars.next() != Some('{') || depth == 0 {
            return Err(broken());
        }
        json.push('[');
        if self.chars.next_if_eq(&'}').is_none() {
            loop {
                match self.chars.peek() {
                    Some('{') => self.list(json, depth - 1)?,
                    Some('"') => {
                        let text = self.quoted()?;
                        self.member.write(&text, json)?;
                    }
                    _ => {
                        let text = self.bare();
                        // A text that reads so is in quotation marks.
                        if text.eq_ignore_ascii_case("null") {
                            json.push_str("null");
                        } else {
                            self.member.write(&text, json)?;
                        }
                    }
                }
                match self.chars.next() {
                    Some('}') => break,
                    Some(next) if next == self.delimiter => json.push(','),
                    _ => return Err(broken()),
                }
            }
        }
        json.push(']');
        Ok(())
    }

    fn quoted(&mut self) -> Result<String, String> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next().ok_or_else(broken)? {
                '"' => return Ok(text),
                '\\' => text.push(self.chars.next().ok_or_else(broken)?),
                other => text.push(other),
            }
        }
    }

    fn bare(&mut self) -> String {
        let delimiter = self.delimiter;
        let mut text = String::new();
        while let Some(c) = self.chars.next_if(|c| *c != delimiter && *c != '}') {
            text.push(c);
        }
        text
    }
}

fn broken() -> String {
    "an array that cannot be read".to_owned()
}

/// Adds a member of an array, in quotation marks, so that no character has a meaning.
pub(crate) fn push_quoted(text: &str, array: &mut String) {
    array.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            array.push('\\');
        }
        array.push(c);
    }
    array.push('"');
}
