//! Reading of fields, with a record of those that were used.

use std::{cell::RefCell, collections::BTreeSet, fmt, ptr};

use phasm_engine::tree::{Tree, TreeNode};

use crate::yaml::Output;

/// Notes that a conversion lists at most.
pub const MAX_NOTES: usize = 1_000;
/// Characters of a value or a key that a note shows.
const MAX_SHOWN: usize = 60;

/// Kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// A field without a counterpart.
    LeftOut,
    /// A field that is converted, but needs work or differs in a detail.
    Changed,
}

/// A field that is left out or needs work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Path of the field in the source.
    pub path: String,
    /// Line of the field, from 1.
    pub line: u32,
    /// Column of the field, from 1.
    pub column: u32,
    /// Beginning of its value.
    pub value: String,
    /// Kind of the note.
    pub kind: NoteKind,
    /// Reason, and the field to use instead.
    pub advice: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            NoteKind::LeftOut => "left out: ",
            NoteKind::Changed => "",
        };
        write!(f, "{} ({}): {kind}{}", self.path, self.value, self.advice)
    }
}

/// Fields that were used, and notes.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Addresses of the values: an alias in YAML has a value of its own at each place.
    used: RefCell<BTreeSet<usize>>,
    notes: RefCell<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    listed: Vec<Note>,
    more: usize,
}

impl Log {
    fn add(&self, tree: &Tree, path: &str, kind: NoteKind, advice: &str) {
        let mut notes = self.notes.borrow_mut();
        if notes.listed.len() >= MAX_NOTES {
            notes.more += 1;
            return;
        }
        notes.listed.push(Note {
            path: if path.is_empty() { "the file".to_owned() } else { path.to_owned() },
            line: tree.span.line,
            column: tree.span.column,
            value: shown(tree),
            kind,
            advice: short(advice, 300),
        });
    }

    fn is_used(&self, tree: &Tree) -> bool {
        self.used.borrow().contains(&ptr::from_ref(tree).addr())
    }

    /// Returns all notes: those that were made, and one for each field that was not used.
    pub(crate) fn notes(self, root: &Tree, hint: fn(&str) -> Option<&'static str>) -> (Vec<Note>, usize) {
        let unused = |tree: &Tree, path: &str, name: &str| {
            let advice = hint(name).or_else(|| hint(first_name(tree))).unwrap_or("it has no counterpart");
            self.add(tree, path, NoteKind::LeftOut, advice);
        };
        if !self.walk(root, "", &unused) {
            unused(root, "", "");
        }
        let Notes { mut listed, more } = self.notes.take();
        listed.sort_by_key(|note| (note.line, note.column));
        (listed, more)
    }

    /// Returns whether something in `tree` was used; then reports all else in it.
    fn walk(&self, tree: &Tree, path: &str, unused: &impl Fn(&Tree, &str, &str)) -> bool {
        if self.is_used(tree) {
            return true;
        }
        let mut left = Vec::new();
        let mut is_used = false;
        let mut visit = |path: String, name: &str, child| {
            if self.walk(child, &path, unused) {
                is_used = true;
            } else {
                left.push((path, short(name, MAX_SHOWN), child));
            }
        };
        match &tree.node {
            TreeNode::Object(members) => {
                members.iter().for_each(|(key, child)| visit(member_path(path, &key.name), &key.name, child));
            }
            TreeNode::Array(items) => {
                let last = path.rsplit('.').next().unwrap_or_default().split('[').next().unwrap_or_default();
                items.iter().enumerate().for_each(|(at, child)| visit(format!("{path}[{at}]"), last, child));
            }
            TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
        }
        if is_used {
            left.iter().for_each(|(path, name, child)| unused(child, path, name));
        }
        is_used
    }
}

/// Returns the name of the first member, which says more than that of an object such as `valueFrom`.
fn first_name(tree: &Tree) -> &str {
    let TreeNode::Object(members) = &tree.node else { return "" };
    members.first().map(|(key, _)| &*key.name).unwrap_or_default()
}

fn member_path(path: &str, name: &str) -> String {
    let name = short(name, MAX_SHOWN);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// Returns the beginning of a text in one line.
pub(crate) fn short(text: &str, limit: usize) -> String {
    let mut chars = text.chars();
    let mut short: String =
        chars.by_ref().take(limit).map(|c| if c.is_control() || is_invisible(c) { ' ' } else { c }).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns whether a character changes the order of others or breaks a line.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn shown(tree: &Tree) -> String {
    match &tree.node {
        TreeNode::Null => "null".to_owned(),
        TreeNode::Bool(value) => value.to_string(),
        TreeNode::Number(number) => number.to_string(),
        TreeNode::String(text) => short(text, MAX_SHOWN),
        TreeNode::Array(items) if items.is_empty() => "[]".to_owned(),
        TreeNode::Array(_) => "[…]".to_owned(),
        TreeNode::Object(members) => match members.as_slice() {
            [] => "{}".to_owned(),
            [(key, _)] => format!("{{{}: …}}", short(&key.name, MAX_SHOWN)),
            [(key, _), ..] => format!("{{{}: …, …}}", short(&key.name, MAX_SHOWN)),
        },
    }
}

/// A value of the source.
#[derive(Clone, Debug)]
pub(crate) struct Field<'t> {
    tree: &'t Tree,
    path: String,
    log: &'t Log,
}

impl<'t> Field<'t> {
    pub(crate) fn root(tree: &'t Tree, log: &'t Log) -> Self {
        Self { tree, path: String::new(), log }
    }

    /// Returns the value itself, which is not used by that.
    pub(crate) fn tree(&self) -> &'t Tree {
        self.tree
    }

    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        self.members().into_iter().find(|(key, _)| *key == name).map(|(_, field)| field)
    }

    pub(crate) fn members(&self) -> Vec<(&'t str, Self)> {
        let TreeNode::Object(members) = &self.tree.node else { return Vec::new() };
        let field = |(key, tree): &'t (_, Tree)| {
            let key: &'t phasm_engine::tree::Key = key;
            (&*key.name, Self { tree, path: member_path(&self.path, &key.name), log: self.log })
        };
        members.iter().map(field).collect()
    }

    pub(crate) fn items(&self) -> Vec<Self> {
        let TreeNode::Array(items) = &self.tree.node else { return Vec::new() };
        let field = |(at, tree)| Self { tree, path: format!("{}[{at}]", self.path), log: self.log };
        items.iter().enumerate().map(field).collect()
    }

    /// Returns the text of a text, number or truth value, without use of it.
    pub(crate) fn peek(&self) -> Option<String> {
        match &self.tree.node {
            TreeNode::String(text) => Some((**text).to_owned()),
            TreeNode::Number(number) => Some(number.to_string()),
            TreeNode::Bool(value) => Some(value.to_string()),
            TreeNode::Null | TreeNode::Array(_) | TreeNode::Object(_) => None,
        }
    }

    /// Uses a text, number or truth value as text.
    pub(crate) fn text(&self) -> Option<String> {
        self.peek().inspect(|_| self.used())
    }

    /// Uses a whole number, which may be written as text.
    pub(crate) fn int(&self) -> Option<i64> {
        let number = self.peek()?.trim().parse().ok()?;
        self.used();
        Some(number)
    }

    /// Uses a truth value, which may be written as text.
    pub(crate) fn bool(&self) -> Option<bool> {
        let value = self.peek()?.trim().parse().ok()?;
        self.used();
        Some(value)
    }

    /// Uses the value with all that is in it; `text` converts the texts.
    pub(crate) fn value(&self, text: &mut dyn FnMut(&Self, &str) -> Output) -> Output {
        match &self.tree.node {
            TreeNode::Null => {
                self.used();
                Output::Null
            }
            TreeNode::Bool(value) => {
                self.used();
                Output::Bool(*value)
            }
            TreeNode::Number(number) => {
                self.used();
                Output::Number(number.clone())
            }
            TreeNode::String(written) => {
                self.used();
                text(self, written)
            }
            TreeNode::Array(items) => {
                if items.is_empty() {
                    self.used();
                }
                Output::List(self.items().iter().map(|item| item.value(text)).collect())
            }
            TreeNode::Object(members) => {
                if members.is_empty() {
                    self.used();
                }
                let mut seen = BTreeSet::new();
                let members = self.members().into_iter().filter(|(name, _)| seen.insert(*name));
                Output::Map(members.map(|(name, value)| (name.to_owned(), value.value(text))).collect())
            }
        }
    }

    /// Marks the value as used, with all that is in it.
    pub(crate) fn used(&self) {
        self.log.used.borrow_mut().insert(ptr::from_ref(self.tree).addr());
    }

    /// Reports that the value is left out.
    pub(crate) fn leave(&self, advice: &str) {
        self.used();
        self.log.add(self.tree, &self.path, NoteKind::LeftOut, advice);
    }

    /// Reports work that is left, or a difference; the fields in the value are still to be used.
    pub(crate) fn note(&self, advice: &str) {
        self.log.add(self.tree, &self.path, NoteKind::Changed, advice);
    }
}
