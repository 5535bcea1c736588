//! Some columns, possibly under other names.

use std::collections::{BTreeMap, BTreeSet};

use phasm_sdk::prelude::*;

use crate::{
    Task,
    table::{Row, Table, check, shown},
};

pub(crate) fn select(table: Table, task: &Task) -> Result<Table> {
    let mut problems = table.missing("columns", task.columns.iter().map(String::as_str));
    if task.columns.is_empty() {
        problems.push("input `columns` is missing; expected the columns to keep".to_owned());
    }
    let mut names = BTreeMap::new();
    for (old, new) in task.rename.iter() {
        match new.parse::<String>() {
            Ok(_) if !task.columns.iter().any(|column| column == old) => problems.push(format!(
                "input `rename`: expected names of `columns`, got `{old}`; a column that is renamed is kept, too"
            )),
            Ok(name) => drop(names.insert(old, name)),
            Err(_) => problems
                .push(format!("input `rename`: expected the new name of `{old}` as a text, got {}", shown(new))),
        }
    }
    let new_name = |column: &String| names.get(column.as_str()).cloned().unwrap_or_else(|| column.clone());
    let columns: Vec<String> = task.columns.iter().map(new_name).collect();
    let mut known = BTreeSet::new();
    for twice in columns.iter().filter(|name| !known.insert(name.as_str())) {
        problems
            .push(format!("inputs `columns` and `rename`: expected each column once, got `{twice}` twice"));
    }
    check(&problems)?;
    let null = Json::from_text("null");
    let rows = table.rows.iter().map(|row| {
        let cells = task.columns.iter().map(|column| row.get(column).unwrap_or(&null).clone());
        Row(columns.iter().cloned().zip(cells).collect())
    });
    Ok(Table { rows: rows.collect(), columns })
}
