//! Evaluation of paths.

use std::sync::Arc;

use super::{
    Env, Read,
    budget::Budget,
    value_ref::{LENGTH, ValueRef, check_minus},
};
use crate::value::Value;

/// Result of a read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReadResult {
    Value(Value),
    /// Null, because a part of the path has a type without members. A doubt if the value is used.
    Misfit(String),
    /// No value: a hyphen can only have been meant as a minus. An error if the value is used.
    Fault(String),
}

/// The value of `read` in `env`.
pub(super) fn value(read: &Read, env: &dyn Env) -> ReadResult {
    let found = env.get(&read.path);
    if found.is_null() {
        why_null(read, env).unwrap_or_else(ReadResult::Fault)
    } else {
        ReadResult::Value(found)
    }
}

/// The result of a read that has no value as it is written.
///
/// # Errors
/// Fails when a hyphen can only have been meant as a minus, and for a length that is too costly.
fn why_null(read: &Read, env: &dyn Env) -> Result<ReadResult, String> {
    for position in &read.hyphens {
        check_hyphen(&read.path, *position, env)?;
    }
    if let [_, .., last] = read.path.as_slice()
        && **last == *LENGTH
    {
        let length = length(&env.owner(&read.path))?;
        if !length.is_null() {
            return Ok(ReadResult::Value(length));
        }
    }
    Ok(misfit(&read.path, env).map_or(ReadResult::Value(Value::Null), ReadResult::Misfit))
}

/// Returns why a path leads nowhere, if the longest part of it that has a value is of a type that cannot have the next member.
fn misfit(path: &[Arc<str>], env: &dyn Env) -> Option<String> {
    for end in (1..path.len()).rev() {
        let (owner, next) = (path.get(..end)?, path.get(end)?);
        let value = env.owner(path.get(..=end)?);
        if !value.is_null() {
            let value = ValueRef::from(&value);
            let message =
                || format!("`{}` is {}, which has no `{next}`: null", owner.join("."), value.kind());
            return (!value.takes(ValueRef::Text(next))).then(message);
        }
    }
    None
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
    let Value::Object(members) = env.owner(path.get(..=position).unwrap_or_default()) else { return Ok(()) };
    check_minus(&format!("{}.", owner.join(".")), &members, name, |root| !env.get(&[root.into()]).is_null())
}
