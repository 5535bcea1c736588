//! Settings that a document may also write as expressions.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::{
    problem::{
        Problem,
        codes::{shape, values, warnings::BARE_NUMBER},
        shortened,
    },
    tree::{Tree, TreeNode},
    value::Value,
};

use super::{Cursor, Defs, Report};

/// The way in which a document writes settings as expressions. It is [provided](Report::provide) with the report of a document
/// that may.
pub(crate) struct SettingExpressions(pub(crate) fn(&Cursor<'_>, Arc<str>, &Report) -> WrittenSetting);

/// A setting as a document writes it.
pub(crate) enum WrittenSetting {
    /// A plain value.
    Plain,
    /// An expression whose value is known.
    Known(KnownSetting),
    /// An expression whose value follows from what a run is started with.
    Unknown,
    /// An expression that was reported.
    Wrong,
}

/// The value of a setting's expression.
pub(crate) struct KnownSetting {
    pub(crate) value: Value,
    /// The expression.
    pub(crate) source: Arc<str>,
    /// How to fix a value that the setting does not accept.
    pub(crate) hint: String,
}

/// Expected value for the message about a list or an object.
const SCALAR: &str = "a text or a number";

/// A value that every setting accepts.
const STAND_IN: i64 = 1;

/// Reads a setting by `plain`, whether it is written as a value or as an expression. One whose value is not known yet becomes a
/// value that the setting accepts.
pub(super) fn read<T>(
    plain: fn(&Cursor<'_>, &Report) -> Option<T>,
    cursor: &Cursor<'_>,
    report: &Report,
) -> Option<T> {
    let (TreeNode::String(text), Some(expressions)) =
        (&cursor.tree.node, report.provided::<SettingExpressions>())
    else {
        return plain(cursor, report);
    };
    match (expressions.0)(cursor, Arc::clone(text), report) {
        WrittenSetting::Plain => plain(cursor, report),
        WrittenSetting::Known(known) => read_value(plain, &known, cursor, report),
        WrittenSetting::Unknown => {
            report.leave_open();
            let tree = Tree::from(&Value::from(STAND_IN));
            plain(&Cursor { tree: &tree, path: cursor.path.clone() }, &Report::default())
        }
        WrittenSetting::Wrong => None,
    }
}

/// Reads the value of an expression as the plain value that it stands for.
fn read_value<T>(
    plain: fn(&Cursor<'_>, &Report) -> Option<T>,
    KnownSetting { value, source, hint }: &KnownSetting,
    cursor: &Cursor<'_>,
    report: &Report,
) -> Option<T> {
    let tree = Tree { span: cursor.tree.span, ..Tree::from(value) };
    let at = Cursor { tree: &tree, path: cursor.path.clone() };
    let shown = shortened(value.clone()).to_json();
    let of_expression = |found: Problem| {
        let message = format!("`{source}` is {shown}: {}", found.message);
        Problem { message, ..found }.with_hint(hint)
    };
    if at.is_list() || at.is_object() {
        let message = format!("found {}; expected {SCALAR}", value.type_name());
        report.problem(of_expression(at.problem(&shape::WRONG_TYPE, message)));
        return None;
    }
    let own = Report::default();
    let read = plain(&at, &own);
    let (problems, warnings) = own.into_parts();
    // A caller that submits a run sees no warnings about its file, so a number that could be seconds is refused.
    if let Some(bare) = warnings.iter().find(|found| found.code == BARE_NUMBER.code) {
        let refused = Problem { code: values::DURATION.code, ..of_expression(bare.clone()) };
        let number = value.as_str().unwrap_or(&shown);
        report.problem(refused.with_hint(format!(
            "give the value with its unit, such as `{number}s`, or write the unit behind the expression, as `{source}s`"
        )));
        return None;
    }
    problems.into_iter().for_each(|found| report.problem(of_expression(found)));
    warnings.into_iter().for_each(|found| report.warning(of_expression(found)));
    read
}

/// The schema of a setting that may be an expression.
pub(super) fn schema(plain: Json, defs: &mut Defs) -> Json {
    if !defs.has_setting_expressions() {
        return plain;
    }
    let expression = defs.named("settingExpression", |_| {
        json!({
            "description": "An expression of the workflow's parameters, such as `{{ workflow.parameters.limit }}`; its value is \
                checked when a run is submitted.",
            "type": "string",
            "pattern": "\\{\\{",
        })
    });
    json!({ "anyOf": [plain, expression] })
}
