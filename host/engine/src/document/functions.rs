//! `spec.functions`: what expressions may call.

use std::sync::Arc;

use serde_json::json;

use crate::{
    expr::{Functions, MAX_FUNCTIONS, SyntaxError},
    form::{Cursor, Form, Report},
    problem::codes::{functions::FUNCTION, warnings::UNUSED_FUNCTION},
};

use super::{expression::syntax, passage::Passage};

/// Definitions of functions, as text.
pub(super) const FUNCTIONS: Form<Arc<Functions>> =
    Form::new(read, |_| json!({ "type": "string", "maxLength": MAX_FUNCTIONS }));

fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Arc<Functions>> {
    let text = cursor.text(report)?;
    let (functions, errors) = Functions::read(&text);
    let passage = Passage::new(text, cursor.tree);
    for error in &errors {
        report.problem(syntax(&FUNCTION, &cursor.site(), &passage, error).with_value(cursor.tree));
    }
    Some(Arc::new(functions))
}

/// Warns about functions that none of the expressions read so far calls.
pub(super) fn check_used(functions: &Functions, cursor: &Cursor<'_>, report: &Report) {
    let Some(text) = cursor.text(report).filter(|_| report.is_sound()) else { return };
    let passage = Passage::new(text, cursor.tree);
    for (name, offset) in functions.unused() {
        let message = format!("no expression calls the function `{name}`; expected one that does");
        let error = SyntaxError { offset, message, hint: Some("remove it, or call it".to_owned()) };
        report.warning(syntax(&UNUSED_FUNCTION, &cursor.site(), &passage, &error));
    }
}
