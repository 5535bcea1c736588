//! Walking a tree: typed access to values, and objects with the fields of their tables.

use std::sync::Arc;

use crate::{
    path::Path,
    problem::{
        Problem,
        codes::{Entry, shape},
    },
    tree::{Key, Span, Tree, TreeNode},
};

use super::Report;

/// A place in a document.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The way to it from the root.
    pub path: Path,
    /// Where it is written.
    pub span: Span,
}

/// Something read, and where.
#[derive(Clone, Debug)]
pub struct WithSite<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub site: Site,
}

/// A name as written, and where.
pub type Name = WithSite<Arc<str>>;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    /// The node.
    pub tree: &'t Tree,
    /// The way to it from the root.
    pub path: Path,
}

impl Site {
    /// A problem of the kind `entry` about this place.
    pub fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        Problem::new(entry, &self.path, self.span, message)
    }

    /// The place of a field that is missing from the object that stands here.
    pub fn missing(&self, field: &str) -> Self {
        Self { path: self.path.key(field), span: self.span }
    }
}

impl<T> WithSite<T> {
    /// A problem of the kind `entry` about the place where this was read.
    pub fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        self.site.problem(entry, message)
    }
}

impl<'t> Cursor<'t> {
    /// The whole document.
    pub fn root(tree: &'t Tree) -> Self {
        Self { tree, path: Path::root() }
    }

    /// Where this value stands.
    pub fn site(&self) -> Site {
        Site { path: self.path.clone(), span: self.tree.span }
    }

    /// `value`, read from here.
    pub fn located<T>(&self, value: T) -> WithSite<T> {
        WithSite { value, site: self.site() }
    }

    /// A problem about this value, which it repeats.
    pub fn problem(&self, entry: &Entry, message: impl Into<String>) -> Problem {
        self.site().problem(entry, message).with_value(self.tree)
    }

    /// The problem that something of another type was `expected`, for a hint of its own.
    pub fn mismatch(&self, expected: &str) -> Problem {
        let found = self.tree.to_value().type_name();
        self.problem(&shape::WRONG_TYPE, format!("found {found}; expected {expected}"))
    }

    /// Reports that something of another type was `expected`.
    pub fn wrong_type(&self, expected: &str, report: &Report) {
        let problem = self.mismatch(expected);
        report.problem(match &self.tree.node {
            TreeNode::Null if expected.starts_with("an object") => {
                problem.with_hint("indent its members further than the field itself, or remove it")
            }
            TreeNode::Null => problem.with_hint("remove the field, or give it a value"),
            TreeNode::String(_) if expected == "a list" => {
                problem.with_hint("a list of one is written in brackets, such as `[a]`")
            }
            TreeNode::Number(_) | TreeNode::Bool(_) if expected.contains("text") => {
                problem.with_hint("put it in quotes")
            }
            TreeNode::Bool(_)
            | TreeNode::Number(_)
            | TreeNode::String(_)
            | TreeNode::Array(_)
            | TreeNode::Object(_) => problem,
        });
    }

    /// The members of the object that stands here, keys free to choose, or a problem.
    fn members(&self, report: &Report) -> Option<&'t [(Key, Tree)]> {
        if let TreeNode::Object(members) = &self.tree.node {
            return Some(members);
        }
        self.wrong_type("an object", report);
        None
    }

    /// The members of the object that stands here, keys free to choose, or a problem.
    pub fn each_member(
        &self,
        report: &Report,
    ) -> Option<impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t>> {
        Some(each_member(self.members(report)?, self.path.clone()))
    }

    /// The elements of the list that stands here, or a problem.
    pub fn items(&self, report: &Report) -> Option<impl ExactSizeIterator<Item = Cursor<'t>> + use<'t>> {
        let TreeNode::Array(items) = &self.tree.node else {
            self.wrong_type("a list", report);
            return None;
        };
        let path = self.path.clone();
        Some(items.iter().enumerate().map(move |(index, tree)| Cursor { tree, path: path.index(index) }))
    }

    /// The text that stands here, or a problem.
    pub fn text(&self, report: &Report) -> Option<Arc<str>> {
        if let TreeNode::String(text) = &self.tree.node {
            return Some(text.clone());
        }
        self.wrong_type("text", report);
        None
    }

    /// Whether an object with this member stands here.
    pub fn has(&self, field: &str) -> bool {
        matches!(&self.tree.node, TreeNode::Object(members) if members.iter().any(|(key, _)| &*key.name == field))
    }

    /// Whether an object stands here.
    pub fn is_object(&self) -> bool {
        matches!(self.tree.node, TreeNode::Object(_))
    }

    /// Whether a list stands here.
    pub fn is_list(&self) -> bool {
        matches!(self.tree.node, TreeNode::Array(_))
    }

    /// Whether null stands here.
    pub fn is_null(&self) -> bool {
        matches!(self.tree.node, TreeNode::Null)
    }
}

pub(super) fn each_member<'t>(
    members: &'t [(Key, Tree)],
    path: Path,
) -> impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t> {
    members.iter().map(move |(key, tree)| (key, Cursor { tree, path: path.key(key.name.clone()) }))
}
