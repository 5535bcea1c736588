//! Walking a tree: typed access to values, and objects that know which of their fields were asked for.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    path::Path,
    plan::catalogue::{Entry, shape},
    problem::Problem,
    suggest::did_you_mean,
    tree::{Key, Node, Span, Tree},
};

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

/// An object being read; every field asked for counts as known.
pub(crate) struct Object<'t, 'r> {
    pub(crate) site: Site,
    members: &'t [(Key, Tree)],
    known: Vec<&'static str>,
    /// Fields that are known but may not stand here.
    refused: Vec<&'static str>,
    /// Problems that are none if this key is a slip of the pen, which is reported as such.
    unless_slip: Vec<(&'t str, Problem)>,
    pub(crate) report: &'r Report,
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
            Node::Null => problem.with_hint("remove the field, or give it a value"),
            Node::Number(_) | Node::Bool(_) if expected.contains("text") => {
                problem.with_hint("put it in quotes")
            }
            Node::Bool(_) | Node::Number(_) | Node::String(_) | Node::Array(_) | Node::Object(_) => problem,
        });
    }

    /// The object that stands here, or a problem.
    pub(crate) fn object<'r>(&self, report: &'r Report) -> Option<Object<'t, 'r>> {
        let Node::Object(members) = &self.tree.node else {
            self.wrong_type("an object", report);
            return None;
        };
        let site = self.site();
        let (known, refused, unless_slip) = (Vec::new(), Vec::new(), Vec::new());
        Some(Object { site, members, known, refused, unless_slip, report })
    }

    /// The elements of the list that stands here, or a problem.
    pub(crate) fn items(&self, report: &Report) -> Option<impl ExactSizeIterator<Item = Cursor<'t>>> {
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

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.tree.node, Node::Object(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.tree.node, Node::Null)
    }
}

impl<'t> Object<'t, '_> {
    /// The field's value; of duplicate keys the first, as they are a problem anyway.
    pub(crate) fn get(&mut self, field: &'static str) -> Option<Cursor<'t>> {
        self.know(field);
        let (_, tree) = self.members.iter().find(|(key, _)| &*key.name == field)?;
        Some(Cursor { tree, path: self.site.path.key(field) })
    }

    fn know(&mut self, field: &'static str) {
        if !self.known.contains(&field) {
            self.known.push(field);
        }
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.members.iter().any(|(key, _)| &*key.name == field)
    }

    /// Where the field is written: at its key.
    pub(crate) fn key_site(&self, field: &str) -> Option<Site> {
        let (key, _) = self.members.iter().find(|(key, _)| &*key.name == field)?;
        Some(Site { path: self.site.path.key(key.name.clone()), span: key.span })
    }

    /// The field read by `read`, if it is there.
    pub(crate) fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Cursor<'t>, &Report) -> Option<T>,
    ) -> Option<T> {
        let report = self.report;
        self.get(field).and_then(|cursor| read(&cursor, report))
    }

    /// The field read by `read`; that it is missing is a problem, which names what was `expected`.
    pub(crate) fn required<T>(
        &mut self,
        field: &'static str,
        expected: &str,
        read: impl FnOnce(&Cursor<'t>, &Report) -> Option<T>,
    ) -> Option<T> {
        if !self.has(field) {
            let message = format!("missing field `{field}`; expected {expected}");
            self.report.at(&shape::MISSING_FIELD, &self.site.missing(field), message);
        }
        self.optional(field, read)
    }

    /// Reports `fields` that are there though they may not be.
    pub(crate) fn refuse(&mut self, fields: &[&'static str], entry: &Entry, why: &str, hint: &str) {
        for field in fields {
            self.refused.push(field);
            if let Some(site) = self.key_site(field) {
                self.report.problem(site.problem(entry, format!("`{field}` {why}")).with_hint(hint));
            }
        }
    }

    /// Which of `fields` is there; none or several is a problem.
    pub(crate) fn exactly_one(&mut self, fields: &[&'static str]) -> Option<&'static str> {
        fields.iter().for_each(|field| self.know(field));
        let found: Vec<_> = fields.iter().copied().filter(|field| self.has(field)).collect();
        if let [field] = found.as_slice() {
            return Some(field);
        }
        let expected = listed(fields);
        let message = match found.as_slice() {
            [] => format!("none of {expected}; expected exactly one of them"),
            _ => format!("{} together; expected exactly one of {expected}", joined(&found, "and")),
        };
        let site = found.get(1).and_then(|field| self.key_site(field)).unwrap_or_else(|| self.site.clone());
        let problem = Site { path: self.site.path.clone(), ..site }.problem(&shape::NOT_EXACTLY_ONE, message);
        let is_near = |key: &&Key| did_you_mean(&key.name, fields.iter().copied()).is_some();
        let slip = self.unknown().find(is_near).filter(|_| found.is_empty());
        match slip.map(|key| &*key.name) {
            Some(key) => self.unless_slip.push((key, problem)),
            None => self.report.problem(problem),
        }
        None
    }

    /// The members, keys free to choose.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'t Key, Cursor<'t>)> + use<'t> {
        let path = self.site.path.clone();
        self.members.iter().map(move |(key, tree)| (key, Cursor { tree, path: path.key(key.name.clone()) }))
    }

    fn unknown(&self) -> impl Iterator<Item = &'t Key> {
        let expected = |name: &str| self.known.contains(&name) || self.refused.contains(&name);
        self.members.iter().map(|(key, _)| key).filter(move |key| !expected(&key.name))
    }

    /// Reports fields that nobody asked for.
    pub(crate) fn finish(mut self) {
        for (key, problem) in std::mem::take(&mut self.unless_slip) {
            if !self.unknown().any(|unknown| &*unknown.name == key) {
                self.report.problem(problem);
            }
        }
        for key in self.unknown() {
            let site = Site { path: self.site.path.key(key.name.clone()), span: key.span };
            let message = format!("unknown field `{}`; expected {}", key.name, listed(&self.known));
            let problem = site.problem(&shape::UNKNOWN_FIELD, message);
            self.report.problem(problem.with_hint_if(did_you_mean(&key.name, self.known.iter().copied())));
        }
    }
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

fn joined(words: &[&str], conjunction: &str) -> String {
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
