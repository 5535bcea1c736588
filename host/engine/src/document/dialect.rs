//! The languages of workflow files, and everything in which they differ. [The page](../../../docs/reference/dialect.md) has the same table.

use std::sync::Arc;

use super::setting;
use crate::{
    form::{Defs, Object, Report, Site, Spellings, Words, listed},
    problem::{Problem, codes::shape::OTHER_DIALECT},
    settings::Expiry,
    time::Millis,
};

/// `apiVersion`: the language of a workflow file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The word that names it.
    pub(crate) name: &'static str,
    /// Longest active time of a run whose file has no `spec.timeout`.
    pub(crate) run_timeout: Option<Millis>,
    /// End of a task by `maxRuntime`, `maxInactivity` or `deadline` without `errorOnTimeout`.
    pub(crate) expiry: Expiry,
    /// Whether `retry` may be written with `attempts`, `backoff` and `when`.
    pub(crate) retry_by_attempts: bool,
    /// Whether `retry` without a condition leaves out errors that the executor calls not retryable.
    pub(crate) retry_if_retryable: bool,
    /// Whether `inputs`, `outputs` and `arguments` may be written by name, and paths without `parameters`.
    pub(crate) short_forms: bool,
    /// Whether `spec.timeout` may be `{active: …}`.
    pub(crate) active_timeout: bool,
    /// Whether timeouts, delays and counts may be expressions of the workflow's parameters.
    pub(crate) setting_expressions: bool,
    /// Spellings in hints, of those that all dialects read, each with the one that this dialect has for it.
    spellings: &'static [(&'static str, &'static str)],
}

/// A row of the table of differences.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The subject.
    pub about: &'static str,
    /// The rule of `aether/v1`.
    pub aether: &'static str,
    /// The rule of `phasm/v1`.
    pub phasm: &'static str,
    /// The settings of a dialect that make the difference.
    pub settings: &'static [&'static str],
}

/// The table of differences, as the page shows it.
pub static DIFFERENCES: [Difference; 9] = [
    Difference {
        about: "a file without `spec.timeout`",
        aether: "the run ends after 1 h; waiting for people does not count",
        phasm: "the run has no time limit",
        settings: &["run_timeout"],
    },
    Difference {
        about: "a limit that does not count waiting for people",
        aether: "only the default is one",
        phasm: "`spec.timeout: {active: 1h}`",
        settings: &["active_timeout"],
    },
    Difference {
        about: "`maxRuntime`, `maxInactivity` or `deadline` runs out",
        aether: "the task ends Cancelled, unless `errorOnTimeout: true` makes it Error",
        phasm: "the task ends Timeout; with `errorOnTimeout: true` Error, with `false` Cancelled",
        settings: &["expiry"],
    },
    Difference {
        about: "timeouts, delays and counts",
        aether: "values",
        phasm: "also expressions of the workflow's parameters: `maxRuntime: \"{{ workflow.parameters.limit }}\"`",
        settings: &["setting_expressions"],
    },
    Difference {
        about: "parameters",
        aether: "lists of entries: `inputs: {parameters: [{name: x, value: 1}]}`",
        phasm: "also under their names: `inputs: {x: 1}`, `arguments: {x: 1}`, `outputs: {x: tasks.a.outputs.x}`, `parameters: {x: \
                {type: integer, default: 1}}`",
        settings: &["short_forms"],
    },
    Difference {
        about: "parameters of the workflow",
        aether: "`spec.arguments.parameters`",
        phasm: "also `spec.parameters`",
        settings: &["short_forms"],
    },
    Difference {
        about: "paths in expressions",
        aether: "`inputs.parameters.x`, `tasks.a.outputs.parameters.x`",
        phasm: "also `inputs.x`, `tasks.a.outputs.x`",
        settings: &["short_forms"],
    },
    Difference {
        about: "`retry`",
        aether: "`limit` or `maxAttempts`, `exponentialBackoff`, `expression`",
        phasm: "`attempts`, `backoff`, `when`; the others are understood as well",
        settings: &["retry_by_attempts"],
    },
    Difference {
        about: "`retry` without a condition, after an error that the executor calls not retryable, such as a missing grant",
        aether: "another attempt, as after each Error and Timeout",
        phasm: "no other attempt",
        settings: &["retry_if_retryable"],
    },
];

/// The language of the seeds.
pub(crate) static AETHER: Dialect = Dialect {
    name: "aether/v1",
    run_timeout: Some(60 * 60 * 1000),
    expiry: Expiry::Cancelled,
    retry_by_attempts: false,
    retry_if_retryable: false,
    short_forms: false,
    active_timeout: false,
    setting_expressions: false,
    spellings: &[("`when`, in `aether/v1` `expression`", "`expression`")],
};

/// The language of new files.
pub(crate) static PHASM: Dialect = Dialect {
    name: "phasm/v1",
    run_timeout: None,
    expiry: Expiry::Timeout,
    retry_by_attempts: true,
    retry_if_retryable: true,
    short_forms: true,
    active_timeout: true,
    setting_expressions: true,
    spellings: &[
        ("`arguments: {parameters: [{name: …, value: …}]}`", "`arguments: {name: value}`"),
        ("`arguments: {parameters: [{name: …, default: …}]}`", "`parameters: {name: {default: …}}`"),
        ("`retry: {limit: 3, delay: 10s}`", "`retry: {attempts: 4, delay: 10s}`"),
        ("`when`, in `aether/v1` `expression`", "`when`"),
    ],
};

/// The dialect of the file that a report is about.
struct DialectOfFile(&'static Dialect);

impl Words for &'static Dialect {
    const WORDS: &'static [(&'static str, Self)] = &[("phasm/v1", &PHASM), ("aether/v1", &AETHER)];
}

impl Dialect {
    /// Makes it the dialect of everything that is read with `report`.
    pub(super) fn begin(&'static self, report: &Report) {
        report.provide(Arc::new(DialectOfFile(self)));
        if self.setting_expressions {
            setting::begin(report);
        }
        report.provide(Arc::new(Spellings(self.spellings)));
    }

    /// Returns the dialect of what is read: a plugin's manifest, which serves files of all dialects, has every field.
    pub(super) fn of(report: &Report) -> &'static Self {
        report.provided::<DialectOfFile>().map_or(&PHASM, |file| file.0)
    }

    /// Returns the dialect whose schema is made.
    pub(super) fn of_schema(defs: &Defs) -> &'static Self {
        defs.context::<&'static Self>().map_or(&PHASM, |dialect| *dialect)
    }

    /// Reports fields that the dialect does not have, and names those that it has instead.
    pub(super) fn refuse(&self, fields: &[&'static str], instead: &[&str], object: &Object<'_, '_>) {
        for field in fields {
            if let Some(site) = object.key_site(field) {
                object.report.problem(self.problem(&format!("`{field}`"), &listed(instead), &site));
            }
        }
    }

    /// Returns the problem of a spelling that only `phasm/v1` has.
    pub(super) fn problem(&self, found: &str, expected: &str, site: &Site) -> Problem {
        let message = format!("{found} in a file of `{}`; expected {expected}", self.name);
        let hint =
            format!("write `apiVersion: {}` at the top to use it, and see the other differences", PHASM.name);
        site.problem(&OTHER_DIALECT, message).with_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The settings of a dialect with their values.
    fn settings(dialect: &Dialect) -> BTreeSet<(String, String)> {
        let all = format!("{dialect:#?}");
        // Hints are no part of the language.
        let text = all
            .split("spellings:")
            .next()
            .unwrap()
            .replace("\n        ", " ")
            .replace("\n    }", " }")
            .replace("\n    )", " )");
        let pair = |line: &str| {
            let (name, value) = line.trim().trim_end_matches(',').split_once(": ")?;
            Some((name.to_owned(), value.to_owned()))
        };
        text.lines().filter_map(pair).filter(|(name, _)| name != "name").collect()
    }

    /// R-W21: each setting that differs has its row, and nothing else has one.
    #[test]
    fn the_table_has_every_setting_that_differs() {
        let (aether, phasm) = (settings(&AETHER), settings(&PHASM));
        let all: BTreeSet<_> = aether.iter().map(|(name, _)| name.as_str()).collect();
        let same: Vec<_> = aether.intersection(&phasm).collect();
        assert!(all.len() >= 6 && same.is_empty(), "{all:?} {same:?}");
        let told: BTreeSet<_> = DIFFERENCES.iter().flat_map(|row| row.settings).copied().collect();
        assert_eq!(told, all);
    }
}
