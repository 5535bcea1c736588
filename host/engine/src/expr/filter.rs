//! The filters: what `x | name(…)` and `x.name(…)` do.

mod convert;
mod list;
mod text;

use std::ops::RangeInclusive;

use super::{SyntaxError, budget::Budget, view::View};
use crate::{expr::suggest::nearest, value::Value};

/// A filter: a pure function of the value before it and its arguments. Null passes through all of them.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) name: &'static str,
    /// How many arguments it takes, the value before it not counted.
    pub(super) arguments: RangeInclusive<usize>,
    run: Run,
}

type Run = fn(&Call<'_>, &mut Budget) -> Result<Value, String>;

/// All filters but `default`, which is part of the grammar: its argument is evaluated only when needed.
pub(super) static FILTERS: [Filter; 19] = [
    Filter { name: "contains", arguments: 1..=1, run: list::contains },
    Filter { name: "endswith", arguments: 1..=1, run: text::ends_with },
    Filter { name: "first", arguments: 0..=0, run: list::first },
    Filter { name: "float", arguments: 0..=0, run: convert::float },
    Filter { name: "fromjson", arguments: 0..=0, run: convert::from_json },
    Filter { name: "int", arguments: 0..=0, run: convert::int },
    Filter { name: "join", arguments: 1..=1, run: list::join },
    Filter { name: "keys", arguments: 0..=0, run: list::keys },
    Filter { name: "last", arguments: 0..=0, run: list::last },
    Filter { name: "length", arguments: 0..=0, run: list::length },
    Filter { name: "lower", arguments: 0..=0, run: text::lower },
    Filter { name: "replace", arguments: 2..=2, run: text::replace },
    Filter { name: "round", arguments: 0..=1, run: convert::round },
    Filter { name: "split", arguments: 1..=1, run: text::split },
    Filter { name: "startswith", arguments: 1..=1, run: text::starts_with },
    Filter { name: "string", arguments: 0..=0, run: convert::string },
    Filter { name: "tojson", arguments: 0..=0, run: convert::to_json },
    Filter { name: "trim", arguments: 0..=0, run: text::trim },
    Filter { name: "upper", arguments: 0..=0, run: text::upper },
];

/// One use of a filter, while it runs.
struct Call<'a> {
    name: &'static str,
    /// The value before the filter.
    subject: &'a Value,
    arguments: &'a [Value],
}

impl Filter {
    /// Applies this filter to the first of `operands`, with the others as arguments.
    ///
    /// # Errors
    /// When an operand has the wrong type or the result would be too large.
    pub(super) fn apply(&self, operands: &[Value], budget: &mut Budget) -> Result<Value, String> {
        match operands.split_first() {
            None | Some((Value::Null, _)) => Ok(Value::Null),
            Some((subject, arguments)) => {
                let call = Call { name: self.name, subject, arguments };
                (self.run)(&call, budget)
            }
        }
    }
}

impl<'a> Call<'a> {
    fn argument(&self, index: usize) -> &'a Value {
        self.arguments.get(index).unwrap_or(&Value::Null)
    }

    /// The value before the filter as text.
    fn text(&self, budget: &mut Budget) -> Result<&'a str, String> {
        let text = self.subject.as_str().ok_or_else(|| self.wrong("a string"))?;
        budget.spend(text.len())?;
        Ok(text)
    }

    /// The argument at `index` as text.
    fn text_argument(&self, index: usize) -> Result<&'a str, String> {
        let argument = self.argument(index);
        argument.as_str().ok_or_else(|| {
            format!("`{}` takes a string as argument, not {}", self.name, View::from(argument).describe())
        })
    }

    fn wrong(&self, expected: &str) -> String {
        format!("`{}` works on {expected}, not on {}", self.name, View::from(self.subject).describe())
    }
}

pub(super) fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|f| f.name == name)
}

fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("default").chain(FILTERS.iter().map(|f| f.name))
}

pub(super) fn unknown(name: &str, offset: usize) -> SyntaxError {
    let known = names().collect::<Vec<_>>().join(", ");
    let error = SyntaxError::new(offset, format!("there is no filter `{name}`; expected one of {known}"));
    match nearest(name, names()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

pub(super) fn no_function(name: &str, offset: usize) -> SyntaxError {
    let error = SyntaxError::new(offset, format!("there is no function `{name}`"));
    match nearest(name, names()) {
        Some(near) => error.hint(format!("write it as a filter: `x | {near}` or `x.{near}()`")),
        None => error.hint("the filters, `x | length` or `x.length()`, are all the functions there are"),
    }
}

pub(super) fn wrong_count(
    name: &str,
    expected: &RangeInclusive<usize>,
    given: usize,
    offset: usize,
) -> SyntaxError {
    let expected = match (expected.start(), expected.end()) {
        (0, 0) => "none".to_owned(),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    SyntaxError::new(offset, format!("`{name}` is given {given} arguments; expected {expected}"))
}
