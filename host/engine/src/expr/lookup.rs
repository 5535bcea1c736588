//! Evaluation of paths.

use std::sync::Arc;

use super::{
    Env, Read,
    budget::Budget,
    value_ref::{LENGTH, ValueRef, check_minus},
};
use crate::value::Value;

/// The value of `read` in `env`.
///
/// # Errors
/// When a hyphen can only have been meant as a minus.
pub(super) fn value(read: &Read, env: &dyn Env) -> Result<Value, String> {
    let found = env.get(&read.path);
    if !found.is_null() {
        return Ok(found);
    }
    for position in &read.hyphens {
        check_hyphen(&read.path, *position, env)?;
    }
    match read.path.split_last() {
        Some((last, owner)) if &**last == LENGTH && !owner.is_empty() => length(&env.get(owner)),
        _ => Ok(Value::Null),
    }
}

fn length(owner: &Value) -> Result<Value, String> {
    let length = match owner {
        Value::String(_) | Value::Array(_) => ValueRef::from(owner).length(&mut Budget::default())?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    Ok(length.unwrap_or_default())
}

fn check_hyphen(path: &[Arc<str>], position: usize, env: &dyn Env) -> Result<(), String> {
    let (Some(name), Some(owner)) = (path.get(position), path.get(..position)) else { return Ok(()) };
    let Value::Object(members) = env.get(owner) else { return Ok(()) };
    check_minus(&format!("{}.", owner.join(".")), &members, name, |root| !env.get(&[root.into()]).is_null())
}
