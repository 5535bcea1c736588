//! Filters of lists, objects and whatever has a length.

use super::{Budget, FilterCall, ValueRef};
use crate::{expr::value_ref::text_of, value::Value};

pub(super) fn length(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let length = ValueRef::from(call.subject).length(budget)?;
    length.ok_or_else(|| call.wrong("a string, an array or an object"))
}

pub(super) fn first(call: &FilterCall<'_>, _: &mut Budget) -> Result<Value, String> {
    Ok(list(call)?.first().cloned().unwrap_or_default())
}

pub(super) fn last(call: &FilterCall<'_>, _: &mut Budget) -> Result<Value, String> {
    Ok(list(call)?.last().cloned().unwrap_or_default())
}

pub(super) fn keys(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let map = call.subject.as_object().ok_or_else(|| call.wrong("an object"))?;
    budget.items(map.len())?;
    Ok(map.keys().cloned().map(Value::String).collect::<Vec<_>>().into())
}

pub(super) fn contains(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    match call.subject {
        Value::String(_) | Value::Array(_) | Value::Object(_) => {
            ValueRef::from(call.subject).contains(call.argument(0).into(), budget).map(Value::Bool)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(call.wrong("a string, an array or an object")),
    }
}

pub(super) fn join(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let (items, between) = (list(call)?, call.text_argument(0)?);
    let mut joined = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            budget.append(&mut joined, between)?;
        }
        budget.append(&mut joined, &text_of(item)?)?;
    }
    Ok(joined.into())
}

fn list<'a>(call: &FilterCall<'a>) -> Result<&'a [Value], String> {
    call.subject.as_array().ok_or_else(|| call.wrong("an array"))
}
