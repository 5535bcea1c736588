//! The languages of workflow files, and everything in which they differ. [The page](../../../docs/reference/dialect.md) has the same table.

use std::sync::Arc;

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
    /// Whether `inputs`, `outputs` and `arguments` may be written by name, and paths without `parameters`.
    pub(crate) short_forms: bool,
    /// Whether `spec.timeout` may be `{active: …}`.
    pub(crate) active_timeout: bool,
    /// Spellings in hints, of those that all dialects read, each with the one that this dialect has for it.
    spellings: &'static [(&'static str, &'static str)],
}

/// The language of the seeds.
pub(crate) static AETHER: Dialect = Dialect {
    name: "aether/v1",
    run_timeout: Some(60 * 60 * 1000),
    expiry: Expiry::Cancelled,
    retry_by_attempts: false,
    short_forms: false,
    active_timeout: false,
    spellings: &[("`when`, in `aether/v1` `expression`", "`expression`")],
};

/// The language of new files.
pub(crate) static PHASM: Dialect = Dialect {
    name: "phasm/v1",
    run_timeout: None,
    expiry: Expiry::Timeout,
    retry_by_attempts: true,
    short_forms: true,
    active_timeout: true,
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
