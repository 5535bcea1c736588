//! Idempotency key of a form: a form that is posted twice starts one run.

use std::sync::Arc;

use maud::{Markup, html};
use phasm::{NewRun, SubmitError, store::StoreError};

use super::form::Form;
use crate::auth::token::random;

const FIELD: &str = "once";

/// Returns the hidden field with the key: the one that was sent with `form`, or a new random one.
pub(super) fn field(form: Option<&Form>) -> Markup {
    let sent = form.and_then(key).map(str::to_owned);
    // Without a random word the form has no idempotency key.
    let key = sent.or_else(|| random::<16>().ok().map(|word| format!("page-{word}")));
    html! { @if let Some(key) = key { input type="hidden" name=(FIELD) value=(key); } }
}

/// Returns the key that was sent with a form.
pub(super) fn key(form: &Form) -> Option<&str> {
    Some(form.text(FIELD)).filter(|key| !key.is_empty())
}

/// Starts a run under the key of its form. Returns the id of the run that the form has started, now or when it was posted first.
///
/// # Errors
/// See [`NewRun::start`].
pub(super) async fn start(run: NewRun, form: &Form) -> Result<Arc<str>, SubmitError> {
    let started = run.key(key(form)).start().await;
    if let Err(SubmitError::Store(StoreError::Exists { run_id })) = started {
        return Ok(run_id);
    }
    Ok(Arc::clone(started?.id()))
}
