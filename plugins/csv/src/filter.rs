//! The rows that fulfil conditions.

use std::cmp::Ordering;

use phasm_sdk::{inputs::Object, prelude::*};

use crate::{
    CellType, Empty, Task,
    cell::{self, CellValue},
    failure::Faults,
    table::{Row, Table, check, shown},
};

inputs! {
    /// A condition on a column.
    pub struct Condition {
        /// The column.
        column: String,
        /// How the cell is compared.
        is: Comparison,
        /// Value to compare with, whose type says how: a text as text, a number as number. `oneOf` takes a list of them.
        value: Option<Json>,
    }
}

inputs! {
    /// How a cell is compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Comparison {
        /// The cell is the value.
        Equal = "equal",
        /// The cell is not the value.
        NotEqual = "notEqual",
        /// The cell is before the value.
        Less = "less",
        /// The cell is the value or before it.
        AtMost = "atMost",
        /// The cell is behind the value.
        Greater = "greater",
        /// The cell is the value or behind it.
        AtLeast = "atLeast",
        /// The cell is in the list.
        OneOf = "oneOf",
        /// The text has the value in it.
        Contains = "contains",
        /// The text begins with the value.
        StartsWith = "startsWith",
        /// The text ends with the value.
        EndsWith = "endsWith",
        /// The cell is absent, null or an empty text.
        Empty = "empty",
        /// The cell has a value.
        NotEmpty = "notEmpty",
    }
}

inputs! {
    /// Which conditions a row has to fulfil.
    #[derive(Clone, Copy)]
    pub enum Needs {
        /// All of them.
        All = "all",
        /// One of them, or more.
        Any = "any",
    }
}

/// A condition whose value is read.
struct Test<'t> {
    column: &'t str,
    is: Comparison,
    value: Operand,
}

/// The right side of a comparison.
enum Operand {
    None,
    Bool(bool),
    Values(CellType, Vec<CellValue>),
}

pub(crate) fn filter(table: Table, task: &Task) -> Result<Table> {
    let mut problems = table.missing("where", task.conditions.iter().map(|one| one.column.as_str()));
    if task.conditions.is_empty() {
        problems.push("input `where` is missing; expected the conditions of the rows to keep".to_owned());
    }
    let tests: Vec<Test<'_>> =
        task.conditions.iter().filter_map(|one| Test::read(one, &mut problems)).collect();
    check(&problems)?;
    let mut faults = Faults::default();
    let mut kept = Vec::new();
    for (at, row) in table.rows.into_iter().enumerate() {
        let mut results = Vec::with_capacity(tests.len());
        for test in &tests {
            match test.holds(&row, task.empty) {
                Ok(holds) => results.push(holds),
                Err(why) => faults.push(|| format!("row {}, column `{}`: {why}", at + 1, test.column)),
            }
        }
        let is_kept = match task.needs {
            Needs::All => results.iter().all(|holds| *holds),
            Needs::Any => results.contains(&true),
        };
        if is_kept {
            kept.push(row);
        }
    }
    faults.result()?;
    Ok(Table { columns: table.columns, rows: kept })
}

impl<'t> Test<'t> {
    fn read(condition: &'t Object<Condition>, problems: &mut Vec<String>) -> Option<Self> {
        let Condition { column, is, value } = &condition.0;
        let mut wrong = |expected: &str| {
            let got = value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
            problems.push(format!(
                "input `where`: expected {expected} as `value` of the condition on `{column}`, got {got}"
            ));
            None
        };
        let value = match is {
            Comparison::Empty | Comparison::NotEmpty if value.is_some() => return wrong("nothing"),
            Comparison::Empty | Comparison::NotEmpty => Operand::None,
            Comparison::OneOf => match value.as_ref().and_then(|value| value.parse::<Vec<Json>>().ok()) {
                Some(list) => match operands(&list) {
                    Some(values) => values,
                    None => return wrong("a list of texts or a list of numbers"),
                },
                None => return wrong("a list of texts or a list of numbers"),
            },
            Comparison::Contains | Comparison::StartsWith | Comparison::EndsWith => {
                match value.as_ref().and_then(|value| cell::read(value, CellType::Text).ok()) {
                    Some(text) => Operand::Values(CellType::Text, vec![text]),
                    None => return wrong("a text"),
                }
            }
            Comparison::Equal | Comparison::NotEqual => match operand(value.as_ref()) {
                Some(operand) => operand,
                None => return wrong("a text, a number or a boolean"),
            },
            Comparison::Less | Comparison::AtMost | Comparison::Greater | Comparison::AtLeast => {
                match operand(value.as_ref()) {
                    Some(operand @ Operand::Values(..)) => operand,
                    Some(Operand::None | Operand::Bool(_)) | None => return wrong("a text or a number"),
                }
            }
        };
        Some(Self { column, is: *is, value })
    }

    fn holds(&self, row: &Row, empty: Empty) -> Result<bool, String> {
        let found = row.get(self.column);
        let (as_type, values) = match &self.value {
            Operand::None => return Ok(cell::is_empty(found) == (self.is == Comparison::Empty)),
            Operand::Bool(expected) => return self.is_boolean(found, *expected, empty),
            Operand::Values(as_type, values) => (*as_type, values),
        };
        // An empty text is a text.
        let is_missing = match as_type {
            CellType::Text => found.is_none_or(Json::is_null),
            CellType::Number => cell::is_empty(found),
        };
        let Some(found) = found.filter(|_| !is_missing) else { return missing(empty) };
        let found = cell::read(found, as_type)?;
        Ok(values.iter().any(|value| self.is.compare(&found, value)) != (self.is == Comparison::NotEqual))
    }

    fn is_boolean(&self, found: Option<&Json>, expected: bool, empty: Empty) -> Result<bool, String> {
        let Some(found) = found.filter(|_| !cell::is_empty(found)) else { return missing(empty) };
        let is = found.parse::<bool>().map_err(|_| {
            format!(
                "expected a boolean, got {}; a text is compared with a text, such as \"true\"",
                shown(found)
            )
        })?;
        Ok((is == expected) == (self.is == Comparison::Equal))
    }
}

fn missing(empty: Empty) -> Result<bool, String> {
    match empty {
        Empty::Skip => Ok(false),
        Empty::Fail => Err("there is no value to compare; `empty: skip` leaves such rows out".to_owned()),
    }
}

fn operand(value: Option<&Json>) -> Option<Operand> {
    let value = value?;
    if let Ok(value) = value.parse::<bool>() {
        return Some(Operand::Bool(value));
    }
    operands(std::slice::from_ref(value))
}

/// Values of one type.
fn operands(values: &[Json]) -> Option<Operand> {
    let is_text = |value: &Json| value.as_str().trim().starts_with('"');
    let as_type = if values.iter().all(is_text) {
        CellType::Text
    } else if values.iter().any(is_text) {
        return None;
    } else {
        CellType::Number
    };
    let values: Result<Vec<_>, _> = values.iter().map(|value| cell::read(value, as_type)).collect();
    values.ok().map(|values| Operand::Values(as_type, values))
}

impl Comparison {
    /// Whether the comparison holds; for `notEqual` whether it does not.
    fn compare(self, found: &CellValue, value: &CellValue) -> bool {
        let order = found.order(value);
        let text = |test: fn(&str, &str) -> bool| match (found, value) {
            (CellValue::Text(found), CellValue::Text(value)) => test(found, value),
            (CellValue::Text(_) | CellValue::Number(_), CellValue::Text(_) | CellValue::Number(_)) => false,
        };
        match self {
            Self::Equal | Self::NotEqual | Self::OneOf => order == Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::AtMost => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::AtLeast => order != Ordering::Less,
            Self::Contains => text(|found, value| found.contains(value)),
            Self::StartsWith => text(|found, value| found.starts_with(value)),
            Self::EndsWith => text(|found, value| found.ends_with(value)),
            Self::Empty | Self::NotEmpty => false,
        }
    }
}
