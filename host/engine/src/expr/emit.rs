//! Nodes to the Rhai text that evaluates them.
//!
//! Every operator whose meaning differs from Rhai's becomes a call of one of the machine's operations; `&&`, `||` and
//! `??` are Rhai's own. Names are ours alone: `v<n>` for the n-th distinct path, `c<n>` for a constant that is not
//! written out.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use super::{
    Read,
    ast::{Ast, AstKind, Comparator},
};
use crate::value::Value;

/// Texts up to this many bytes are held by Rhai; longer ones stay shared, so that they cost nothing to pass around.
pub(super) const INLINE_TEXT_BYTES: usize = 64;

/// The variable that holds the document's functions.
pub(super) const FUNCTIONS: &str = "functions__";

/// An expression as the machine runs it.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) text: String,
    /// The values of `c0`, `c1`, …
    pub(super) constants: Vec<Value>,
    /// For each of `v0`, `v1`, …, the read whose path it is.
    pub(super) slots: Vec<usize>,
    /// Whether it calls functions of the document.
    pub(super) calls: bool,
    /// Whether a list or an object may be built that is larger than any of its parts.
    pub(super) builds: bool,
}

pub(super) fn emit(root: &Ast, reads: &[Read]) -> Program {
    let mut emitter = Emitter { reads, slots: BTreeMap::new(), program: Program::default() };
    emitter.node(root);
    emitter.program
}

struct Emitter<'a> {
    reads: &'a [Read],
    slots: BTreeMap<&'a [Arc<str>], usize>,
    program: Program,
}

impl Emitter<'_> {
    fn push(&mut self, text: &str) {
        self.program.text.push_str(text);
    }

    fn name(&mut self, letter: char, index: usize) {
        // Writing to a string cannot fail.
        let _ = write!(self.program.text, "{letter}{index}");
    }

    fn call<'n>(&mut self, operation: &str, operands: impl IntoIterator<Item = &'n Ast>) {
        self.push(operation);
        self.push("(");
        self.separated(", ", operands, Self::node);
        self.push(")");
    }

    fn separated<'n>(
        &mut self,
        separator: &str,
        nodes: impl IntoIterator<Item = &'n Ast>,
        mut each: impl FnMut(&mut Self, &Ast),
    ) {
        for (index, node) in nodes.into_iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            each(self, node);
        }
    }

    fn node(&mut self, node: &Ast) {
        self.program.builds |= node.builds();
        match &node.kind {
            AstKind::Literal(value) => self.literal(value),
            AstKind::Path(read) => self.path(*read),
            AstKind::List(items) => self.call("list", items),
            AstKind::Object(members) => self.object(members),
            AstKind::Member(base, name) => self.call("member", [base.as_ref(), &Ast::literal(name.clone())]),
            AstKind::Index(pair) => self.call("at", pair.iter()),
            AstKind::Filter(filter, operands) => self.call(filter.name, operands),
            AstKind::Call(name, arguments) => {
                self.program.calls = true;
                self.push("invoke(");
                self.push(FUNCTIONS);
                self.push(", ");
                self.separated(
                    ", ",
                    std::iter::once(&Ast::literal(name.clone())).chain(arguments),
                    Self::node,
                );
                self.push(")");
            }
            AstKind::Text(parts) => self.call("text", parts),
            AstKind::Default(pair) => self.native(" ?? ", pair.iter(), Self::used),
            AstKind::Not(inner) => self.call("not", [inner.as_ref()]),
            AstKind::Negate(inner) => self.call("negate", [inner.as_ref()]),
            AstKind::Chain(operators, operands) => {
                let operators = Ast::literal(operators.as_str());
                self.call("chain", std::iter::once(&operators).chain(operands));
            }
            AstKind::Compare(by, pair) => self.call(comparison(*by), pair.iter()),
            AstKind::In(pair) => self.membership(pair),
            AstKind::And(terms) => self.native(" && ", terms, Self::condition),
            AstKind::Or(terms) => self.native(" || ", terms, Self::condition),
            AstKind::Choose(parts) => self.call("choose", parts.iter()),
        }
    }

    /// An operator of Rhai's own.
    fn native<'n>(
        &mut self,
        operator: &str,
        nodes: impl IntoIterator<Item = &'n Ast>,
        each: impl FnMut(&mut Self, &Ast),
    ) {
        self.push("(");
        self.separated(operator, nodes, each);
        self.push(")");
    }

    /// A node where Rhai needs a boolean.
    fn condition(&mut self, node: &Ast) {
        if node.is_boolean() {
            self.node(node);
        } else {
            self.call("truth", [node]);
        }
    }

    /// A node where Rhai looks at the value itself: only our operations note that a path was null by its type.
    fn used(&mut self, node: &Ast) {
        if matches!(node.kind, AstKind::Path(_)) {
            self.call("used", [node]);
        } else {
            self.node(node);
        }
    }

    fn path(&mut self, read: usize) {
        let Some(path) = self.reads.get(read).map(|r| r.path.as_slice()) else { return };
        let slot = *self.slots.entry(path).or_insert_with(|| {
            self.program.slots.push(read);
            self.program.slots.len() - 1
        });
        self.name('v', slot);
    }

    fn object(&mut self, members: &[(Arc<str>, Ast)]) {
        let keys: Vec<Ast> = members.iter().map(|(key, _)| Ast::literal(key.clone())).collect();
        let pairs = keys.iter().zip(members).flat_map(|(key, (_, node))| [key, node]);
        self.call("object", pairs);
    }

    /// A literal list is compared element by element, without making it first.
    fn membership(&mut self, pair: &[Ast; 2]) {
        let [item, container] = pair;
        match container.as_literal() {
            Some(Value::Array(values)) => {
                let values: Vec<Ast> = values.iter().cloned().map(Ast::literal).collect();
                self.call("among", std::iter::once(item).chain(&values));
            }
            Some(_) | None => self.call("within", pair),
        }
    }

    fn literal(&mut self, value: &Value) {
        match value {
            Value::Null => self.push("()"),
            Value::Bool(b) => self.push(if *b { "true" } else { "false" }),
            Value::Number(n) if n.as_i64().is_some_and(|i| i >= 0) => self.push(&n.to_string()),
            Value::String(text) if text.len() <= INLINE_TEXT_BYTES => self.text(text),
            Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.name('c', self.program.constants.len());
                self.program.constants.push(value.clone());
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.push("\"");
        for c in text.chars() {
            // Writing to a string cannot fail.
            let _ = match c {
                '"' | '\\' => write!(self.program.text, "\\{c}"),
                ' '..='~' => write!(self.program.text, "{c}"),
                _ => write!(self.program.text, "\\U{:08x}", u32::from(c)),
            };
        }
        self.push("\"");
    }
}

fn comparison(by: Comparator) -> &'static str {
    match by {
        Comparator::Equal => "eq",
        Comparator::Unequal => "ne",
        Comparator::Less => "lt",
        Comparator::AtMost => "le",
        Comparator::Greater => "gt",
        Comparator::AtLeast => "ge",
    }
}
