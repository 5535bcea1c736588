//! Rows of two lists that are equal in some columns.

use std::collections::{BTreeMap, BTreeSet};

use phasm_sdk::prelude::*;

use crate::{
    Task,
    cell::identity,
    failure::{self, Faults},
    table::{self, Row, Table, check},
};

inputs! {
    /// Rows that a join keeps.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Keep {
        /// Pairs of rows.
        Inner = "inner",
        /// Pairs of rows, and rows of the left side that have no partner.
        Left = "left",
        /// Rows of the left side that have no partner.
        Unmatched = "unmatched",
    }
}

/// Values that partners have in common; `None` where one is missing, which equals nothing.
type CommonKey = Option<Vec<(&'static str, String)>>;

pub(crate) fn join(left: &Table, task: &Task) -> Result<Table> {
    let right = table::read("right", "rightText", task.right.as_ref(), task.right_text.as_deref(), task)?;
    let on = || task.on.iter().map(String::as_str);
    let mut problems = left.missing("on", on());
    problems
        .extend(right.missing("on", on()).into_iter().map(|problem| format!("{problem} on the right side")));
    if task.on.is_empty() {
        problems.push("input `on` is missing; expected the columns that both sides have".to_owned());
    }
    let added = added(left, &right, task, &mut problems);
    check(&problems)?;
    let mut faults = Faults::default();
    let left_keys = keys(left, task, "left", &mut faults);
    let right_keys = keys(&right, task, "right", &mut faults);
    faults.result()?;
    comparable(task, &left_keys, &right_keys)?;

    let mut partners: BTreeMap<&Vec<(&'static str, String)>, Vec<&Row>> = BTreeMap::new();
    for (key, row) in right_keys.iter().zip(&right.rows) {
        if let Some(key) = key {
            partners.entry(key).or_default().push(row);
        }
    }
    let mut rows = Vec::new();
    for (key, row) in left_keys.iter().zip(&left.rows) {
        let found = key.as_ref().and_then(|key| partners.get(key)).map_or(&[][..], Vec::as_slice);
        let is_alone = found.is_empty();
        let pairs = if task.keep == Keep::Unmatched { 0 } else { found.len() };
        let single = usize::from(is_alone && task.keep != Keep::Inner);
        if rows.len().saturating_add(pairs).saturating_add(single) > task.max_rows {
            return Err(failure::too_many("the join has", task.max_rows));
        }
        for partner in found.iter().take(pairs) {
            rows.push(joined(row, Some(partner), &added));
        }
        if single == 1 {
            let with_nulls = task.keep == Keep::Left;
            rows.push(if with_nulls { joined(row, None, &added) } else { row.clone() });
        }
    }
    let mut columns = left.columns.clone();
    if task.keep != Keep::Unmatched {
        columns.extend(added.into_iter().map(|(_, name)| name));
    }
    Ok(Table { columns, rows })
}

/// The right side's columns that are added, and their names in the result.
fn added(left: &Table, right: &Table, task: &Task, problems: &mut Vec<String>) -> Vec<(String, String)> {
    let mut known: BTreeSet<String> = left.columns.iter().cloned().collect();
    let others = right.columns.iter().filter(|column| !task.on.contains(column));
    let mut added = Vec::new();
    for column in others {
        let is_taken = left.columns.contains(column);
        let name = match &task.prefix {
            Some(prefix) if is_taken => format!("{prefix}{column}"),
            Some(_) | None => column.clone(),
        };
        if !known.insert(name.clone()) && task.keep != Keep::Unmatched {
            problems.push(format!(
                "both sides have a column `{name}`; `prefix` renames the columns of the right side, and `select` leaves \
                 some out"
            ));
        }
        added.push((column.clone(), name));
    }
    added
}

fn joined(left: &Row, right: Option<&Row>, added: &[(String, String)]) -> Row {
    let value = |column: &str| right.and_then(|row| row.get(column)).cloned();
    let cells = added
        .iter()
        .map(|(column, name)| (name.clone(), value(column).unwrap_or_else(|| Json::from_text("null"))));
    Row(left.0.iter().cloned().chain(cells).collect())
}

fn keys(table: &Table, task: &Task, side: &str, faults: &mut Faults) -> Vec<CommonKey> {
    let mut keys = Vec::with_capacity(table.rows.len());
    for (at, row) in table.rows.iter().enumerate() {
        let mut key = Some(Vec::with_capacity(task.on.len()));
        for column in &task.on {
            match identity(row.get(column)) {
                Ok(("null", _)) => key = None,
                Ok(value) => {
                    if let Some(values) = &mut key {
                        values.push(value);
                    }
                }
                Err(why) => {
                    faults.push(|| format!("row {} of the {side} side, column `{column}`: {why}", at + 1));
                }
            }
        }
        keys.push(key);
    }
    keys
}

/// Refuses columns that cannot be equal, as texts on one side are numbers on the other.
fn comparable(task: &Task, left: &[CommonKey], right: &[CommonKey]) -> Result<()> {
    let kinds = |keys: &[CommonKey], at: usize| -> BTreeSet<&'static str> {
        keys.iter().flatten().filter_map(|key| key.get(at)).map(|(kind, _)| *kind).collect()
    };
    let mut faults = Faults::default();
    for (at, column) in task.on.iter().enumerate() {
        let (left, right) = (kinds(left, at), kinds(right, at));
        if !left.is_empty() && !right.is_empty() && left.is_disjoint(&right) {
            let list = |kinds: BTreeSet<&str>| kinds.into_iter().collect::<Vec<_>>().join(" and ");
            faults.push(|| {
                format!(
                    "column `{column}` has the type {} on the left side and {} on the right side, which are never \
                     equal; write both as texts",
                    list(left),
                    list(right)
                )
            });
        }
    }
    faults.result()
}
