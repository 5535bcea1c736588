//! The result of one attempt, and the phase it maps to.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{phase::Phase, text, usage::ResourceUsage, value::Value};

/// One attempt's result: all that a guest can produce, and what the host reports in its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The executor's integer code; never a phase.
    pub code: i32,
    /// A sentence for people; may be empty.
    pub message: Arc<str>,
    /// Named outputs in the executor's order; of equal names the last wins.
    pub outputs: Vec<Output>,
    /// An object with more about the result: `error.{kind, message, code, retryable}`, `http.status`, …
    pub detail: Option<Value>,
    /// Resources that the attempt used.
    pub metered: ResourceUsage,
}

/// A named value an executor returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Any non-empty name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Value,
}

impl Outcome {
    /// Code 0 with `outputs`.
    #[must_use]
    pub fn succeeded(outputs: Vec<Output>) -> Self {
        Self { outputs, ..Self::default() }
    }

    /// Code 1: the attempt waits until a user resumes it.
    #[must_use]
    pub fn suspended() -> Self {
        Self { code: code::SUSPENDED, ..Self::default() }
    }

    /// Code 2 and why: a failure that was expected.
    #[must_use]
    pub fn failed(message: impl Into<Arc<str>>) -> Self {
        Self { code: code::FAILED, message: message.into(), ..Self::default() }
    }

    /// Code 3 and why: what the host reports for a trap, a limit or a fault.
    #[must_use]
    pub fn error(message: impl Into<Arc<str>>) -> Self {
        Self { code: code::ERROR, message: message.into(), ..Self::default() }
    }

    /// Code 4: the attempt met a deadline.
    #[must_use]
    pub fn timeout(message: impl Into<Arc<str>>) -> Self {
        Self { code: code::TIMEOUT, message: message.into(), ..Self::default() }
    }

    /// The same as a run takes it: the message cut to what [is kept](text::MAX_BYTES), of outputs of equal names the last.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        if let Cow::Owned(cut) = text::brief(&self.message) {
            self.message = cut.into();
        }
        self.outputs = last_of_each(self.outputs);
        self
    }

    /// The same with one more output.
    #[must_use]
    pub fn output(mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.outputs.push(Output::new(name, value));
        self
    }
}

/// Names keep the place of their first.
fn last_of_each(outputs: Vec<Output>) -> Vec<Output> {
    let mut places = BTreeMap::new();
    for (at, output) in outputs.iter().enumerate() {
        places.entry(&output.name).or_insert((at, at)).1 = at;
    }
    if places.len() == outputs.len() {
        return outputs;
    }
    let mut places: Vec<_> = places.into_values().collect();
    places.sort_unstable();
    places.into_iter().filter_map(|(_, last)| outputs.get(last).cloned()).collect()
}

impl Output {
    /// An output of that name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// The codes with a meaning of their own (Aether).
pub mod code {
    /// Succeeded.
    pub const SUCCEEDED: i32 = 0;
    /// Suspended.
    pub const SUSPENDED: i32 = 1;
    /// Failed.
    pub const FAILED: i32 = 2;
    /// Error, as is every code not listed.
    pub const ERROR: i32 = 3;
    /// Timeout.
    pub const TIMEOUT: i32 = 4;
}

/// The table of Aether: the phase a code maps to when no condition decides.
#[must_use]
pub fn phase_of(code: i32) -> Phase {
    match code {
        code::SUCCEEDED => Phase::Succeeded,
        code::SUSPENDED => Phase::Suspended,
        code::FAILED => Phase::Failed,
        code::TIMEOUT => Phase::Timeout,
        _ => Phase::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_names_the_last_wins() {
        let output = |name: &str, value: i64| Output::new(name, value);
        let outcome =
            Outcome::succeeded(vec![output("b", 1), output("a", 2), output("b", 3), output("c", 4)]);
        let outcome = Outcome { message: "x".repeat(8 << 20).into(), ..outcome }.normalized();
        assert_eq!(outcome.outputs, [output("b", 3), output("a", 2), output("c", 4)]);
        assert_eq!(outcome.message.len(), text::MAX_BYTES);
    }

    /// Seed 001's table; any other code is Error (R-C6, R-P1).
    #[test]
    fn codes_map_to_phases() {
        let rows = [
            (0, Phase::Succeeded),
            (1, Phase::Suspended),
            (2, Phase::Failed),
            (3, Phase::Error),
            (4, Phase::Timeout),
            (5, Phase::Error),
            (-1, Phase::Error),
            (i32::MAX, Phase::Error),
        ];
        for (code, phase) in rows {
            assert_eq!(phase_of(code), phase, "code {code}");
        }
    }
}
