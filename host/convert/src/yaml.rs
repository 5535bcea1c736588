//! Values of a workflow file, and their text as YAML.

use serde_json::{Number, Value};

/// Characters of a list or object that stands in one line.
const MAX_FLOW: usize = 90;

/// A value of the workflow file that is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Output>),
    /// Members in their order.
    Map(Vec<(String, Output)>),
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Output {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Output {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Map(members.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

impl<const N: usize> From<[(&str, Output); N]> for Output {
    fn from(members: [(&str, Output); N]) -> Self {
        Self::Map(members.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Output {
    /// Returns a list of names.
    pub(crate) fn names(names: impl IntoIterator<Item = String>) -> Self {
        Self::List(names.into_iter().map(Self::Text).collect())
    }

    /// Returns whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::List(items) => items.is_empty(),
            Self::Map(members) => members.is_empty(),
            Self::Bool(_) | Self::Number(_) | Self::Text(_) => false,
        }
    }

    /// Adds a member, unless the value is empty.
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Self>) {
        let value = value.into();
        if let Self::Map(members) = self
            && !value.is_empty()
        {
            members.push((name.to_owned(), value));
        }
    }

    /// Writes the members of an object as YAML.
    pub(crate) fn write(&self, text: &mut String) {
        self.block(text, 0);
    }

    fn block(&self, text: &mut String, indent: usize) {
        match self {
            Self::Map(members) if !members.is_empty() => {
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        pad(text, indent);
                    }
                    text.push_str(&scalar(name));
                    text.push(':');
                    value.behind_key(text, indent);
                }
            }
            Self::List(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        pad(text, indent);
                    }
                    text.push_str("- ");
                    match item.flow() {
                        Some(flow) if fits(&flow, indent) || !item.is_container() => {
                            text.push_str(&flow);
                            text.push('\n');
                        }
                        _ => item.block(text, indent + 2),
                    }
                }
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => {
                text.push_str(&self.flow().unwrap_or_default());
                text.push('\n');
            }
        }
    }

    fn behind_key(&self, text: &mut String, indent: usize) {
        if let Self::Text(written) = self
            && let Some(lines) = literal(written)
        {
            text.push_str(if written.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in lines {
                if !line.is_empty() {
                    pad(text, indent + 2);
                    text.push_str(line);
                }
                text.push('\n');
            }
            return;
        }
        match self.flow() {
            Some(flow) if fits(&flow, indent) || !self.is_container() => {
                text.push(' ');
                text.push_str(&flow);
                text.push('\n');
            }
            _ => {
                text.push('\n');
                pad(text, indent + 2);
                self.block(text, indent + 2);
            }
        }
    }

    fn is_container(&self) -> bool {
        !self.is_empty() && matches!(self, Self::List(_) | Self::Map(_))
    }

    /// Returns the text in one line; none where that is too long.
    fn flow(&self) -> Option<String> {
        let mut text = String::new();
        self.add_flow(&mut text).then_some(text)
    }

    fn add_flow(&self, text: &mut String) -> bool {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => text.push_str(&number.to_string()),
            Self::Text(written) => text.push_str(&scalar(written)),
            Self::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    if text.len() > MAX_FLOW || !item.add_flow(text) {
                        return false;
                    }
                }
                text.push(']');
            }
            Self::Map(members) if members.is_empty() => text.push_str("{}"),
            Self::Map(members) => {
                text.push_str("{ ");
                for (at, (name, value)) in members.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    text.push_str(&scalar(name));
                    text.push_str(": ");
                    if text.len() > MAX_FLOW || !value.add_flow(text) {
                        return false;
                    }
                }
                text.push_str(" }");
            }
        }
        true
    }
}

fn fits(flow: &str, indent: usize) -> bool {
    flow.len() + indent <= MAX_FLOW && !flow.contains("\\n")
}

fn pad(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

/// Returns the lines of a text that may stand as a block.
fn literal(text: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c == '\n' || c == '\t' || (!c.is_control() && c != '\u{feff}');
    let body = text.strip_suffix('\n').unwrap_or(text);
    let first = body.chars().next()?;
    let may = body.contains('\n')
        && !first.is_whitespace()
        && !body.ends_with('\n')
        && text.chars().all(|c| is_plain(c) && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'));
    may.then(|| body.split('\n').collect())
}

/// Returns a text without quotes where it can mean nothing else.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 12] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "undefined"];
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.split(' ').all(|word| !word.is_empty() && word.chars().all(is_inner))
        && !WORDS.contains(&&*text.to_ascii_lowercase());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Returns a text in double quotes, with the escapes that JSON and YAML share.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
