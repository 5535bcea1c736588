//! Filters of texts.

use super::{Budget, FilterCall};
use crate::value::Value;

pub(super) fn lower(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    Ok(call.text(budget)?.to_lowercase().into())
}

pub(super) fn upper(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    Ok(call.text(budget)?.to_uppercase().into())
}

pub(super) fn trim(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    Ok(call.text(budget)?.trim().into())
}

pub(super) fn starts_with(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    Ok(call.text(budget)?.starts_with(call.text_argument(0)?).into())
}

pub(super) fn ends_with(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    Ok(call.text(budget)?.ends_with(call.text_argument(0)?).into())
}

pub(super) fn replace(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let text = call.text(budget)?;
    let (from, to) = (separator(call)?, call.text_argument(1)?);
    let found = text.matches(from).count();
    budget.text(text.len() - found * from.len() + found.saturating_mul(to.len()))?;
    Ok(text.replace(from, to).into())
}

pub(super) fn split(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let (text, at) = (call.text(budget)?, separator(call)?);
    budget.items(text.matches(at).count() + 1)?;
    Ok(text.split(at).map(Value::from).collect::<Vec<_>>().into())
}

/// The first argument, which must not be empty.
fn separator<'a>(call: &FilterCall<'a>) -> Result<&'a str, String> {
    match call.text_argument(0)? {
        "" => Err(format!("`{}` needs something to look for, not the empty string", call.name)),
        text => Ok(text),
    }
}
