//! The filters: what `x | name(…)` and `x.name(…)` do.

mod convert;
mod list;
mod text;

use std::ops::RangeInclusive;

use super::{SyntaxError, Types, budget::Budget, value_ref::ValueRef};
use crate::{suggest::nearest, value::Value};

/// A filter: a pure function of the value before it and its arguments. Null passes through all of them.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) name: &'static str,
    /// How many arguments it takes, the value before it not counted.
    pub(super) arguments: RangeInclusive<usize>,
    /// Types of the value before it.
    pub(super) takes: Types,
    /// Types of its arguments.
    pub(super) with: Types,
    /// Whether the result may be nested more deeply than the operands.
    pub(super) builds: bool,
    run: FilterFn,
}

type FilterFn = fn(&FilterCall<'_>, &mut Budget) -> Result<Value, String>;

/// All filters but `default`, which is part of the grammar: its argument is evaluated only when needed.
pub(super) static FILTERS: [Filter; 19] = [
    filter("contains", HOLDER, 1..=1, ANY, list::contains),
    filter("endswith", TEXT, 1..=1, TEXT, text::ends_with),
    filter("first", LIST, 0..=0, ANY, list::first),
    filter("float", NUMERIC, 0..=0, ANY, convert::float),
    Filter { builds: true, ..filter("fromjson", TEXT, 0..=0, ANY, convert::from_json) },
    filter("int", NUMERIC, 0..=0, ANY, convert::int),
    filter("join", LIST, 1..=1, TEXT, list::join),
    filter("keys", Types::OBJECT, 0..=0, ANY, list::keys),
    filter("last", LIST, 0..=0, ANY, list::last),
    filter("length", HOLDER, 0..=0, ANY, list::length),
    filter("lower", TEXT, 0..=0, ANY, text::lower),
    filter("replace", TEXT, 2..=2, TEXT, text::replace),
    filter("round", Types::NUMBER, 0..=1, Types::NUMBER, convert::round),
    filter("split", TEXT, 1..=1, TEXT, text::split),
    filter("startswith", TEXT, 1..=1, TEXT, text::starts_with),
    filter("string", ANY, 0..=0, ANY, convert::string),
    filter("tojson", ANY, 0..=0, ANY, convert::to_json),
    filter("trim", TEXT, 0..=0, ANY, text::trim),
    filter("upper", TEXT, 0..=0, ANY, text::upper),
];

const fn filter(
    name: &'static str,
    takes: Types,
    arguments: RangeInclusive<usize>,
    with: Types,
    run: FilterFn,
) -> Filter {
    Filter { name, takes, arguments, with, builds: false, run }
}

const TEXT: Types = Types::STRING;
const LIST: Types = Types::ARRAY;
const HOLDER: Types = Types::STRING.or(Types::ARRAY).or(Types::OBJECT);
const NUMERIC: Types = Types::NUMBER.or(Types::STRING);
const ANY: Types = Types::ANY;

/// One use of a filter, while it runs.
struct FilterCall<'a> {
    name: &'static str,
    /// The value before the filter.
    subject: &'a Value,
    arguments: &'a [Value],
}

impl Filter {
    /// Types that the result can have.
    pub(super) fn result(&self) -> Types {
        match self.name {
            "contains" | "endswith" | "startswith" => Types::BOOLEAN,
            "float" | "int" | "length" | "round" => Types::NUMBER,
            "join" | "lower" | "replace" | "string" | "tojson" | "trim" | "upper" => Types::STRING,
            "keys" | "split" => Types::ARRAY,
            _ => Types::ANY,
        }
    }

    /// Applies this filter to the first of `operands`, with the others as arguments.
    ///
    /// # Errors
    /// When an operand has the wrong type or the result would be too large.
    pub(super) fn apply(&self, operands: &[Value], budget: &mut Budget) -> Result<Value, String> {
        match operands.split_first() {
            None | Some((Value::Null, _)) => Ok(Value::Null),
            Some((subject, arguments)) => {
                let call = FilterCall { name: self.name, subject, arguments };
                (self.run)(&call, budget)
            }
        }
    }
}

impl<'a> FilterCall<'a> {
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
            format!("`{}` takes a string as argument, not {}", self.name, ValueRef::from(argument).describe())
        })
    }

    fn wrong(&self, expected: &str) -> String {
        format!("`{}` works on {expected}, not on {}", self.name, ValueRef::from(self.subject).describe())
    }
}

pub(super) fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|f| f.name == name)
}

/// Whether there is a filter of that name.
pub(super) fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("default").chain(FILTERS.iter().map(|f| f.name))
}

pub(super) fn unknown(name: &str, offset: usize) -> SyntaxError {
    let known = names().collect::<Vec<_>>().join(", ");
    let error = SyntaxError::new(offset, format!("there is no filter `{name}`; expected one of {known}"));
    if name == "get" {
        return error.hint("write `x['key']`; a missing member is null; `x['key'] | default(y)` is y then");
    }
    match foreign(name).or_else(|| nearest(name, names())).or_else(|| beginning(name)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// Letters of the shortest filter that a longer name may begin with.
const MIN_BEGINNING: usize = 4;

/// The longest filter that a name begins with, as `trimmed` with `trim`.
fn beginning(name: &str) -> Option<&'static str> {
    let is_beginning = |known: &&str| known.len() >= MIN_BEGINNING && name.starts_with(known);
    names().filter(is_beginning).max_by_key(|known| known.len())
}

/// Names that other languages give to some of the filters.
const FOREIGN: [(&str, &str); 16] = [
    ("uppercase", "upper"),
    ("upcase", "upper"),
    ("ascii_upcase", "upper"),
    ("toUpperCase", "upper"),
    ("lowercase", "lower"),
    ("downcase", "lower"),
    ("ascii_downcase", "lower"),
    ("toLowerCase", "lower"),
    ("len", "length"),
    ("size", "length"),
    ("count", "length"),
    ("str", "string"),
    ("strip", "trim"),
    ("loads", "fromjson"),
    ("dumps", "tojson"),
    ("to_json", "tojson"),
];

/// The filter that other languages call so.
fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| *foreign == name).map(|(_, own)| *own)
}

/// Returns the error for a call to `name` that is no function, neither one of the document's `own` nor a filter.
pub(super) fn no_function<'n>(name: &str, own: impl Iterator<Item = &'n str>, offset: usize) -> SyntaxError {
    let error = SyntaxError::new(offset, format!("there is no function `{name}`"));
    if let Some(near) = nearest(name, own) {
        return error.hint(format!("did you mean `{near}`?"));
    }
    match foreign(name).or_else(|| nearest(name, names())) {
        Some(near) => error.hint(format!("write it as a filter: `x | {near}` or `x.{near}()`")),
        None => error.hint(
            "there are the filters, `x | length` or `x.length()`, and the functions of `spec.functions`",
        ),
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
    let arguments = if given == 1 { "argument" } else { "arguments" };
    SyntaxError::new(offset, format!("`{name}` is given {given} {arguments}; expected {expected}"))
}
