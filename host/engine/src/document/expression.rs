//! Expressions and values with placeholders.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    expr::{Comparison, Expr, Interpolated, PlaceholderError, Read, SyntaxError},
    plan::catalogue::expressions,
    tree::{Node, Span, Tree},
};

use super::{
    Report,
    walk::{Cursor, Site},
};

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct ExprDoc {
    pub(crate) expr: Expr,
    pub(crate) site: Site,
}

/// A value whose strings may hold placeholders.
#[derive(Clone, Debug)]
pub(crate) struct ValueDoc {
    pub(crate) value: Interpolated,
    pub(crate) site: Site,
    texts: Texts,
}

/// The strings with placeholders by where they are written.
type Texts = BTreeMap<usize, Arc<str>>;

/// One path that is read, and where.
pub(crate) struct ReadAt<'a> {
    pub(crate) read: &'a Read,
    pub(crate) site: Site,
}

impl ExprDoc {
    /// Reads an expression; `true` and `false` need no quotes.
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let text: Arc<str> = match &cursor.tree.node {
            Node::Bool(value) => value.to_string().into(),
            Node::String(text) => text.clone(),
            Node::Null | Node::Number(_) | Node::Array(_) | Node::Object(_) => {
                cursor.wrong_type("an expression, as text", report);
                return None;
            }
        };
        match Expr::compile(&text) {
            Ok(expr) => Some(Self { expr, site: cursor.site() }),
            Err(error) => {
                report_syntax(&cursor.site(), &text, &error, cursor.tree, report);
                None
            }
        }
    }

    /// Every path read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = ReadAt<'_>> {
        let site = |offset| inside(&self.site, self.expr.source(), offset);
        self.expr.reads().iter().map(move |read| ReadAt { read, site: site(read.offset) })
    }

    /// Every comparison of a path with a literal.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = (&Read, &Comparison, Site)> {
        self.expr.comparisons().iter().filter_map(|comparison| {
            let read = self.expr.reads().get(comparison.read)?;
            Some((read, comparison, inside(&self.site, self.expr.source(), comparison.offset)))
        })
    }
}

impl ValueDoc {
    /// Reads a value; with `raw` its strings have no placeholders.
    pub(super) fn read(raw: bool) -> impl Fn(&Cursor<'_>, &Report) -> Option<Self> {
        move |cursor, report| {
            let mut texts = Texts::new();
            collect_texts(cursor.tree, &mut texts);
            match Interpolated::compile(cursor.tree, raw) {
                Ok(value) => Some(Self { value, site: cursor.site(), texts }),
                Err(errors) => {
                    for error in &errors {
                        report_placeholder(cursor, error, &texts, report);
                    }
                    None
                }
            }
        }
    }

    /// Every path read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = ReadAt<'_>> {
        self.value.reads().into_iter().map(|found| {
            let site = Site { path: self.site.path.suffixed(&found.path), span: found.span };
            ReadAt { read: found.read, site: inside(&site, text_at(&self.texts, found.span), found.offset) }
        })
    }
}

fn collect_texts(tree: &Tree, texts: &mut Texts) {
    match &tree.node {
        Node::String(text) if text.contains("{{") => {
            texts.insert(tree.span.start, text.clone());
        }
        Node::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Node::Object(members) => members.iter().for_each(|(_, member)| collect_texts(member, texts)),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::String(_) => {}
    }
}

fn text_at(texts: &Texts, span: Span) -> &str {
    texts.get(&span.start).map_or("", |text| text)
}

fn report_placeholder(cursor: &Cursor<'_>, error: &PlaceholderError, texts: &Texts, report: &Report) {
    let text = text_at(texts, error.span);
    let site = Site { path: cursor.path.suffixed(&error.path), span: error.span };
    let tree = Tree { node: Node::String(text.into()), span: error.span };
    report_syntax(&site, text, &error.error, &tree, report);
}

fn report_syntax(site: &Site, text: &str, error: &SyntaxError, tree: &Tree, report: &Report) {
    let at = inside(site, text, error.offset);
    let problem = at.problem(&expressions::EXPRESSION, error.message.clone()).with_value(tree);
    report.problem(problem.with_hint_if(&error.hint));
}

/// The place of byte `offset` of `text`, which is written at `site`: exact where the source holds the text as it is, plain
/// or in quotes, and the text's beginning where folding or escapes stand between.
fn inside(site: &Site, text: &str, offset: usize) -> Site {
    let span = site.span;
    let before = text.get(..offset).filter(|before| span.line > 0 && !before.contains(['\n', '\r']));
    let (Some(before), Some(quotes)) = (before, (span.end - span.start).checked_sub(text.len())) else {
        return site.clone();
    };
    if !matches!(quotes, 0 | 2) {
        return site.clone();
    }
    let characters = u32::try_from(before.chars().count() + quotes / 2).unwrap_or(0);
    let span = Span {
        column: span.column.saturating_add(characters),
        start: span.start + quotes / 2 + offset,
        ..span
    };
    Site { path: site.path.clone(), span }
}
