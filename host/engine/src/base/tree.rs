//! A document as written: values with their positions.
//!
//! The host's readers (YAML, JSON) build a [`Tree`]; [`Draft::plan`](crate::plan::Draft::plan) walks it. Duplicate keys
//! are kept, so that they can be reported.

use std::sync::Arc;

use crate::value::{Map, Number, Value};

/// Where a value stands in the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First line, from 1; 0 when the tree was not read from text.
    pub line: u32,
    /// First column in characters, from 1.
    pub column: u32,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The content.
    pub node: TreeNode,
    /// Where it is written.
    pub span: Span,
    /// How a text is written that stands in the source in other letters or on several lines; shared by clones.
    pub written: Option<Arc<Spelling>>,
}

/// A text as it stands in the source, where that is not letter by letter what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The rules it is written by.
    pub style: Style,
    /// The source from the beginning to the end of the text, quotes included.
    pub source: Arc<str>,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes, or as a block behind `|` or `>`.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes, with escapes.
    Double,
}

/// Content of a node of the document.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeNode {
    /// Nothing, or `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text.
    String(Arc<str>),
    /// A list.
    Array(Vec<Tree>),
    /// Members in written order, duplicates included.
    Object(Vec<(Key, Tree)>),
}

/// A key and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key's text.
    pub name: Arc<str>,
    /// Where it is written.
    pub span: Span,
}

impl Tree {
    /// Creates a node with the content `node`, written at `span`.
    #[must_use]
    pub fn new(node: TreeNode, span: Span) -> Self {
        Self { node, span, written: None }
    }

    /// The value without positions; of duplicate keys the last wins.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.node {
            TreeNode::Null => Value::Null,
            TreeNode::Bool(b) => Value::Bool(*b),
            TreeNode::Number(n) => Value::Number(n.clone()),
            TreeNode::String(s) => Value::String(s.clone()),
            TreeNode::Array(items) => items.iter().map(Self::to_value).collect::<Vec<_>>().into(),
            TreeNode::Object(members) => {
                members.iter().map(|(k, v)| (k.name.clone(), v.to_value())).collect::<Map>().into()
            }
        }
    }
}

impl From<&Value> for Tree {
    /// A tree without positions, for documents built by a program or kept in a journal.
    fn from(value: &Value) -> Self {
        let span = Span::default();
        let node = match value {
            Value::Null => TreeNode::Null,
            Value::Bool(b) => TreeNode::Bool(*b),
            Value::Number(n) => TreeNode::Number(n.clone()),
            Value::String(s) => TreeNode::String(s.clone()),
            Value::Array(items) => TreeNode::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let member = |(name, value): (&Arc<str>, &Value)| {
                    (Key { name: name.clone(), span }, Self::from(value))
                };
                TreeNode::Object(map.iter().map(member).collect())
            }
        };
        Self::new(node, span)
    }
}
