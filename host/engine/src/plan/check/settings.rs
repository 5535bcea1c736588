//! Settings that are expressions: their values are known when a run is submitted, so they read its parameters and nothing else.

use crate::{document::ReadAt, names, plan::resolve::index::Index, problem::codes::expressions::NOT_VISIBLE};

use super::{comparing, operating, reading, visible::Visible};

/// Checks the expressions of settings.
pub(super) fn check(index: &Index<'_>) {
    let scope = Visible::everywhere(index.doc);
    for value in index.doc.settings.iter().map(|setting| &setting.value) {
        for found in value.reads() {
            if names::workflow_parameter(&found.read.path).is_some() {
                reading::check(index, &scope, &found);
                operating::check_member(index, &scope, &found);
            } else {
                refuse(index, &found);
            }
        }
        value.comparisons().for_each(|found| comparing::check(index, &scope, &found));
        value.operations().for_each(|found| operating::check(index, &scope, &found));
    }
}

fn refuse(index: &Index<'_>, found: &ReadAt<'_>) {
    if index.report.is_full() {
        return;
    }
    let written: Vec<&str> = found.read.written().collect();
    let declared = &index.doc.spec.arguments;
    let (path, root) = (written.join("."), written.first().copied().unwrap_or_default());
    let message = format!(
        "`{path}` is not known when a run is submitted, and this setting is calculated then; expected \
         `workflow.parameters.NAME`"
    );
    let last = written.last().copied().unwrap_or_default();
    let hint = if declared.find(last).is_some() {
        format!("write `workflow.parameters.{last}`")
    } else if names::find(root).is_some() {
        format!("declare `{last}` in `spec.parameters`, and write `workflow.parameters.{last}`")
    } else {
        "the parameters of the workflow and constants can be used, but no inputs, results or variables"
            .to_owned()
    };
    index.report.problem(found.site().problem(&NOT_VISIBLE, message).with_hint(hint));
}
