//! The default policies of a plugin's manifest.

use std::collections::BTreeMap;

use crate::{
    document::SettingsDoc,
    form::{Report, listed},
    names::{ROOTS, Visibility},
    problem::{Problem, codes::expressions::NOT_VISIBLE},
    suggest::did_you_mean,
    tree::Tree,
    value::{Map, Value},
};

/// The default policies of each executor type in use.
pub(in crate::plan) type Defaults<'a> = BTreeMap<&'a str, SettingsDoc>;

/// Everything that is wrong with the default policies of a plugin's manifest: an object with `retry`, `maxRuntime`,
/// `maxInactivity` and `deadline`.
#[must_use]
pub fn check_defaults(defaults: &Tree) -> Vec<Problem> {
    let (_, report) = read(defaults);
    report.into_parts().0
}

/// The defaults, and what is wrong with them.
pub(super) fn judged(defaults: &Map) -> (SettingsDoc, Vec<Problem>) {
    let (settings, report) = read(&tree(defaults));
    (settings, report.into_parts().0)
}

/// The defaults that a run was submitted with: whatever can be read of them, all of it or nothing.
pub(super) fn recorded(defaults: &Map) -> Option<SettingsDoc> {
    let (settings, report) = read(&tree(defaults));
    (!report.has_lost()).then_some(settings)
}

fn tree(defaults: &Map) -> Tree {
    Tree::from(&Value::from(defaults.clone()))
}

/// Returns the names that the expressions of a manifest see: those of an attempt, without any document.
fn visible() -> Vec<&'static str> {
    let sees = Visibility { attempt: true, ..Visibility::default() };
    ROOTS.into_iter().filter(|root| (root.visible)(sees)).map(|root| root.name).collect()
}

fn read(defaults: &Tree) -> (SettingsDoc, Report) {
    let report = Report::default();
    let settings = SettingsDoc::read_manifest(defaults, &report).unwrap_or_default();
    let visible = visible();
    settings.each_read(&mut |found| {
        let root = found.read.path.first().map_or("", |root| &**root);
        if !visible.contains(&root) {
            let message = format!("`{root}` cannot be seen here; expected {}", listed(&visible));
            let meant = did_you_mean(root, visible.iter().copied());
            report.problem(found.site().problem(&NOT_VISIBLE, message).with_hint_if(meant));
        }
    });
    (settings, report)
}
