//! Calls: of operators, of filters, of the document's own functions.

use rhai::{Expr, FnCallExpr, Position};

use super::{Narrower, custom, functions, text};
use crate::{expr::filter, suggest::nearest};

/// Functions that the document's functions can call besides filters and each other.
pub(in crate::expr::functions) const BUILT_IN: [&str; 2] = ["push", "type_of"];

/// Names that Rhai's own library gives to some of the filters.
const FOREIGN: [(&str, &str); 13] = [
    ("len", "write `length(x)` or `x.length()`"),
    ("to_upper", "write `x.upper()`"),
    ("to_lower", "write `x.lower()`"),
    ("to_string", "write `x.string()`"),
    ("to_int", "write `x.int()`"),
    ("to_float", "write `x.float()`"),
    ("parse_int", "write `x.int()`"),
    ("parse_float", "write `x.float()`"),
    ("starts_with", "write `x.startswith(y)`"),
    ("ends_with", "write `x.endswith(y)`"),
    ("is_empty", "write `x.length() == 0`"),
    ("get", "write `x[\"key\"]` or `x.key`; a missing member is null"),
    ("throw", "write `throw \"why\"`"),
];

impl Narrower<'_> {
    /// A call, or an operator.
    pub(super) fn call(&mut self, expression: &mut Expr) {
        let Expr::FnCall(call, at) = expression else { return };
        let (call, at) = (call.clone(), *at);
        let arguments: Vec<Expr> = call.args.iter().cloned().collect();
        // Rhai makes `a in b` a call of `contains`.
        let is_in = &*call.name == "contains" && !self.source(at).starts_with("contains");
        *expression = if call.is_operator_call() || is_in {
            self.operator(&call.name, arguments, at)
        } else {
            let arguments = self.each(arguments.into_iter());
            self.named(&call.name, arguments, at)
        };
    }

    /// `x.name(a, b)` is `name(x, a, b)` for filters only.
    pub(super) fn method(&mut self, subject: Expr, method: &FnCallExpr, at: Position) -> Expr {
        let mut arguments = self.each(method.args.iter().cloned());
        let name = &*method.name;
        if self.known.contains_key(name) {
            self.refuse(at, format!("`{name}` is a function, no method"), &format!("write `{name}(…)`"));
        } else if name == "push" {
            self.refuse(at, format!("`push` is given {} arguments; expected 1", arguments.len()), "");
        } else {
            arguments.insert(0, subject);
            return self.named(name, arguments, at);
        }
        Expr::default()
    }

    fn named(&mut self, name: &str, arguments: Vec<Expr>, at: Position) -> Expr {
        if let Some(expected) = self.known.get(name) {
            self.calls.insert(name.to_owned());
            self.check_count(name, *expected, arguments.len(), at);
            let operands = [functions(at), text(name, at)].into_iter().chain(arguments).collect();
            return custom("invoke", operands, at);
        }
        let given = arguments.len();
        match (name, filter::find(name)) {
            (_, Some(filter)) => {
                let range = filter.arguments.start() + 1..=filter.arguments.end() + 1;
                if !range.contains(&given) {
                    let error = filter::wrong_count(name, &range, given, self.offset(at));
                    self.errors.push(error.hint("the value in front of it counts: `f(x)` is `x.f()`"));
                }
                custom(filter.name, arguments, at)
            }
            ("type_of", _) => {
                self.check_count(name, 1, given, at);
                custom("type_of", arguments, at)
            }
            _ => {
                if !self.broken.contains(name) {
                    self.unknown(name, at);
                }
                Expr::default()
            }
        }
    }

    fn check_count(&mut self, name: &str, expected: usize, given: usize, at: Position) {
        if given != expected {
            self.errors.push(filter::wrong_count(name, &(expected..=expected), given, self.offset(at)));
        }
    }

    fn unknown(&mut self, name: &str, at: Position) {
        let foreign = FOREIGN.iter().find(|(known, _)| *known == name).map(|(_, hint)| (*hint).to_owned());
        let mut names: Vec<&str> = self.known.keys().map(|name| &**name).collect();
        names.extend(filter::names().chain(BUILT_IN).map(|name| -> &str { name }));
        let near = || nearest(name, names.iter().copied());
        let hint = foreign.or_else(|| near().map(|near| format!("did you mean `{near}`?")));
        let hint = hint.unwrap_or_else(|| {
            "there are the filters of expressions and the functions of `spec.functions`".into()
        });
        self.refuse(at, format!("there is no function `{name}`"), &hint);
    }

    /// An operator; its operands have not been looked at.
    pub(super) fn operator(&mut self, operator: &str, operands: Vec<Expr>, at: Position) -> Expr {
        let mut operands = self.each(operands.into_iter());
        let operation = match (operator, operands.len()) {
            ("-", 1) => "negate",
            ("+", 1) => return operands.pop().unwrap_or_default(),
            ("!", 1) => "not",
            ("+" | "-" | "*" | "/" | "%", 2) => {
                operands.insert(0, text(operator, at));
                "chain"
            }
            ("==", 2) => "eq",
            ("!=", 2) => "ne",
            ("<", 2) => "lt",
            ("<=", 2) => "le",
            (">", 2) => "gt",
            (">=", 2) => "ge",
            // Rhai has the container first.
            ("contains", 2) => {
                operands.reverse();
                "within"
            }
            (".." | "..=", 2) => {
                self.refuse(at, "a range stands in `for` only", "");
                return Expr::default();
            }
            _ => {
                self.refuse(at, format!("there is no operator `{operator}`"), "");
                return Expr::default();
            }
        };
        custom(operation, operands, at)
    }
}
