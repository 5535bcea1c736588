//! Values that fields have in common: text, words, truth values, lists of names.

use serde_json::{Value as Json, json};

use crate::{problem::codes::shape, tree::TreeNode};

use super::{Cursor, Form, Name, Report, listed};

/// Any text.
pub const TEXT: Form<Name> = Form::new(
    |cursor, report| cursor.text(report).map(|text| cursor.located(text)),
    |_| json!({ "type": "string" }),
);

/// Text that is more than white space.
pub const SOME_TEXT: Form<Name> = Form::new(
    |cursor, report| {
        let found = TEXT.read(cursor, report)?;
        if found.value.trim_ascii().is_empty() {
            report.problem(cursor.problem(&shape::EMPTY, "empty text; expected a name"));
            return None;
        }
        Some(found)
    },
    |_| json!({ "type": "string", "pattern": r"[^ \t\n\f\r]" }),
);

/// A list of texts.
pub const TEXTS: Form<Vec<Name>> = Form::new(
    |cursor, report| {
        let items = cursor.items(report)?;
        Some(items.filter_map(|item| TEXT.read(&item, report)).collect())
    },
    |_| json!({ "type": "array", "items": { "type": "string" } }),
);

/// Anything at all, not looked at.
pub const IGNORED: Form<()> = Form::new(|_, _| Some(()), |_| json!({}));

/// A truth value.
pub const BOOLEAN: Form<bool> = Form::new(boolean, |_| json!({ "type": "boolean" }));

/// Texts that are meant as a truth value; YAML 1.2 reads them as text.
const BOOLEAN_WORDS: [(&str, bool); 6] =
    [("yes", true), ("no", false), ("on", true), ("off", false), ("true", true), ("false", false)];

fn boolean(cursor: &Cursor<'_>, report: &Report) -> Option<bool> {
    if let TreeNode::Bool(value) = cursor.tree.node {
        return Some(value);
    }
    let hint = match &cursor.tree.node {
        TreeNode::String(text) => BOOLEAN_WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)),
        TreeNode::Null
        | TreeNode::Bool(_)
        | TreeNode::Number(_)
        | TreeNode::Array(_)
        | TreeNode::Object(_) => None,
    };
    let Some((_, meant)) = hint else {
        cursor.wrong_type("true or false", report);
        return None;
    };
    let problem = cursor.mismatch("true or false");
    report.problem(problem.with_hint(format!("write `{meant}`, without quotes")));
    None
}

/// An enum whose values are written as one of a few words.
pub trait Words: Copy + 'static {
    /// The words and their meanings.
    const WORDS: &'static [(&'static str, Self)];
}

/// One of a few words.
pub const fn word<T: Words>() -> Form<T> {
    Form::new(read_word, |_| {
        let words: Vec<_> = T::WORDS.iter().map(|(word, _)| Json::from(*word)).collect();
        match words.as_slice() {
            [only] => json!({ "const": only }),
            words => json!({ "enum": words }),
        }
    })
}

fn read_word<T: Words>(cursor: &Cursor<'_>, report: &Report) -> Option<T> {
    let found = cursor.text(report)?;
    if let Some((_, meaning)) = T::WORDS.iter().find(|(word, _)| *word == &*found) {
        return Some(*meaning);
    }
    let known: Vec<_> = T::WORDS.iter().map(|(word, _)| *word).collect();
    let problem =
        cursor.problem(&shape::UNKNOWN_WORD, format!("found `{found}`; expected {}", listed(&known)));
    let hint = if known.len() > 1 { report.did_you_mean(&found, known.iter().copied()) } else { None };
    report.problem(problem.with_hint_if(hint));
    None
}
