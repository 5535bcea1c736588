//! Walking a tree: typed access to values, and objects with the fields of their tables.

mod object;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    path::Path,
    plan::catalogue::{Entry, shape},
    problem::Problem,
    tree::{Key, Node, Span, Tree},
};

pub(super) use self::object::Object;
use super::Report;

/// A place in a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(crate) path: Path,
    pub(crate) span: Span,
}

/// Something read, and where.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) site: Site,
}

/// A name as written, and where.
pub(crate) type Name = Located<Arc<str>>;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) path: Path,
}

impl Site {
    pub(crate) fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        Problem::new(entry, &self.path, self.span, message)
    }

    /// The place of a field that is missing from the object that stands here.
    pub(crate) fn missing(&self, field: &str) -> Self {
        Self { path: self.path.key(field), span: self.span }
    }
}

impl<T> Located<T> {
    pub(crate) fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        self.site.problem(entry, message)
    }
}

impl<'t> Cursor<'t> {
    pub(crate) fn root(tree: &'t Tree) -> Self {
        Self { tree, path: Path::root() }
    }

    pub(crate) fn site(&self) -> Site {
        Site { path: self.path.clone(), span: self.tree.span }
    }

    pub(crate) fn located<T>(&self, value: T) -> Located<T> {
        Located { value, site: self.site() }
    }

    /// A problem about this value, which it repeats.
    pub(crate) fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        self.site().problem(entry, message).with_value(self.tree)
    }

    /// Reports that something of another type was `expected`.
    pub(crate) fn wrong_type(&self, expected: &str, report: &Report) {
        let found = self.tree.to_value().type_name();
        let problem = self.problem(&shape::WRONG_TYPE, format!("found {found}; expected {expected}"));
        report.problem(match &self.tree.node {
            Node::Null if expected.starts_with("an object") => {
                problem.with_hint("indent its members further than the field itself, or remove it")
            }
            Node::Null => problem.with_hint("remove the field, or give it a value"),
            Node::String(_) if expected == "a list" => {
                problem.with_hint("a list of one is written in brackets, such as `[a]`")
            }
            Node::Number(_) | Node::Bool(_) if expected.contains("text") => {
                problem.with_hint("put it in quotes")
            }
            Node::Bool(_) | Node::Number(_) | Node::String(_) | Node::Array(_) | Node::Object(_) => problem,
        });
    }

    /// The members of the object that stands here, keys free to choose, or a problem.
    fn members(&self, report: &Report) -> Option<&'t [(Key, Tree)]> {
        if let Node::Object(members) = &self.tree.node {
            return Some(members);
        }
        self.wrong_type("an object", report);
        None
    }

    /// The members of the object that stands here, keys free to choose, or a problem.
    pub(crate) fn each_member(
        &self,
        report: &Report,
    ) -> Option<impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t>> {
        Some(each_member(self.members(report)?, self.path.clone()))
    }

    /// The elements of the list that stands here, or a problem.
    pub(crate) fn items(
        &self,
        report: &Report,
    ) -> Option<impl ExactSizeIterator<Item = Cursor<'t>> + use<'t>> {
        let Node::Array(items) = &self.tree.node else {
            self.wrong_type("a list", report);
            return None;
        };
        let path = self.path.clone();
        Some(items.iter().enumerate().map(move |(index, tree)| Cursor { tree, path: path.index(index) }))
    }

    /// The text that stands here, or a problem.
    pub(crate) fn text(&self, report: &Report) -> Option<Arc<str>> {
        if let Node::String(text) = &self.tree.node {
            return Some(text.clone());
        }
        self.wrong_type("text", report);
        None
    }

    /// Whether an object with this member stands here.
    pub(crate) fn has(&self, field: &str) -> bool {
        matches!(&self.tree.node, Node::Object(members) if members.iter().any(|(key, _)| &*key.name == field))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.tree.node, Node::Object(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.tree.node, Node::Array(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.tree.node, Node::Null)
    }
}

fn each_member<'t>(
    members: &'t [(Key, Tree)],
    path: Path,
) -> impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t> {
    members.iter().map(move |(key, tree)| (key, Cursor { tree, path: path.key(key.name.clone()) }))
}

/// `a, b or c`, each in backquotes.
pub(crate) fn listed(words: &[&str]) -> String {
    joined(words, "or")
}

/// Names that a message lists rather than says where to look for them.
const FEW: usize = 8;

/// The names if there are few, else `otherwise`.
pub(crate) fn listed_if_few<'n>(names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    let names: Vec<&str> = names.take(FEW + 1).collect();
    if (1..=FEW).contains(&names.len()) { listed(&names) } else { otherwise.to_owned() }
}

/// Words that a message lists at most.
const MOST_WORDS: usize = 24;

pub(super) fn joined(words: &[&str], conjunction: &str) -> String {
    let mut quoted: Vec<_> = words.iter().take(MOST_WORDS).map(|word| format!("`{word}`")).collect();
    if words.len() > MOST_WORDS {
        quoted.push(format!("{} more", words.len() - MOST_WORDS));
    }
    match quoted.as_slice() {
        [] => "no field".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

/// Reports every key that occurs twice in an object, anywhere below `cursor`.
pub(crate) fn check_duplicates(cursor: &Cursor<'_>, report: &Report) {
    match &cursor.tree.node {
        Node::Array(items) => {
            for (index, tree) in items.iter().enumerate() {
                if is_collection(tree) {
                    check_duplicates(&Cursor { tree, path: cursor.path.index(index) }, report);
                }
            }
        }
        Node::Object(members) => check_members(members, &cursor.path, report),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::String(_) => {}
    }
}

fn check_members(members: &[(Key, Tree)], path: &Path, report: &Report) {
    let mut seen = BTreeMap::new();
    for (key, tree) in members {
        let at = || path.key(key.name.clone());
        if let Some(first) = seen.insert(&key.name, key.span) {
            let before =
                if first.line > 0 { format!(" (first in line {})", first.line) } else { String::new() };
            let message = format!("key `{}` occurs twice{before}; expected it once", key.name);
            report.problem(Problem::new(&shape::DUPLICATE_KEY, &at(), key.span, message).with_value(tree));
        }
        if is_collection(tree) {
            check_duplicates(&Cursor { tree, path: at() }, report);
        }
    }
}

fn is_collection(tree: &Tree) -> bool {
    matches!(tree.node, Node::Array(_) | Node::Object(_))
}
