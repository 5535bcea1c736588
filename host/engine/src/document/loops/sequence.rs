//! `sequence`: numbers, or texts with numbers in them.

mod format;

use crate::{
    form::{Cursor, Field, Form, Object, Report, Rule, Table, whole},
    problem::codes::shape,
    value::Value,
};

use self::format::{FORMAT, Format};

/// Values that a sequence may have.
const MAX_VALUES: i64 = 1_000_000;

pub(super) const SEQUENCE: Form<Vec<Value>> = Form::new(sequence, |defs| defs.object(&SEQUENCE_TABLE));

const ENDS: &[&str] = &["end", "count"];

static SEQUENCE_TABLE: Table = Table::closed(
    "sequence",
    "Numbers from `start`, one by one: exactly one of `end` and `count` says how many, a million at most.",
    &[&START, &END, &COUNT, &FORMAT_FIELD],
    &[Rule::ExactlyOne(ENDS)],
);

static START: Field<i64> =
    Field::optional("start", whole::<i64, { i64::MIN }, { i64::MAX }>().or_expression(), "The first number.")
        .or("0");

static END: Field<i64> = Field::optional(
    "end",
    whole::<i64, { i64::MIN }, { i64::MAX }>().or_expression(),
    "The last number, included; below `start` the numbers go down.",
);

static COUNT: Field<i64> = Field::optional(
    "count",
    whole::<i64, 0, MAX_VALUES>().or_expression(),
    "How many numbers there are, from 0.",
);

static FORMAT_FIELD: Field<Format> = Field::optional(
    "format",
    FORMAT,
    "Makes a text of each number, as printf does: one `%d`, `%i`, `%x`, `%X` or `%o` with flags and width, as in `part-%03d`.",
);

fn sequence(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Value>> {
    let object = cursor.object(&SEQUENCE_TABLE, report)?;
    let format = object.optional(&FORMAT_FIELD);
    let numbers = numbers(&object)?;
    if numbers.length() > i128::from(MAX_VALUES) {
        let message = format!("{} values; expected at most {MAX_VALUES}", numbers.length());
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
        return None;
    }
    let value = |number: i64| {
        format.as_ref().map_or_else(|| Value::from(number), |format| format.apply(number).into())
    };
    // A count of 0 ends before it starts, which otherwise means downwards.
    let is_empty = object.has("count") && numbers.end < numbers.start;
    Some(if is_empty { Vec::new() } else { numbers.iter().map(value).collect() })
}

fn numbers(object: &Object<'_, '_>) -> Option<Numbers> {
    let start = object.or_default(&START);
    let end = match object.only(ENDS)? {
        "end" => object.optional(&END)?,
        _ => start.saturating_add(object.optional(&COUNT)?).saturating_sub(1),
    };
    Some(Numbers { start, end })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_run_both_ways() {
        let run = |start, end| Numbers { start, end }.iter().collect::<Vec<_>>();
        assert_eq!(run(0, 2), [0, 1, 2]);
        assert_eq!(run(2, -1), [2, 1, 0, -1]);
        assert_eq!(run(5, 5), [5]);
        assert_eq!(Numbers { start: i64::MIN, end: i64::MAX }.length(), 1 << 64);
    }
}
