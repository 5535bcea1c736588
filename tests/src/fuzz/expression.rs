//! Any text as an expression, and as a value with placeholders.

use std::{cell::RefCell, sync::Arc, sync::LazyLock};

use phasm_engine::{
    expr::{Doubts, Env, Expr, MAX_LENGTH, SyntaxError, ValueTemplate},
    path::Path,
    tree::Tree,
    value::Value,
};

use super::points_into;

/// Levels that a value made by an expression may have, and those of the environment below it.
pub(super) const DEEPEST: usize = 120;

/// Data for expressions: a value of every type, under the names that expressions of documents use.
pub(super) static DATA: LazyLock<Value> = LazyLock::new(|| {
    let data = serde_json::json!({
        "a": 1, "b": -2.5, "c": "Text", "d": null, "e": true, "f": [1, "x", null, [2]], "g": { "k": { "l": 3 } },
        "tasks": { "a": { "phase": "Failed", "code": 2, "outputs": { "parameters": { "x": [1, 2] } } } },
        "inputs": { "parameters": { "n": u64::MAX, "t": " a,b ", "json": "{\"k\": [1]}" } },
        "loop": { "index": 2, "item": { "name": "é" } },
        "outcome": { "status": "error", "http": { "status": 503 }, "error": { "message": "Read TIMEOUT" } },
    });
    data.into()
});

/// The data, and what was asked of it.
pub(super) struct Asked {
    data: &'static Value,
    paths: RefCell<Vec<Vec<Arc<str>>>>,
}

impl Asked {
    pub(super) fn of(data: &'static Value) -> Self {
        Self { data, paths: RefCell::default() }
    }
}

impl Env for Asked {
    fn get(&self, path: &[Arc<str>]) -> Value {
        self.paths.borrow_mut().push(path.to_vec());
        path.iter().try_fold(self.data, |value, segment| value.member(segment)).cloned().unwrap_or_default()
    }
}

/// Checks that `data` as text is an expression that keeps its promises, or none with a reason and a place; then the same
/// for a value with placeholders.
///
/// # Panics
/// When it does not.
pub fn expression(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Expr::compile(text) {
        Ok(expr) => check_expression(text, &expr),
        Err(error) => check_error(text, &error),
    }
    interpolation(text);
}

fn check_error(text: &str, error: &SyntaxError) {
    assert!(points_into(text, error.offset), "{text:?}: {error:?}");
    assert!(!error.message.is_empty(), "{text:?}: {error:?}");
}

fn check_expression(text: &str, expr: &Expr) {
    assert!(text.len() <= MAX_LENGTH);
    assert_eq!(expr.source(), text);
    check_reads(text, expr);
    let env = Asked::of(&DATA);
    let value = expr.eval(&env, &mut Doubts::default());
    for path in env.paths.borrow().iter() {
        assert!(is_announced(expr, path), "{text:?} reads {path:?} unannounced");
    }
    assert_eq!(value, expr.eval(&env, &mut Doubts::default()), "{text:?}");
    check_truth(text, expr, value.as_ref().ok());
    if let Ok(value) = &value {
        assert!(depth(value) <= DEEPEST, "{text:?} nests too deeply");
    }
    // Parentheses count where nesting does; a short text has far less than the limit.
    if text.len() < 100 {
        let inside =
            Expr::compile(&format!("({text}\n)")).map(|wrapped| wrapped.eval(&env, &mut Doubts::default()));
        assert_eq!(inside, Ok(value), "{text:?} in parentheses");
    }
}

/// Whether `path` is a read or what leads to one, or what would be subtracted if a hyphen were a minus.
fn is_announced(expr: &Expr, path: &[Arc<str>]) -> bool {
    let is_tail = |segment: &Arc<str>| {
        path.first().is_some_and(|root| segment.strip_suffix(&**root).is_some_and(|head| head.ends_with('-')))
    };
    expr.reads()
        .iter()
        .any(|read| read.path.starts_with(path) || (path.len() == 1 && read.path.iter().any(is_tail)))
}

/// A read names a place of the text where its path begins; in a quoted text with escapes, where that begins.
fn check_reads(text: &str, expr: &Expr) {
    for read in expr.reads() {
        let Some(root) = read.path.first() else { unreachable!("{text:?}: a read without a path") };
        let written = text.get(read.offset..).unwrap_or_default();
        assert!(written.starts_with(root.as_ref()) || written.starts_with(['"', '\'']), "{text:?}: {read:?}");
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(root.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{text:?}: {read:?}");
        assert!(root.chars().all(name), "{text:?}: {read:?}");
    }
    for comparison in expr.comparisons() {
        assert!(comparison.read < expr.reads().len(), "{text:?}: {comparison:?}");
        assert!(points_into(text, comparison.offset), "{text:?}: {comparison:?}");
    }
}

/// R-X7: null is false, the texts `true` and `false` count, anything else is an error.
fn check_truth(text: &str, expr: &Expr, value: Option<&Value>) {
    let expected = match value {
        Some(Value::Null) => Some(false),
        Some(Value::Bool(truth)) => Some(*truth),
        Some(Value::String(word)) => word.parse().ok(),
        Some(Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => None,
    };
    assert_eq!(expr.test(&Asked::of(&DATA), &mut Doubts::default()).ok(), expected, "{text:?}");
}

pub(super) fn depth(value: &Value) -> usize {
    let parts: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 1,
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
    };
    1 + parts.map(depth).max().unwrap_or(0)
}

fn interpolation(text: &str) {
    let tree = Tree::from(&Value::from(text));
    match ValueTemplate::compile(&tree, false) {
        Ok(compiled) => {
            assert_eq!(compiled.is_literal(), !text.contains("{{"), "{text:?}");
            for (_, placeholder) in compiled.placeholders(&Path::root()) {
                for read in placeholder.expr.reads() {
                    let root = read.path.first().map_or("", |root| root);
                    let at = placeholder.offset + read.offset;
                    let written = text.get(at..).unwrap_or_default();
                    let is_there = written.starts_with(root) || written.starts_with(['"', '\'']);
                    assert!(is_there, "{text:?}: {read:?}");
                }
            }
            let env = Asked::of(&DATA);
            assert_eq!(
                compiled.eval(&env, &mut Doubts::default()),
                compiled.eval(&env, &mut Doubts::default()),
                "{text:?}"
            );
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "{text:?}");
            errors.iter().for_each(|found| check_error(text, &found.error));
        }
    }
    let raw = ValueTemplate::compile(&tree, true).ok().and_then(|raw| raw.as_literal().cloned());
    assert_eq!(raw, Some(text.into()));
}
