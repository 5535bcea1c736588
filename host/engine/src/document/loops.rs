//! `loop`: one body, many iterations (R-S5).

use std::sync::Arc;

use crate::{
    expr::Interpolated,
    plan::{
        Aggregate, AggregateStrategy, Tolerance,
        catalogue::{shape, values},
    },
    tree::{Key, Node, Tree},
    value::Value,
};

use super::{
    ExprDoc, ParametersDoc, Report, ValueDoc,
    dag::children_tolerance,
    field::{integer, text, whole, word},
    parameters::Use,
    task::names,
    walk::{Cursor, Name, Object, Site},
};

/// `loop`, without what all templates have.
#[derive(Clone, Debug)]
pub(crate) struct LoopDoc {
    pub(crate) body: Option<Name>,
    pub(crate) over: OverDoc,
    pub(crate) concurrency: Option<u32>,
    pub(crate) max_iterations: Option<u32>,
    pub(crate) arguments: ParametersDoc,
    pub(crate) strategy: AggregateStrategy,
    pub(crate) aggregated: Option<Vec<Name>>,
    pub(crate) continue_on: Option<Tolerance>,
}

/// One of `items`.
#[derive(Clone, Debug)]
pub(crate) struct ItemDoc {
    pub(crate) value: ValueDoc,
    /// Where the fields of an object stand, which are arguments by name.
    pub(crate) fields: Vec<(Arc<str>, Site)>,
}

/// What a loop runs over.
#[derive(Clone, Debug)]
pub(crate) enum OverDoc {
    Items(Vec<ItemDoc>),
    Sequence(Vec<Value>),
    ItemsFrom(ExprDoc),
    Repeat(ExprDoc),
    /// Could not be read, which has been reported.
    Unreadable,
}

/// Values that a sequence may have.
const LONGEST_SEQUENCE: i128 = 1_000_000;

const STRATEGIES: [(&str, AggregateStrategy); 3] = [
    ("last", AggregateStrategy::Last),
    ("first", AggregateStrategy::First),
    ("list", AggregateStrategy::List),
];

impl LoopDoc {
    pub(super) fn read(object: &mut Object<'_, '_>) -> Self {
        let over = OverDoc::read(object);
        let (strategy, aggregated) = object.optional("aggregate", aggregate).unwrap_or_default();
        let concurrency = object.optional("concurrency", whole(0..=u32::MAX)).filter(|most| *most > 0);
        let max_iterations = object.optional("maxIterations", whole(1..=u32::MAX));
        if object.has("repeatCondition") {
            check_repeat(object);
        }
        Self {
            body: object.required("body", "the name of a template", text),
            over,
            concurrency,
            max_iterations,
            arguments: ParametersDoc::field(object, "arguments", Use::Arguments),
            strategy,
            aggregated,
            continue_on: children_tolerance(object),
        }
    }

    pub(crate) fn aggregate(&self) -> Aggregate {
        let names = |names: &Vec<Name>| names.iter().map(|name| name.value.clone()).collect();
        Aggregate { strategy: self.strategy, parameters: self.aggregated.as_ref().map(names) }
    }
}

fn check_repeat(object: &mut Object<'_, '_>) {
    if !object.has("maxIterations") {
        let message = "missing field `maxIterations`; expected how often the body may run at most";
        object.report.at(&shape::MISSING_FIELD, &object.site.missing("maxIterations"), message);
    }
    let why = "beside `repeatCondition`; expected none, as iterations follow each other";
    object.refuse(&["concurrency"], &shape::NOT_ALLOWED, why, "remove it");
}

fn aggregate(cursor: &Cursor<'_>, report: &Report) -> Option<(AggregateStrategy, Option<Vec<Name>>)> {
    let mut object = cursor.object(report)?;
    let strategy = object.optional("strategy", |cursor, report| word(&STRATEGIES, cursor, report));
    let parameters = object.optional("parameters", names);
    object.finish();
    Some((strategy.unwrap_or_default(), parameters))
}

impl OverDoc {
    fn read(object: &mut Object<'_, '_>) -> Self {
        let over = match object.exactly_one(&["items", "itemsFrom", "sequence", "repeatCondition"]) {
            Some("items") => object.optional("items", items).map(Self::Items),
            Some("itemsFrom") => object.optional("itemsFrom", ExprDoc::read).map(Self::ItemsFrom),
            Some("sequence") => object.optional("sequence", sequence).map(Self::Sequence),
            Some(_) => object.optional("repeatCondition", ExprDoc::read).map(Self::Repeat),
            None => None,
        };
        over.unwrap_or(Self::Unreadable)
    }

    /// The items as the plan has them.
    pub(crate) fn items(&self) -> Option<Vec<Interpolated>> {
        match self {
            Self::Items(items) => Some(items.iter().map(|item| item.value.value.clone()).collect()),
            Self::Sequence(values) => Some(values.iter().cloned().map(Interpolated::Literal).collect()),
            Self::ItemsFrom(_) | Self::Repeat(_) | Self::Unreadable => None,
        }
    }
}

fn items(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<ItemDoc>> {
    let items = cursor.items(report)?;
    let count = items.len();
    let list: Vec<_> = items.filter_map(|item| ItemDoc::read(&item, report)).collect();
    (list.len() == count).then_some(list)
}

impl ItemDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let value = ValueDoc::read(false)(cursor, report)?;
        let fields = match &cursor.tree.node {
            Node::Object(members) => {
                let field = |(key, tree): &(Key, Tree)| {
                    let path = cursor.path.key(key.name.clone());
                    (key.name.clone(), Site { path, span: tree.span })
                };
                members.iter().map(field).collect()
            }
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::String(_) | Node::Array(_) => Vec::new(),
        };
        Some(Self { value, fields })
    }
}

fn sequence(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Value>> {
    let mut object = cursor.object(report)?;
    let start = object.optional("start", bounded).unwrap_or(0);
    let format = object.optional("format", |cursor, report| Format::read(cursor, report));
    let numbers = match object.exactly_one(&["end", "count"]) {
        Some("end") => object.optional("end", bounded).map(|end| Numbers { start, end }),
        Some(_) => object
            .optional("count", whole(0..=i64::from(u32::MAX)))
            .map(|count| Numbers { start, end: start.saturating_add(count).saturating_sub(1) }),
        None => None,
    };
    let is_empty = object.has("count") && numbers.as_ref().is_some_and(|n| n.end < n.start);
    object.finish();
    let numbers = numbers?;
    if numbers.length() > LONGEST_SEQUENCE {
        let message = format!("{} values; expected at most {LONGEST_SEQUENCE}", numbers.length());
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
        return None;
    }
    let value = |number: i64| {
        format.as_ref().map_or_else(|| Value::from(number), |format| format.apply(number).into())
    };
    Some(if is_empty { Vec::new() } else { numbers.iter().map(value).collect() })
}

fn bounded(cursor: &Cursor<'_>, report: &Report) -> Option<i64> {
    let found = integer(cursor, report)?;
    let number = i64::try_from(found).ok();
    if number.is_none() {
        report.problem(
            cursor.problem(&shape::OUT_OF_RANGE, format!("found {found}; expected a number of 64 bits")),
        );
    }
    number
}

/// From start to end, both included, downwards if end is less.
struct Numbers {
    start: i64,
    end: i64,
}

impl Numbers {
    fn length(&self) -> i128 {
        (i128::from(self.end) - i128::from(self.start)).abs() + 1
    }

    fn iter(&self) -> Box<dyn Iterator<Item = i64>> {
        if self.end < self.start {
            Box::new((self.end..=self.start).rev())
        } else {
            Box::new(self.start..=self.end)
        }
    }
}

/// `printf` of one integer: text, `%[flags][width](d|i|x|X|o)`, text; `%%` is a percent sign.
struct Format {
    before: String,
    after: String,
    zero: bool,
    left: bool,
    plus: bool,
    width: usize,
    conversion: char,
}

/// Columns that a format may fill.
const WIDEST: usize = 64;

impl Format {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let format = text(cursor, report)?;
        let parsed = Self::parse(&format.value);
        if parsed.is_none() {
            let message =
                "format without exactly one integer; expected one placeholder such as `%d` or `%03d`";
            report.problem(
                cursor.problem(&values::WRONG_LITERAL, message).with_hint("write a percent sign as `%%`"),
            );
        }
        parsed
    }

    fn parse(format: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut before = String::new();
        let mut rest = format;
        while let Some((text, tail)) = rest.split_once('%') {
            before.push_str(text);
            if let Some(tail) = tail.strip_prefix('%') {
                before.push('%');
                rest = tail;
                continue;
            }
            if found.is_some() {
                return None;
            }
            let (parsed, tail) = Self::placeholder(tail)?;
            found = Some(Self { before: std::mem::take(&mut before), ..parsed });
            rest = tail;
        }
        before.push_str(rest);
        found.map(|found| Self { after: before, ..found })
    }

    fn placeholder(text: &str) -> Option<(Self, &str)> {
        let flags = text.find(|c| !matches!(c, '0' | '-' | '+')).unwrap_or(text.len());
        let (flags, text) = text.split_at_checked(flags)?;
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (width, text) = text.split_at_checked(digits)?;
        let conversion = text.chars().next().filter(|c| matches!(c, 'd' | 'i' | 'x' | 'X' | 'o'))?;
        let width = if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width <= WIDEST)? };
        let format = Self {
            before: String::new(),
            after: String::new(),
            zero: flags.contains('0'),
            left: flags.contains('-'),
            plus: flags.contains('+'),
            width,
            conversion,
        };
        Some((format, text.get(1..)?))
    }

    fn apply(&self, number: i64) -> Arc<str> {
        let magnitude = number.unsigned_abs();
        let digits = match self.conversion {
            'x' => format!("{magnitude:x}"),
            'X' => format!("{magnitude:X}"),
            'o' => format!("{magnitude:o}"),
            _ => magnitude.to_string(),
        };
        let sign = match (number < 0, self.plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let number = match (self.left, self.zero) {
            (true, _) => format!("{sign}{digits}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{}{digits}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{digits}", " ".repeat(missing)),
        };
        format!("{}{number}{}", self.before, self.after).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_printf_does() {
        let rows = [
            ("%d", 7, Some("7")),
            ("part-%03d.csv", 7, Some("part-007.csv")),
            ("%4d|", 42, Some("  42|")),
            ("%-4d|", 42, Some("42  |")),
            ("%+d", 5, Some("+5")),
            ("%04d", -5, Some("-005")),
            ("%x%%", 255, Some("ff%")),
            ("%X", 255, Some("FF")),
            ("%o", 8, Some("10")),
            ("%%", 1, None),
            ("none", 1, None),
            ("%d-%d", 1, None),
            ("%s", 1, None),
            ("%", 1, None),
            ("%999d", 1, None),
        ];
        for (format, number, expected) in rows {
            let found = Format::parse(format).map(|format| format.apply(number));
            assert_eq!(found.as_deref(), expected, "{format}");
        }
    }

    #[test]
    fn sequences_run_both_ways() {
        let run = |start, end| Numbers { start, end }.iter().collect::<Vec<_>>();
        assert_eq!(run(0, 2), [0, 1, 2]);
        assert_eq!(run(2, -1), [2, 1, 0, -1]);
        assert_eq!(run(5, 5), [5]);
        assert_eq!(Numbers { start: i64::MIN, end: i64::MAX }.length(), 1 << 64);
    }
}
