//! What a path reads.

use std::sync::Arc;

use super::{Env, Read, budget::Budget, value_ref::ValueRef};
use crate::value::{Map, Value};

/// Behind a text or a list it is the filter of that name, also without parentheses.
pub(super) const LENGTH: &str = "length";

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

/// Fails where `name` is no member but would be one less something, if its hyphen were a minus: a number, or what begins
/// with a root of that name.
///
/// # Errors
/// Both readings.
pub(super) fn check_minus(
    owner: &str,
    members: &Map,
    name: &str,
    is_root: impl Fn(&str) -> bool,
) -> Result<(), String> {
    if members.contains_key(name) {
        return Ok(());
    }
    for (at, _) in name.match_indices('-') {
        let (Some(head), Some(tail)) = (name.get(..at), name.get(at + 1..)) else { continue };
        let subtracts = tail.starts_with(|c: char| c.is_ascii_digit()) || is_root(tail);
        if subtracts && members.get(head).is_some_and(|value| !value.is_null()) {
            return Err(format!(
                "`{owner}{name}` is one name, and there is none; for a minus write `{owner}{head} - {tail}`, with \
                 spaces; for a member that may be missing write it in brackets, `['{name}']`"
            ));
        }
    }
    Ok(())
}
