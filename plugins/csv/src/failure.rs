//! Failures and errors of the executor.

use phasm_sdk::prelude::*;

/// Problems that a message has at most.
const MAX_SHOWN: usize = 20;

/// Code 3 for inputs that do not fit.
pub(crate) fn input(message: impl Into<String>) -> Outcome {
    Outcome::error(message).kind("input").retryable(false)
}

/// Code 2 for rows that do not fit the operation.
pub(crate) fn rows(kind: &str, message: impl Into<String>) -> Outcome {
    Outcome::failed(message).kind(kind).retryable(false)
}

/// Code 2 for more rows than allowed.
pub(crate) fn too_many(what: &str, limit: usize) -> Outcome {
    rows("too-large", format!("{what} more than {limit} rows; `maxRows` sets the limit"))
}

/// Collects what is wrong with cells, up to a number that a message can hold.
#[derive(Default)]
pub(crate) struct Faults {
    shown: Vec<String>,
    count: usize,
}

impl Faults {
    pub(crate) fn push(&mut self, fault: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < MAX_SHOWN {
            self.shown.push(fault());
        }
    }

    /// Code 2 if there is a fault.
    pub(crate) fn result(self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let mut message = self.shown.join("; ");
        if self.count > self.shown.len() {
            message.push_str(&format!("; and {} more", self.count - self.shown.len()));
        }
        Err(rows("cell", message))
    }
}

/// Refuses inputs that the operation does not read: they would have no effect.
pub(crate) fn unread(given: &[(&str, bool, &str)], operation: &str) -> Result<()> {
    let unread: Vec<String> = given
        .iter()
        .filter(|(_, is_given, reader)| *is_given && *reader != operation)
        .map(|(name, _, reader)| format!("input `{name}`: only `{reader}` reads it, not `{operation}`"))
        .collect();
    if unread.is_empty() { Ok(()) } else { Err(input(unread.join("; "))) }
}
