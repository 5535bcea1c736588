//! Violations of a schema, as values and in words.

use jsonschema::ValidationError;
use phasm_sdk::prelude::*;

/// Characters of a message; a longer one repeats a large value.
const MAX_MESSAGE_CHARS: usize = 300;
/// Violations in the message of the outcome.
const MAX_IN_MESSAGE: usize = 10;

/// Violations of a value.
pub(crate) struct Report {
    pub(crate) listed: Vec<Value>,
    pub(crate) count: usize,
}

/// Counts all violations, and lists the first ones.
pub(crate) fn of<'e>(errors: impl Iterator<Item = ValidationError<'e>>, max: usize) -> Report {
    let mut report = Report { listed: Vec::new(), count: 0 };
    for error in errors {
        report.count += 1;
        if report.listed.len() < max {
            report.listed.push(json!({
                "path": error.instance_path().as_str(),
                "keyword": error.kind().keyword(),
                "message": message(&error),
                "schemaPath": error.schema_path().as_str(),
            }));
        }
    }
    report
}

/// Says what is wrong. A value that is too large to be repeated is called `value`.
fn message(error: &ValidationError<'_>) -> String {
    let message = error.to_string();
    if message.chars().count() <= MAX_MESSAGE_CHARS {
        return message;
    }
    let masked = error.masked().to_string();
    let mut shown: String = masked.chars().take(MAX_MESSAGE_CHARS).collect();
    if shown.len() < masked.len() {
        shown.push('…');
    }
    shown
}

impl Report {
    /// The violations in a sentence; those without a path are of `whole`.
    pub(crate) fn summary(&self, whole: &str) -> String {
        let text = |violation: &Value, key: &str| {
            violation.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut parts: Vec<String> = self
            .listed
            .iter()
            .take(MAX_IN_MESSAGE)
            .map(|violation| {
                let path = text(violation, "path");
                let place = if path.is_empty() { whole.to_owned() } else { format!("`{path}`") };
                format!("{place}: {}", text(violation, "message"))
            })
            .collect();
        if self.count > parts.len() {
            parts.push(format!("{} more are counted in the outputs", self.count - parts.len()));
        }
        parts.join("; ")
    }
}
