//! Runs SQL in a PostgreSQL database.

mod array;
mod client;
mod fault;
mod form;
mod params;
mod query;
mod rows;
mod target;

use std::time::Duration;

use client::Client;
use fault::Fault;
use phasm_sdk::{duration::Millis, prelude::*};
use rows::{Limits, Table};
use target::Target;

inputs! {
    /// A database, and SQL for it.
    pub struct Task {
        /// SQL: a statement, or several with `;` between them, which have no `params`.
        command: String,
        /// Values of `$1`, `$2` and so on.
        params: Vec<Json> = Vec::new(),
        /// Name of a variable of this plugin's environment that has the URL; the operator grants it.
        auth: Option<String>,
        /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
        url: Option<String>,
        /// Host of the server; replaces the one of the URL, as the following ones do.
        host: Option<String>,
        /// Port of the server, else 5432.
        port: Option<u16>,
        /// Database, else the one with the user's name.
        database: Option<String>,
        /// User, else `postgres`.
        user: Option<String>,
        /// Password, so that it can come from a secret.
        password: Option<String>,
        /// Time after which the server ends a statement; the time that the attempt has left, if that is shorter.
        timeout: Option<Millis>,
        /// Rows of a statement; more are an error.
        max_rows as "maxRows": u32 = 10_000,
        /// Size of all rows as JSON, in bytes; more is an error.
        max_bytes as "maxBytes": u64 = 4 << 20,
    }
}

/// The part of the remaining time that is left for the way back, at most.
const MAX_MARGIN: Duration = Duration::from_millis(250);

/// Runs the command on a connection of its own.
///
/// # Errors
///
/// Code 2 for SQL that would fail again, 3 where another attempt may succeed, and for mistakes, 4 for a statement that takes too long.
pub fn postgres(call: Call<Task>) -> Result {
    let target = Target::of(&call.inputs)?;
    let timeout = statement_timeout(call.inputs.timeout, call.remaining);
    let limits = Limits { rows: call.inputs.max_rows, bytes: call.inputs.max_bytes };
    let mut client = Client::connect(&target, timeout).map_err(Fault::outcome)?;
    let ran = query::run(&mut client, &call.inputs.command, &call.inputs.params, limits);
    client.close();
    ran.map(outcome).map_err(Fault::outcome)
}

/// Returns the time after which the server ends a statement, so that its error arrives before the attempt is over.
fn statement_timeout(asked: Option<Millis>, remaining: Option<Duration>) -> Option<Duration> {
    let remaining = remaining.map(|all| all.saturating_sub(MAX_MARGIN.min(all / 10)));
    let shorter = match (asked.map(Duration::from), remaining) {
        (Some(asked), Some(remaining)) => asked.min(remaining),
        (one, other) => one.or(other)?,
    };
    // The server takes 0 for no limit.
    Some(shorter.max(Duration::from_millis(1)))
}

/// Outputs of the last statement that returned rows, or else of the last one, and of all if there are several.
fn outcome(tables: Vec<Table>) -> Outcome {
    let outcome = Outcome::succeeded();
    let shown = tables.iter().rposition(Table::has_rows).or_else(|| tables.len().checked_sub(1));
    let outcome = match shown.and_then(|at| tables.get(at)) {
        None => outcome.output("command", "").output("rowCount", 0),
        Some(table) => {
            let outcome = outcome.output("command", table.command()).output("rowCount", table.row_count());
            if table.has_rows() {
                outcome.output_json("rows", table.rows()).output_json("columns", table.columns())
            } else {
                outcome
            }
        }
    };
    if tables.len() < 2 {
        return outcome;
    }
    let all: Vec<String> = tables.iter().map(Table::to_json).collect();
    outcome.output_json("results", Json::from_text(format!("[{}]", all.join(","))))
}

executor!(postgres, {
    outputs: {
        /// Kind of the statement, such as `INSERT`.
        command: String,
        /// Rows that the statement returned, or else changed.
        row_count as "rowCount": u64,
        /// Rows by column name, if the statement returns any.
        rows: Option<Json>,
        /// Names and types of the columns.
        columns: Option<Json>,
        /// `command`, `rowCount`, `rows` and `columns` of each statement, if there are several.
        results: Option<Json>,
    },
    examples: [
        { name: "needs a database", inputs: { command: "select 1" }, code: 3, message: "input `host` is missing" },
        {
            name: "has no TLS",
            inputs: { command: "select 1", url: "postgres://ada@db.example.com/shop?sslmode=require" },
            code: 3,
            message: "TLS",
        },
    ],
});

#[cfg(test)]
mod tests;
