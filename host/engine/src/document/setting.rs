//! Settings that are expressions of the workflow's parameters: timeouts, delays and counts of `phasm/v1`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    form::{Cursor, KnownSetting, Report, SettingExpressions, Site, WrittenSetting, joined},
    names::workflow_parameter,
    problem::{Problem, codes::bindings::UNBOUND_SETTING},
    value::Value,
};

use super::ValueDoc;

/// Parameters that a hint names.
const MAX_NAMES: usize = 5;

/// A setting that is an expression, as written.
#[derive(Debug)]
pub(crate) struct SettingDoc {
    /// The text as a whole, with its braces.
    pub(crate) source: Arc<str>,
    pub(crate) value: ValueDoc,
    /// The value that the setting was read with.
    pub(crate) known: Option<Value>,
}

/// Values of the expressions by the paths of their settings, or why they have none.
pub(crate) type SettingValues = BTreeMap<String, Result<Value, String>>;

/// The expressions that were found in a document while it was read, and the values of those that are known.
#[derive(Default)]
pub(crate) struct Settings {
    values: SettingValues,
    found: Mutex<Vec<SettingDoc>>,
}

impl Settings {
    /// Settings with these expressions known.
    pub(crate) fn with(values: SettingValues) -> Self {
        Self { values, found: Mutex::default() }
    }
}

/// Lets the settings of the document be expressions.
pub(super) fn begin(report: &Report) {
    // Unless the values of some are known.
    report.provide(Arc::new(Settings::default()));
    report.provide(Arc::new(SettingExpressions(read)));
}

/// Returns the expressions that were found.
pub(super) fn found(report: &Report) -> Vec<SettingDoc> {
    let settings = report.provided::<Settings>();
    settings.map(|settings| std::mem::take(&mut *found_in(&settings))).unwrap_or_default()
}

fn found_in(settings: &Settings) -> std::sync::MutexGuard<'_, Vec<SettingDoc>> {
    settings.found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The problem of an expression that has no value.
pub(crate) fn uncalculated(source: &str, site: &Site, why: &str) -> Problem {
    let message = format!("`{source}` cannot be calculated: {why}; expected parameters for which it can");
    site.problem(&UNBOUND_SETTING, message)
        .with_hint("give the run other parameters, or change the expression")
}

/// Names the parameters that an expression reads.
fn hint(value: &ValueDoc) -> String {
    let names: BTreeSet<String> = value
        .reads()
        .filter_map(|found| workflow_parameter(&found.read.path)?.first().map(ToString::to_string))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).take(MAX_NAMES).collect();
    match names.as_slice() {
        [] => "change the expression".to_owned(),
        [name] => format!("give the parameter `{name}` another value, or change the expression"),
        names => format!("it follows from the parameters {}", joined(names, "and")),
    }
}

fn read(cursor: &Cursor<'_>, source: Arc<str>, report: &Report) -> WrittenSetting {
    let Some(settings) = report.provided::<Settings>().filter(|_| source.contains("{{")) else {
        return WrittenSetting::Plain;
    };
    let Some(value) = ValueDoc::read(false, cursor, report) else { return WrittenSetting::Wrong };
    if value.value.is_literal() {
        return WrittenSetting::Plain;
    }
    let known = settings.values.get(&cursor.path.to_string()).cloned();
    let add = |known: Option<Value>| {
        found_in(&settings).push(SettingDoc { source: Arc::clone(&source), value: value.clone(), known });
    };
    match known {
        None => {
            add(None);
            WrittenSetting::Unknown
        }
        Some(Ok(known)) => {
            add(Some(known.clone()));
            let hint = hint(&value);
            WrittenSetting::Known(KnownSetting { value: known, source, hint })
        }
        Some(Err(why)) => {
            add(None);
            report.problem(uncalculated(&source, &cursor.site(), &why));
            WrittenSetting::Wrong
        }
    }
}
