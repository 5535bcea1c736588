//! Texts with U+0000, which no store of a database keeps and many programs take for an end.

use std::sync::Arc;

use phasm_engine::{
    form::MAX_PROBLEMS,
    path::Path,
    problem::{Problem, codes::source},
    tree::{Span, Tree, TreeNode},
    value::{Map, Value},
};

use super::source::SourceText;

const HINT: &str = "leave it out, or write the bytes in Base64";

/// Returns the problem of a text that has the character itself, at its first place.
pub(super) fn in_text(text: &str) -> Vec<Problem> {
    let source = SourceText::new(text);
    let Some(start) = source.text().find('\0') else { return Vec::new() };
    let message = "U+0000 in the text; expected a text without it";
    vec![Problem::new(&source::NUL, &Path::root(), source.span(start, start + 1), message).with_hint(HINT)]
}

/// Returns a problem for each text and key of a document that has the character.
pub(super) fn in_document(text: &str, tree: &Tree) -> Vec<Problem> {
    let mut found = Vec::new();
    // Only these can write it.
    if [r"\0", r"\x00", r"\u0000", r"\U00000000"].iter().any(|written| text.contains(written)) {
        in_tree(tree, &Path::root(), &mut found);
    }
    found
}

fn in_tree(tree: &Tree, path: &Path, found: &mut Vec<Problem>) {
    match &tree.node {
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) => {}
        TreeNode::String(text) => report(text, path, tree.span, found),
        TreeNode::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| in_tree(item, &path.index(index), found));
        }
        TreeNode::Object(members) => {
            for (key, value) in members {
                let path = path.key(key.name.clone());
                report(&key.name, &path, key.span, found);
                in_tree(value, &path, found);
            }
        }
    }
}

/// Returns a problem for each parameter or answer that has the character, in its name or anywhere in its value.
#[must_use]
pub fn in_values(values: &Map) -> Vec<Problem> {
    let mut found = Vec::new();
    values.iter().for_each(|(name, value)| in_member(name, value, &Path::root(), &mut found));
    found
}

fn in_member(name: &Arc<str>, value: &Value, above: &Path, found: &mut Vec<Problem>) {
    let path = above.key(name.clone());
    report(name, &path, Span::default(), found);
    in_value(value, &path, found);
}

fn in_value(value: &Value, path: &Path, found: &mut Vec<Problem>) {
    if let Some(text) = value.as_str() {
        report(text, path, Span::default(), found);
    } else if let Some(items) = value.as_array() {
        items.iter().enumerate().for_each(|(index, item)| in_value(item, &path.index(index), found));
    } else if let Some(members) = value.as_object() {
        members.iter().for_each(|(name, value)| in_member(name, value, path, found));
    }
}

fn report(text: &str, path: &Path, span: Span, found: &mut Vec<Problem>) {
    if found.len() < MAX_PROBLEMS
        && let Some(at) = text.chars().position(|c| c == '\0')
    {
        let message = format!("U+0000 as character {} of the text; expected a text without it", at + 1);
        found.push(Problem::new(&source::NUL, path, span, message).with_hint(HINT));
    }
}
