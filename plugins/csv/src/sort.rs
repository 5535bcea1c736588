//! The rows in order.

use std::cmp::Ordering;

use phasm_sdk::{inputs::Object, prelude::*};

use crate::{
    CellType, Empty, Task,
    cell::{self, CellValue},
    failure::Faults,
    table::{Row, Table, check},
};

inputs! {
    /// A column that rows are sorted by.
    pub struct Key {
        /// The column.
        column: String,
        /// How its cells are compared.
        cell_type as "type": CellType = CellType::Text,
        /// The largest is first.
        descending: bool = false,
    }
}

/// Sorts the rows; those that are equal stay in their order.
pub(crate) fn sort(table: Table, task: &Task) -> Result<Table> {
    let mut problems = table.missing("by", task.by.iter().map(|key| key.column.as_str()));
    if task.by.is_empty() {
        problems.push("input `by` is missing; expected the columns to sort by".to_owned());
    }
    check(&problems)?;
    let mut faults = Faults::default();
    let mut keyed: Vec<(Vec<Option<CellValue>>, Row)> = Vec::with_capacity(table.rows.len());
    for (at, row) in table.rows.into_iter().enumerate() {
        let mut keys = Vec::with_capacity(task.by.len());
        for key in &task.by {
            match value(&row, key, task.empty) {
                Ok(value) => keys.push(value),
                Err(why) => faults.push(|| format!("row {}, column `{}`: {why}", at + 1, key.column)),
            }
        }
        keyed.push((keys, row));
    }
    faults.result()?;
    keyed.sort_by(|(one, _), (other, _)| {
        let keys = task.by.iter().zip(one.iter().zip(other));
        keys.map(|(key, (one, other))| order(key, one.as_ref(), other.as_ref()))
            .find(|order| *order != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
    });
    Ok(Table { columns: table.columns, rows: keyed.into_iter().map(|(_, row)| row).collect() })
}

/// The value of a key, `None` for a cell that has none and may be last.
fn value(row: &Row, key: &Object<Key>, empty: Empty) -> Result<Option<CellValue>, String> {
    let found = row.get(&key.column);
    // An empty text is a text.
    let is_missing = match key.cell_type {
        CellType::Text => found.is_none_or(Json::is_null),
        CellType::Number => cell::is_empty(found),
    };
    match (found.filter(|_| !is_missing), empty) {
        (Some(found), _) => cell::read(found, key.cell_type).map(Some),
        (None, Empty::Skip) => Ok(None),
        (None, Empty::Fail) => {
            Err("there is no value to sort by; `empty: skip` puts such rows last".to_owned())
        }
    }
}

fn order(key: &Object<Key>, one: Option<&CellValue>, other: Option<&CellValue>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if key.descending => other.order(one),
        (Some(one), Some(other)) => one.order(other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
