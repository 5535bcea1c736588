//! Filters, sorts, joins and aggregates lists of objects and CSV text.
//!
//! A cell of CSV is a text. It is a number only where an input says so, and where it is none that is a failure.

mod aggregate;
mod cell;
mod decimal;
mod failure;
mod filter;
mod join;
mod select;
mod sort;
mod table;

use cell::CellType;
use phasm_sdk::{inputs::Object, prelude::*};

inputs! {
    /// Rows, and the operation on them.
    pub struct Task {
        /// Operation to perform.
        operation: Operation,
        /// Rows as a list of objects; either these or `text`.
        rows: Option<Json>,
        /// Rows as CSV text whose first row names the columns.
        text: Option<String>,
        /// CSV's delimiter, one ASCII character.
        delimiter: String = ",".to_owned(),
        /// Conditions of `filter`, each with `column`, `is` and `value`.
        conditions as "where": Vec<Object<filter::Condition>> = Vec::new(),
        /// Whether a row needs all conditions or any of them.
        needs: filter::Needs = filter::Needs::All,
        /// Columns that `select` keeps, in this order.
        columns: Vec<String> = Vec::new(),
        /// New names of columns by their old ones, for `select`.
        rename: Object<Inputs> = Object::default(),
        /// Keys of `sort`, the first one first, each with `column`, `type` and `descending`.
        by: Vec<Object<sort::Key>> = Vec::new(),
        /// Columns by which `aggregate` groups; without one there is a single group.
        group_by as "groupBy": Vec<String> = Vec::new(),
        /// Results of `aggregate` for each group, each with `name`, `function` and `column`.
        compute: Vec<Object<aggregate::Measure>> = Vec::new(),
        /// Rows of the right side of `join`, as a list of objects.
        right: Option<Json>,
        /// Rows of the right side of `join`, as CSV text.
        right_text as "rightText": Option<String>,
        /// Columns that are equal in joined rows, on both sides.
        on: Vec<String> = Vec::new(),
        /// Rows that `join` keeps.
        keep: join::Keep = join::Keep::Inner,
        /// Put before the names of the right side's columns that the left side has, too.
        prefix: Option<String>,
        /// Effect of a cell without a value among those that are calculated with.
        empty: Empty = Empty::Fail,
        /// The rows are returned as CSV text, too.
        render: bool = false,
        /// More rows, on either side or as a result, are a failure.
        max_rows as "maxRows": usize = 100_000,
    }
}

inputs! {
    /// Operations on rows.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// The rows that fulfil the conditions.
        Filter = "filter",
        /// Some columns, possibly under other names.
        Select = "select",
        /// A row for each group, with results over its rows.
        Aggregate = "aggregate",
        /// Rows of two lists that are equal in some columns.
        Join = "join",
        /// The rows in order.
        Sort = "sort",
    }
}

inputs! {
    /// Effect of a cell without a value: absent, null or an empty text.
    #[derive(Clone, Copy)]
    pub enum Empty {
        /// A failure.
        Fail = "fail",
        /// The cell is left out of calculations, and last in an order.
        Skip = "skip",
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for rows that do not fit the operation, code 3 for bad inputs.
pub fn csv(call: Call<Task>) -> Result {
    let task = call.inputs;
    refuse_unread(&task)?;
    let left = table::read("rows", "text", task.rows.as_ref(), task.text.as_deref(), &task)?;
    let result = match task.operation {
        Operation::Filter => filter::filter(left, &task)?,
        Operation::Select => select::select(left, &task)?,
        Operation::Aggregate => aggregate::aggregate(&left, &task)?,
        Operation::Join => join::join(&left, &task)?,
        Operation::Sort => sort::sort(left, &task)?,
    };
    let mut outcome = Outcome::succeeded().output("count", result.rows.len());
    if task.render {
        outcome = outcome.output("text", table::render(&result, &task)?);
    }
    Ok(outcome.output("rows", result))
}

fn refuse_unread(task: &Task) -> Result<()> {
    let operation = match task.operation {
        Operation::Filter => "filter",
        Operation::Select => "select",
        Operation::Aggregate => "aggregate",
        Operation::Join => "join",
        Operation::Sort => "sort",
    };
    let given = [
        ("where", !task.conditions.is_empty(), "filter"),
        ("columns", !task.columns.is_empty(), "select"),
        ("rename", !task.rename.is_empty(), "select"),
        ("by", !task.by.is_empty(), "sort"),
        ("groupBy", !task.group_by.is_empty(), "aggregate"),
        ("compute", !task.compute.is_empty(), "aggregate"),
        ("right", task.right.is_some(), "join"),
        ("rightText", task.right_text.is_some(), "join"),
        ("on", !task.on.is_empty(), "join"),
        ("prefix", task.prefix.is_some(), "join"),
    ];
    failure::unread(&given, operation)
}

executor!(csv, {
    outputs: {
        /// The rows, as a list of objects.
        rows: Vec<Json>,
        /// Number of rows.
        count: u64,
        /// The rows as CSV text, with `render`.
        text: Option<String>,
    },
    deterministic: true,
    examples: [
        {
            name: "filters rows",
            inputs: { text: "region,amount\neu,10.1\nus,9\n" },
            settings: { operation: "filter", where: [{ column: "amount", is: "atLeast", value: 10 }] },
            outputs: { count: 1 },
        },
    ],
});

#[cfg(test)]
mod tests;
