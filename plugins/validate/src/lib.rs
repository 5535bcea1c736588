//! Checks a value against a JSON Schema, and names all places where it does not fit.

mod report;
mod schema;

use phasm_sdk::prelude::*;

inputs! {
    /// A value and its schema.
    pub struct Task {
        /// Value to check; absent is null.
        value: Option<Json>,
        /// The JSON Schema, an object or a boolean.
        schema: Json,
        /// Draft of a schema that has no `$schema`.
        draft: schema::DraftName = schema::DraftName::Draft202012,
        /// Whether `format` is checked.
        formats: bool = true,
        /// Effect of a value that does not fit.
        invalid: Invalid = Invalid::Fail,
        /// Violations that are listed; all are counted.
        max_violations as "maxViolations": usize = 100,
    }
}

inputs! {
    /// Effect of a value that does not fit.
    #[derive(Clone, Copy)]
    pub enum Invalid {
        /// The task fails.
        Fail = "fail",
        /// The task succeeds, and its output `valid` is false.
        Report = "report",
    }
}

/// Checks the value.
///
/// # Errors
///
/// Code 2 for a value that does not fit, code 3 for bad inputs and a schema that is none.
pub fn validate(call: Call<Task>) -> Result {
    let task = call.inputs;
    let validator = schema::compile(&task)?;
    let value: Value = match &task.value {
        Some(value) => value
            .parse()
            .map_err(|why| Outcome::error(format!("input `value`: {why}")).kind("input").retryable(false))?,
        None => Value::Null,
    };
    let report = report::of(validator.iter_errors(&value), task.max_violations);
    let valid = report.count == 0;
    let outcome = match task.invalid {
        Invalid::Fail if !valid => {
            Outcome::failed(format!("the value does not fit its schema: {}", report.summary("the value")))
                .kind("invalid")
                .retryable(false)
        }
        Invalid::Fail | Invalid::Report => Outcome::succeeded(),
    };
    Ok(outcome.output("valid", valid).output("violations", report.listed).output("count", report.count))
}

executor!(validate, {
    outputs: {
        /// Whether the value fits its schema.
        valid: bool,
        /// Violations with `path`, `keyword`, `message` and `schemaPath`.
        violations: Vec<Json>,
        /// Number of violations, listed or not.
        count: u64,
    },
    deterministic: true,
    examples: [
        { name: "takes what fits", inputs: { schema: { type: "integer" }, value: 1 }, outputs: { valid: true, count: 0 } },
        {
            name: "reports violations",
            inputs: { invalid: "report", schema: { type: "integer", minimum: 1 }, value: 0 },
            outputs: { valid: false, count: 1 },
        },
    ],
});

#[cfg(test)]
mod tests;
