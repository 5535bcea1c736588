//! Finding and compiling the placeholders of a value.

use std::{ops::Range, sync::Arc};

use super::{Piece, Placeholder, PlaceholderError, ValueTemplate};
use crate::{
    expr::{Expr, Functions, SyntaxError, marks},
    path::key_segment,
    tree::{Key, Span, Tree, TreeNode},
    value::{Map, Value},
};

/// Maximum number of errors kept for one value. Further ones are of no use to a reader, and each costs a pass over the whole
/// text.
const MAX_ERRORS: usize = 100;

pub(super) struct Compiler<'f> {
    functions: &'f Arc<Functions>,
    path: String,
    pub(super) errors: Vec<PlaceholderError>,
}

impl<'f> Compiler<'f> {
    pub(super) fn new(functions: &'f Arc<Functions>) -> Self {
        Self { functions, path: String::new(), errors: Vec::new() }
    }

    pub(super) fn tree(&mut self, tree: &Tree) -> ValueTemplate {
        match &tree.node {
            TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) => {
                ValueTemplate::Literal(tree.to_value())
            }
            TreeNode::String(text) => self.string(text, tree.span),
            TreeNode::Array(items) => {
                let item = |(index, item): (usize, &Tree)| self.member(&format!("[{index}]"), item);
                let items: Vec<ValueTemplate> = items.iter().enumerate().map(item).collect();
                let literals: Option<Vec<Value>> = items.iter().map(|i| i.as_literal().cloned()).collect();
                literals.map_or(ValueTemplate::Array(items), |values| ValueTemplate::Literal(values.into()))
            }
            TreeNode::Object(members) => {
                let member = |(key, member): &(Key, Tree)| {
                    (key.name.clone(), self.member(&key_segment(&key.name), member))
                };
                let members: Vec<_> = members.iter().map(member).collect();
                let literal = |(key, member): &(Arc<str>, ValueTemplate)| {
                    Some((key.clone(), member.as_literal()?.clone()))
                };
                let literals: Option<Map> = members.iter().map(literal).collect();
                literals.map_or(ValueTemplate::Object(members), |map| ValueTemplate::Literal(map.into()))
            }
        }
    }

    fn member(&mut self, segment: &str, tree: &Tree) -> ValueTemplate {
        let length = self.path.len();
        self.path.push_str(segment);
        let compiled = self.tree(tree);
        self.path.truncate(length);
        compiled
    }

    fn string(&mut self, text: &Arc<str>, span: Span) -> ValueTemplate {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(open) = find(text, "{{", at).filter(|_| self.errors.len() < MAX_ERRORS) {
            push_literal(&mut pieces, text.get(at..open));
            let offset = open + "{{".len();
            match marks::end_of_placeholder(text, offset) {
                Ok(end) => {
                    self.placeholder(text, offset..end, span, &mut pieces);
                    at = end + "}}".len();
                }
                Err(error) => {
                    // Without an end, the rest cannot be told apart from the placeholder's content.
                    self.errors.push(PlaceholderError { path: self.path.clone(), span, error });
                    return ValueTemplate::Text(pieces);
                }
            }
        }
        if pieces.is_empty() && at == 0 {
            return ValueTemplate::Literal(text.clone().into());
        }
        push_literal(&mut pieces, text.get(at..));
        match <[Piece; 1]>::try_from(pieces) {
            Ok([Piece::Placeholder(placeholder)]) => ValueTemplate::Placeholder(placeholder),
            Ok(piece) => ValueTemplate::Text(piece.into()),
            Err(pieces) => ValueTemplate::Text(pieces),
        }
    }

    fn placeholder(&mut self, text: &str, inside: Range<usize>, span: Span, pieces: &mut Vec<Piece>) {
        let offset = inside.start;
        let inside = text.get(inside).unwrap_or_default();
        match marks::check(inside).and_then(|()| Expr::compile_with(inside, self.functions)) {
            Ok(expr) => pieces.push(Piece::Placeholder(Placeholder { expr, offset, span })),
            Err(error) => {
                let error = SyntaxError { offset: error.offset + offset, ..error };
                self.errors.push(PlaceholderError { path: self.path.clone(), span, error });
            }
        }
    }
}

fn push_literal(pieces: &mut Vec<Piece>, text: Option<&str>) {
    let text = text.filter(|t| !t.is_empty());
    pieces.extend(text.map(|t| Piece::Literal(t.into())));
}

fn find(text: &str, what: &str, from: usize) -> Option<usize> {
    Some(text.get(from..)?.find(what)? + from)
}
