//! A borrowed look at a value, however it is held, and what the operators do with it.

use std::{borrow::Cow, cmp::Ordering};

use super::{
    budget::{Budget, json},
    number::Num,
};
use crate::value::{Map, Value, is_index};

/// Name of the filter that a text or a list also has as a member, without parentheses.
pub(super) const LENGTH: &str = "length";

/// Borrowed view of a value by its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueRef<'a> {
    Null,
    Bool(bool),
    Number(Num),
    Text(&'a str),
    List(&'a [Value]),
    Object(&'a Map),
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(n) => Self::Number(n.into()),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items),
            Value::Object(map) => Self::Object(map),
        }
    }
}

impl ValueRef<'_> {
    /// Deep equality; values of different types are unequal, `1` and `1.0` are not.
    pub(super) fn equals(self, other: ValueRef<'_>, budget: &mut Budget) -> Result<bool, String> {
        match (self, other) {
            (Self::Null, ValueRef::Null) => Ok(true),
            (Self::Bool(a), ValueRef::Bool(b)) => Ok(a == b),
            (Self::Number(a), ValueRef::Number(b)) => Ok(a.order(b) == Ordering::Equal),
            (Self::Text(a), ValueRef::Text(b)) => {
                budget.spend(a.len().min(b.len()))?;
                Ok(a == b)
            }
            (Self::List(a), ValueRef::List(b)) => lists_equal(a, b, budget),
            (Self::Object(a), ValueRef::Object(b)) => objects_equal(a, b, budget),
            _ => Ok(false),
        }
    }

    /// The order of two numbers or two texts; anything else has none.
    pub(super) fn order(self, other: ValueRef<'_>, budget: &mut Budget) -> Result<Option<Ordering>, String> {
        match (self, other) {
            (Self::Number(a), ValueRef::Number(b)) => Ok(Some(a.order(b))),
            (Self::Text(a), ValueRef::Text(b)) => {
                budget.spend(a.len().min(b.len()))?;
                Ok(Some(a.cmp(b)))
            }
            (Self::Null, _) | (_, ValueRef::Null) => Ok(None),
            (a, b) => {
                budget.doubt(format!("{} and {} have no order: false", a.kind(), b.kind()));
                Ok(None)
            }
        }
    }

    /// Whether `item` is an element, a key or a part of this; false for what holds nothing.
    pub(super) fn contains(self, item: ValueRef<'_>, budget: &mut Budget) -> Result<bool, String> {
        match (self, item) {
            (Self::List(items), _) => {
                budget.spend(items.len())?;
                for candidate in items {
                    if ValueRef::from(candidate).equals(item, budget)? {
                        return Ok(true);
                    }
                }
                item.doubt_among(items.iter().map(|other| ValueRef::from(other).kind()), budget);
                Ok(false)
            }
            (Self::Object(map), ValueRef::Text(key)) => Ok(map.contains_key(key)),
            (Self::Text(text), ValueRef::Text(part)) => {
                budget.spend(text.len())?;
                Ok(text.contains(part))
            }
            (Self::Null, _) | (_, ValueRef::Null) => Ok(false),
            (holder, item) => {
                budget.doubt(format!("{} cannot be in {}: false", item.kind(), holder.kind()));
                Ok(false)
            }
        }
    }

    /// Notes a doubt where this is of another type than every one of some values, by their [`ValueRef::kind`].
    pub(super) fn doubt_among(self, kinds: impl Iterator<Item = &'static str>, budget: &mut Budget) {
        // A null that is missing in a list says nothing of the types of the others.
        let mut kinds = kinds.filter(|kind| *kind != ValueRef::Null.kind()).peekable();
        let Some(first) = kinds.peek().copied() else { return };
        if !matches!(self, Self::Null) && kinds.all(|kind| kind != self.kind()) {
            budget.doubt(format!("{} equals none, as there is {first} instead: false", self.kind()));
        }
    }

    /// Notes a doubt where these two are of different types.
    pub(super) fn doubt_equal(self, other: ValueRef<'_>, budget: &mut Budget) {
        let is_null = matches!(self, Self::Null) || matches!(other, ValueRef::Null);
        if !is_null && self.kind() != other.kind() {
            budget.doubt(format!("{} never equals {}", self.kind(), other.kind()));
        }
    }

    /// The member or element at `at`; negative indexes count from the end, a missing member is null.
    pub(super) fn at(self, at: ValueRef<'_>, budget: &mut Budget) -> Result<Value, String> {
        let found = match (self, at) {
            (Self::Object(map), ValueRef::Text(key)) => map.get(key).cloned(),
            (Self::List(_) | Self::Text(_), ValueRef::Text(LENGTH)) => self.length(budget)?,
            (Self::List(items), ValueRef::Text(at)) if is_index(at) => {
                at.parse::<usize>().ok().and_then(|i| items.get(i)).cloned()
            }
            (Self::List(items), ValueRef::Number(at)) => {
                position(at, items.len()).and_then(|i| items.get(i)).cloned()
            }
            (Self::Text(text), ValueRef::Number(at)) => {
                budget.spend(text.len())?;
                let char = position(at, text.chars().count()).and_then(|i| text.chars().nth(i));
                char.map(|c| c.to_string().into())
            }
            _ => None,
        };
        if found.is_none() && !self.takes(at) {
            budget.doubt(format!("{} has nothing at {}: null", self.kind(), at.kind()));
        }
        Ok(found.unwrap_or_default())
    }

    /// Whether there could be something at `at`.
    pub(super) fn takes(self, at: ValueRef<'_>) -> bool {
        match (self, at) {
            (Self::Null, _) | (_, ValueRef::Null) | (Self::Object(_), ValueRef::Text(_)) => true,
            (Self::List(_) | Self::Text(_), ValueRef::Number(at)) => at.whole().is_some(),
            (Self::List(_), ValueRef::Text(at)) => is_index(at),
            _ => false,
        }
    }

    /// The member behind a dot; a hyphen in its name may have been meant as a minus.
    pub(super) fn member(self, name: ValueRef<'_>, budget: &mut Budget) -> Result<Value, String> {
        if let (Self::Object(map), ValueRef::Text(name)) = (self, name) {
            check_minus("", map, name, |_| false)?;
        }
        self.at(name, budget)
    }

    /// How many characters, elements or members there are; `None` of what has no length.
    pub(super) fn length(self, budget: &mut Budget) -> Result<Option<Value>, String> {
        let length = match self {
            Self::Text(text) => {
                budget.spend(text.len())?;
                text.chars().count()
            }
            Self::List(items) => items.len(),
            Self::Object(map) => map.len(),
            Self::Null | Self::Bool(_) | Self::Number(_) => return Ok(None),
        };
        Ok(Some(Value::Number(length.into())))
    }

    /// This where a boolean is needed; `None` when it is not one.
    pub(super) fn truth(self) -> Option<bool> {
        match self {
            Self::Null | Self::Text("false") => Some(false),
            Self::Bool(b) => Some(b),
            Self::Text("true") => Some(true),
            Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => b.into(),
            Self::Number(n) => n.to_number().map_or(Value::Null, Value::Number),
            Self::Text(text) => text.into(),
            Self::List(items) => items.to_vec().into(),
            Self::Object(map) => map.clone().into(),
        }
    }

    /// Type, as doubts name it. Numbers are one type.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Type and shortened value, as errors name it.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::List(items) => format!("an array of {}", items.len()),
            Self::Object(map) => format!("an object of {}", map.len()),
            Self::Text(text) => format!("string {}", Value::from(shortened(text))),
            Self::Bool(_) | Self::Number(_) => {
                let value = self.to_value();
                format!("{} {value}", value.type_name())
            }
        }
    }
}

/// A value as part of a text: strings as they are, null empty, all else compact JSON.
///
/// # Errors
/// When the JSON would be too large.
pub(super) fn text_of(value: &Value) -> Result<Cow<'_, str>, String> {
    match value {
        Value::Null => Ok(Cow::Borrowed("")),
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => json(value).map(Cow::Owned),
    }
}

/// Enough of a text to recognise it.
const MAX_SHOWN_CHARS: usize = 40;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn position(at: Num, len: usize) -> Option<usize> {
    let at = i128::from(at.whole()?);
    let from_start = if at < 0 { i128::try_from(len).ok()? + at } else { at };
    usize::try_from(from_start).ok()
}

fn lists_equal(a: &[Value], b: &[Value], budget: &mut Budget) -> Result<bool, String> {
    if a.len() != b.len() {
        return Ok(false);
    }
    budget.spend(a.len())?;
    for (a, b) in a.iter().zip(b) {
        if !ValueRef::from(a).equals(b.into(), budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn objects_equal(a: &Map, b: &Map, budget: &mut Budget) -> Result<bool, String> {
    if a.len() != b.len() {
        return Ok(false);
    }
    budget.spend(a.len())?;
    for ((key_a, a), (key_b, b)) in a.iter().zip(b) {
        if key_a != key_b || !ValueRef::from(a).equals(b.into(), budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks that a hyphen in `name` cannot have been meant as a minus.
///
/// # Errors
/// When `name` is no member, but its part before a hyphen is one and the part after it is a number or begins with a root.
/// The message shows both readings.
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
