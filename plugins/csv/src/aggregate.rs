//! A row for each group, with results over its rows.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use phasm_sdk::{inputs::Object, number, prelude::*};

use crate::{
    CellType, Empty, Task,
    cell::{self, CellValue},
    decimal::Decimal,
    failure::{self, Faults},
    table::{Row, Table, check},
};

inputs! {
    /// A result over the rows of a group.
    pub struct Measure {
        /// Name of the column with the result.
        name: String,
        /// Function over the cells.
        function: Function,
        /// The column; `count` without one counts rows.
        column: Option<String>,
        /// How `min` and `max` compare cells.
        cell_type as "type": CellType = CellType::Number,
    }
}

inputs! {
    /// Functions over the cells of a column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Function {
        /// Number of rows, or of cells that have a value.
        Count = "count",
        /// Exact sum.
        Sum = "sum",
        /// Smallest value.
        Min = "min",
        /// Largest value.
        Max = "max",
        /// Sum divided by the number of values.
        Mean = "mean",
    }
}

/// State of a measure in a group.
#[derive(Default)]
struct Total {
    count: u64,
    /// `None` if it has become too large.
    sum: Option<Decimal>,
    best: Option<CellValue>,
}

struct Group<'t> {
    first: &'t Row,
    totals: Vec<Total>,
}

pub(crate) fn aggregate(table: &Table, task: &Task) -> Result<Table> {
    check(&problems(table, task))?;
    let mut faults = Faults::default();
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let none = Row::default();
    let fresh = |first| Group { first, totals: task.compute.iter().map(Total::of).collect() };
    if task.group_by.is_empty() {
        places.insert(Vec::new(), 0);
        groups.push(fresh(&none));
    }
    for (at, row) in table.rows.iter().enumerate() {
        let mut key = Vec::with_capacity(task.group_by.len());
        for column in &task.group_by {
            match cell::identity(row.get(column)) {
                Ok(value) => key.push(value),
                Err(why) => faults.push(|| format!("row {}, column `{column}`: {why}", at + 1)),
            }
        }
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(fresh(row));
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(place) else { continue };
        for (measure, total) in task.compute.iter().zip(&mut group.totals) {
            if let Err(why) = total.add(measure, row, task.empty) {
                let column = measure.column.as_deref().unwrap_or_default();
                faults.push(|| format!("row {}, column `{column}`: {why}", at + 1));
            }
        }
    }
    faults.result()?;
    let columns: Vec<String> = task
        .group_by
        .iter()
        .cloned()
        .chain(task.compute.iter().map(|measure| measure.name.clone()))
        .collect();
    let rows: Result<Vec<Row>> = groups.iter().map(|group| group.row(task)).collect();
    Ok(Table { columns, rows: rows? })
}

fn problems(table: &Table, task: &Task) -> Vec<String> {
    let mut problems = table.missing("groupBy", task.group_by.iter().map(String::as_str));
    let measured = task.compute.iter().filter_map(|measure| measure.column.as_deref());
    problems.extend(table.missing("compute", measured));
    if task.compute.is_empty() && task.group_by.is_empty() {
        problems.push("inputs `compute` and `groupBy` are missing; expected one of them".to_owned());
    }
    let mut names = BTreeSet::new();
    let all = task.group_by.iter().chain(task.compute.iter().map(|measure| &measure.name));
    for twice in all.filter(|name| !names.insert(name.as_str())) {
        problems
            .push(format!("inputs `groupBy` and `compute`: expected each name once, got `{twice}` twice"));
    }
    for measure in &task.compute {
        let Measure { name, function, column, cell_type } = &measure.0;
        if column.is_none() && *function != Function::Count {
            problems.push(format!("input `compute`: `column` of `{name}` is missing; expected the column"));
        }
        if *cell_type == CellType::Text && matches!(function, Function::Sum | Function::Mean) {
            problems.push(format!(
                "input `compute`: expected `type: number` for `{name}`, got `text`; texts have no sum and no mean"
            ));
        }
    }
    problems
}

impl Total {
    fn of(_: &Object<Measure>) -> Self {
        Self { count: 0, sum: Some(Decimal::ZERO), best: None }
    }

    fn add(&mut self, measure: &Measure, row: &Row, empty: Empty) -> Result<(), String> {
        let Some(column) = &measure.column else {
            self.count += 1;
            return Ok(());
        };
        let found = row.get(column);
        let is_count = measure.function == Function::Count;
        let Some(found) = found.filter(|_| !cell::is_empty(found)) else {
            return match empty {
                Empty::Fail if !is_count => {
                    Err("there is no value; `empty: skip` leaves such cells out".to_owned())
                }
                Empty::Fail | Empty::Skip => Ok(()),
            };
        };
        self.count += 1;
        if is_count {
            return Ok(());
        }
        let value = cell::read(found, measure.cell_type)?;
        if let CellValue::Number(number) = &value {
            self.sum = self.sum.and_then(|sum| sum.plus(*number));
        }
        let better = if measure.function == Function::Min { Ordering::Less } else { Ordering::Greater };
        if self.best.as_ref().is_none_or(|best| value.order(best) == better) {
            self.best = Some(value);
        }
        Ok(())
    }

    fn result(&self, measure: &Measure) -> Result<Json> {
        let Measure { name, function, .. } = measure;
        let null = || Json::from_text("null");
        let too_large = || {
            let what = "has more than 36 digits; expected a sum that a number can hold";
            failure::rows("number", format!("the {} for `{name}` {what}", function.noun()))
        };
        match function {
            Function::Count => Ok(Json::of(&self.count)?),
            Function::Sum => kept(self.sum.ok_or_else(too_large)?.to_string(), measure),
            Function::Mean if self.count == 0 => Ok(null()),
            Function::Mean => {
                let mean = self.sum.ok_or_else(too_large)?.divided_by(self.count);
                if number::is_kept(&mean) {
                    return Ok(Json::from_text(mean));
                }
                Ok(Json::of(&mean.parse::<f64>().or_error("the mean is no number")?)?)
            }
            Function::Min | Function::Max => match &self.best {
                None => Ok(null()),
                Some(CellValue::Text(text)) => Ok(Json::of(text)?),
                Some(CellValue::Number(number)) => kept(number.to_string(), measure),
            },
        }
    }
}

/// Code 2 for a number that the host could not keep.
fn kept(text: String, measure: &Measure) -> Result<Json> {
    if number::is_kept(&text) {
        return Ok(Json::from_text(text));
    }
    let message =
        format!("the {} for `{}`: {}", measure.function.noun(), measure.name, number::complaint(&text));
    Err(failure::rows("number", message))
}

impl Function {
    fn noun(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "minimum",
            Self::Max => "maximum",
            Self::Mean => "mean",
        }
    }
}

impl Group<'_> {
    fn row(&self, task: &Task) -> Result<Row> {
        let value = |column: &str| self.first.get(column).cloned().unwrap_or_else(|| Json::from_text("null"));
        let mut cells: Vec<(String, Json)> =
            task.group_by.iter().map(|column| (column.clone(), value(column))).collect();
        for (measure, total) in task.compute.iter().zip(&self.totals) {
            cells.push((measure.name.clone(), total.result(measure)?));
        }
        Ok(Row(cells))
    }
}
