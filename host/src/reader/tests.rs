//! The readers, and with them the engine's checks: positions only exist where text was read.

mod bounds;
mod examples;
mod files;
mod mistakes;
mod mutations;
mod page;
mod places;
mod problems;
mod reading;

use phasm_engine::{
    plan::{Draft, Executors, Plan},
    problem::Problem,
    value::Value,
};

use super::read;

/// The plan of a document and its warnings, or its problems.
fn plan(text: &str) -> Result<Plan, Vec<Problem>> {
    read("test.yaml", text).and_then(|tree| Draft::read(&tree).plan(&Executors::any(), &Value::Null))
}

/// One line a problem: `code line:column path: message (hint)`.
fn lines(problems: &[Problem]) -> Vec<String> {
    let line = |p: &Problem| {
        let hint = p.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{} {}:{} {}: {}{hint}", p.code, p.line, p.column, p.path, p.message)
    };
    problems.iter().map(line).collect()
}
