//! TOML text as a [`Tree`].

use std::sync::Arc;

use phasm_engine::{
    number,
    path::Path,
    problem::{Problem, codes::shape},
    tree::{Key, Span, Tree, TreeNode},
    value::Number,
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::codes;
use crate::reader::source::SourceText;

/// Reads `text` with every position kept.
///
/// # Errors
/// Every syntax error, and every number that JSON does not have.
pub(super) fn read(text: &str) -> Result<Tree, Vec<Problem>> {
    let source = SourceText::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| syntax(&source, error)).collect());
    }
    let mut builder = TomlReader { source, problems: Vec::new() };
    let node = builder.table(table.get_ref(), &Path::root());
    let tree = Tree::new(node, Span { line: 1, column: 1, ..Span::default() });
    if builder.problems.is_empty() { Ok(tree) } else { Err(builder.problems) }
}

fn syntax(source: &SourceText<'_>, error: &toml::de::Error) -> Problem {
    let at = error.span().unwrap_or_default();
    let message = error.message().trim().replace('\n', "; ");
    Problem::new(&codes::SYNTAX, &Path::root(), source.span(at.start, at.end), message)
}

struct TomlReader<'a> {
    source: SourceText<'a>,
    problems: Vec<Problem>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &Path) -> TreeNode {
        let member = |(key, value): (&Spanned<_>, &Spanned<_>)| self.member(key, value, path);
        let mut members: Vec<_> = table.iter().map(member).collect();
        members.sort_by_key(|(key, _)| key.span.start);
        TreeNode::Object(members)
    }

    fn member(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        path: &Path,
    ) -> (Key, Tree) {
        let name: Arc<str> = key.get_ref().as_ref().into();
        let tree = self.value(value, &path.key(Arc::clone(&name)));
        (Key { name, span: self.span(key) }, tree)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &Path) -> Tree {
        let span = self.span(value);
        let node = match value.get_ref() {
            DeValue::String(text) => TreeNode::String(text.as_ref().into()),
            DeValue::Boolean(truth) => TreeNode::Bool(*truth),
            DeValue::Datetime(time) => TreeNode::String(time.to_string().into()),
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.number(number.map(Number::from), path, span)
            }
            DeValue::Float(number) => self.number(number::double(number.as_str()), path, span),
            DeValue::Array(items) => {
                let item = |(at, item): (usize, &Spanned<_>)| self.value(item, &path.index(at));
                TreeNode::Array(items.iter().enumerate().map(item).collect())
            }
            DeValue::Table(table) => self.table(table, path),
        };
        Tree::new(node, span)
    }

    fn number(&mut self, number: Option<Number>, path: &Path, span: Span) -> TreeNode {
        if number.is_none() {
            let message = "a number out of range; expected an integer of 64 bits or a finite number";
            self.problems.push(Problem::new(&shape::OUT_OF_RANGE, path, span, message));
        }
        number.map_or(TreeNode::Null, TreeNode::Number)
    }

    fn span<T>(&self, spanned: &Spanned<T>) -> Span {
        let at = spanned.span();
        self.source.span(at.start, at.end)
    }
}
