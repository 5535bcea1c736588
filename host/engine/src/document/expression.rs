//! Expressions and values with placeholders.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use serde_json::{Value as Json, json};

use crate::{
    expr::{
        Comparison, Expr, Functions, Operation, Placeholder, PlaceholderError, Read, SyntaxError,
        ValueTemplate,
    },
    form::{Cursor, Defs, Form, Report, Site},
    problem::{
        Problem,
        codes::{Entry, expressions},
    },
    tree::{Tree, TreeNode},
};

use super::{
    notation,
    passage::{Passage, word_at},
};

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct ExprDoc {
    pub(crate) expr: Expr,
    pub(crate) site: Site,
    passage: Passage,
    /// The whole as a condition, where one is expected.
    condition: Option<Box<Operation>>,
}

/// A value whose strings may hold placeholders.
#[derive(Clone, Debug)]
pub(crate) struct ValueDoc {
    pub(crate) value: ValueTemplate,
    pub(crate) site: Site,
    texts: Texts,
}

/// The strings with placeholders by where they are written.
type Texts = BTreeMap<usize, Passage>;

/// One path that is read, and where.
pub(crate) struct ReadAt<'a> {
    pub(crate) read: &'a Read,
    /// Where the text stands that it is read in.
    whole: Site,
    passage: Option<&'a Passage>,
    /// Where in the text the expression begins.
    offset: usize,
}

/// One comparison of a path with a literal.
pub(crate) struct ComparisonAt<'a> {
    pub(crate) comparison: &'a Comparison,
    /// The path.
    pub(crate) subject: ReadAt<'a>,
}

/// One operation, and where.
pub(crate) struct OperationAt<'a> {
    pub(crate) operation: &'a Operation,
    expr: &'a Expr,
    /// Where the text stands that it is in.
    whole: Site,
    passage: Option<&'a Passage>,
    /// Where in the text the expression begins.
    offset: usize,
}

/// An expression; `true` and `false` need no quotes.
pub(super) const EXPRESSION: Form<ExprDoc> = Form::new(ExprDoc::read, expression_schema);

/// An expression that is true or false.
pub(super) const CONDITION: Form<ExprDoc> = Form::new(
    |cursor, report| {
        let read = ExprDoc::read(cursor, report)?;
        Some(ExprDoc { condition: Some(Box::new(read.expr.as_condition())), ..read })
    },
    expression_schema,
);

fn expression_schema(defs: &mut Defs) -> Json {
    defs.named("expression", |_| {
        json!({
            "description": "An expression, such as `tasks.fetch.code == 0`; true and false need no quotes.",
            "type": ["string", "boolean"],
        })
    })
}

/// A value whose strings may hold placeholders.
pub(super) const VALUE: Form<ValueDoc> =
    Form::new(|cursor, report| ValueDoc::read(false, cursor, report), |_| json!({}));

impl ExprDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let text: Arc<str> = match &cursor.tree.node {
            TreeNode::Bool(value) => value.to_string().into(),
            TreeNode::String(text) => text.clone(),
            TreeNode::Null | TreeNode::Number(_) | TreeNode::Array(_) | TreeNode::Object(_) => {
                cursor.wrong_type("an expression, as text", report);
                return None;
            }
        };
        match Expr::compile_with(&text, &functions_of(report)) {
            Ok(expr) => {
                let passage = Passage::new(text, cursor.tree);
                Some(Self { expr, site: cursor.site(), passage, condition: None })
            }
            Err(error) => {
                report_syntax(&cursor.site(), &Passage::new(text, cursor.tree), &error, cursor.tree, report);
                None
            }
        }
    }

    /// Every operation that not all types fit.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OperationAt<'_>> {
        let whole = self.condition.as_deref().map(|condition| self.written().at(condition));
        self.written().operations().chain(whole)
    }

    fn written(&self) -> InText<'_> {
        InText { expr: &self.expr, site: self.site.clone(), passage: Some(&self.passage), offset: 0 }
    }

    /// Every path read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = ReadAt<'_>> {
        self.written().reads()
    }

    /// Every comparison of a path with a literal.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = ComparisonAt<'_>> {
        self.written().comparisons()
    }
}

/// An expression within the text that it stands in.
struct InText<'a> {
    expr: &'a Expr,
    site: Site,
    passage: Option<&'a Passage>,
    /// Where in the text the expression begins.
    offset: usize,
}

impl ReadAt<'_> {
    /// Where the path stands.
    pub(crate) fn site(&self) -> Site {
        let part = self.offset + self.read.offset..self.offset + self.read.end;
        let found = self.passage.and_then(|passage| part_of(&self.whole, passage, part));
        found.unwrap_or_else(|| self.whole.clone())
    }
}

impl<'a> OperationAt<'a> {
    /// Where the operator stands.
    pub(crate) fn site(&self) -> Site {
        let start = self.offset + self.operation.offset;
        let found = self
            .passage
            .and_then(|passage| part_of(&self.whole, passage, start..start + self.operation.symbol.len()));
        found.unwrap_or_else(|| self.whole.clone())
    }

    /// The path that an operand reads.
    pub(crate) fn path(&self, read: usize) -> Vec<&'a str> {
        let path = self.expr.reads().get(read).map(|read| read.path.as_slice());
        path.unwrap_or_default().iter().map(|segment| &**segment).collect()
    }
}

impl<'a> InText<'a> {
    fn read(&self, read: &'a Read) -> ReadAt<'a> {
        ReadAt { read, whole: self.site.clone(), passage: self.passage, offset: self.offset }
    }

    fn reads(self) -> impl Iterator<Item = ReadAt<'a>> {
        self.expr.reads().iter().map(move |read| self.read(read))
    }

    fn at(&self, operation: &'a Operation) -> OperationAt<'a> {
        let Self { expr, site, passage, offset } = self;
        OperationAt { operation, expr, whole: site.clone(), passage: *passage, offset: *offset }
    }

    fn operations(self) -> impl Iterator<Item = OperationAt<'a>> {
        self.expr.operations().iter().map(move |operation| self.at(operation))
    }

    fn comparisons(self) -> impl Iterator<Item = ComparisonAt<'a>> {
        self.expr.comparisons().iter().filter_map(move |comparison| {
            let read = self.expr.reads().get(comparison.read)?;
            Some(ComparisonAt { comparison, subject: self.read(read) })
        })
    }
}

impl ValueDoc {
    /// Reads a value; with `raw` its strings have no placeholders.
    pub(super) fn read(raw: bool, cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        if !raw {
            notation::warn(cursor.tree, &cursor.path, report);
        }
        let mut texts = Texts::new();
        collect_texts(cursor.tree, &mut texts);
        match ValueTemplate::compile_with(cursor.tree, raw, &functions_of(report)) {
            Ok(value) => Some(Self { value, site: cursor.site(), texts }),
            Err(errors) => {
                for error in &errors {
                    report_placeholder(cursor, error, &texts, report);
                }
                None
            }
        }
    }

    fn written(&self) -> impl Iterator<Item = InText<'_>> {
        let found = self.value.placeholders(&self.site.path).into_iter();
        found.map(|(path, Placeholder { expr, offset, span })| {
            let site = Site { path, span: *span };
            InText { expr, site, passage: self.texts.get(&span.start), offset: *offset }
        })
    }

    /// Every path read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = ReadAt<'_>> {
        self.written().flat_map(InText::reads)
    }

    /// Every operation that not all types fit.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OperationAt<'_>> {
        self.written().flat_map(InText::operations)
    }

    /// Every comparison of a path with a literal.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = ComparisonAt<'_>> {
        self.written().flat_map(InText::comparisons)
    }
}

fn collect_texts(tree: &Tree, texts: &mut Texts) {
    match &tree.node {
        TreeNode::String(text) if text.contains("{{") => {
            texts.insert(tree.span.start, Passage::new(text.clone(), tree));
        }
        TreeNode::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        TreeNode::Object(members) => members.iter().for_each(|(_, member)| collect_texts(member, texts)),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {}
    }
}

fn report_placeholder(cursor: &Cursor<'_>, error: &PlaceholderError, texts: &Texts, report: &Report) {
    let Some(passage) = texts.get(&error.span.start) else { return };
    let site = Site { path: cursor.path.suffixed(&error.path), span: error.span };
    let tree = Tree::new(TreeNode::String(passage.text.clone()), error.span);
    let raw = site.path.raw_spelling();
    let raw = raw.map(|raw| format!("if the braces are meant for the executor, write {raw}"));
    let error = raw.map_or_else(|| error.error.clone(), |raw| error.error.clone().or_hint(&raw));
    report_syntax(&site, passage, &error, &tree, report);
}

/// The functions of the document, which are read before everything that may call them.
fn functions_of(report: &Report) -> Arc<Functions> {
    report.provided().unwrap_or_default()
}

fn report_syntax(site: &Site, passage: &Passage, error: &SyntaxError, tree: &Tree, report: &Report) {
    report.problem(syntax(&expressions::EXPRESSION, site, passage, error).with_value(tree));
}

/// A fault of a text, or a doubt about it, at its place in that text.
pub(super) fn syntax(entry: &Entry, site: &Site, passage: &Passage, error: &SyntaxError) -> Problem {
    let text = &*passage.text;
    let exact = part_of(site, passage, word_at(text, error.offset));
    // Where the place cannot be pointed at, it is told.
    let place = match text.get(..error.offset).filter(|before| exact.is_none() && !before.is_empty()) {
        Some(before) => format!(" ({})", place_of(before)),
        None => String::new(),
    };
    let at = exact.unwrap_or_else(|| site.clone());
    at.problem(entry, format!("{}{place}", error.message)).with_hint_if(error.hint.clone())
}

/// Returns line and column of the text that follows `before`, counted from 1.
fn place_of(before: &str) -> String {
    let character = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    match before.matches('\n').count() {
        0 => format!("character {character}"),
        breaks => format!("line {} of the text, character {character}", breaks + 1),
    }
}

fn part_of(site: &Site, passage: &Passage, part: Range<usize>) -> Option<Site> {
    Some(Site { path: site.path.clone(), span: passage.part(part)? })
}
