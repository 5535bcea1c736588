//! Filters that make one type of another.

use super::{Budget, FilterCall, ValueRef};
use crate::{
    expr::{
        budget::{MAX_TEXT, json},
        number::Num,
    },
    number,
    value::{JsonError, Number, Value},
};

/// The doubles below which every whole number fits in 64 bits.
const I64_RANGE: f64 = 9_223_372_036_854_775_808.0;

/// The digits of a double that mean something.
const MAX_DIGITS: i64 = 15;

pub(super) fn string(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    match call.subject {
        Value::String(text) => Ok(text.clone().into()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            to_json(call, budget)
        }
    }
}

pub(super) fn to_json(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let text = json(call.subject)?;
    budget.text(text.len())?;
    Ok(text.into())
}

pub(super) fn from_json(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    let text = call.text(budget)?;
    if text.len() > MAX_TEXT {
        return Err(format!("`fromjson` reads texts of at most {MAX_TEXT} bytes, not {}", text.len()));
    }
    let given = || ValueRef::from(call.subject).describe();
    Value::from_json(text).map_err(|error| match error {
        JsonError::Syntax(error) => format!("`fromjson` is given {}, which is not JSON: {error}", given()),
        JsonError::Number(complaint) => format!("`fromjson` is given {}: {complaint}", given()),
    })
}

pub(super) fn int(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    match call.subject {
        Value::Number(n) if !n.is_f64() => Ok(call.subject.clone()),
        Value::Number(_) | Value::String(_) => {
            if let Some(int) = call.subject.as_str().and_then(|text| number::integer(text.trim(), 10)) {
                return Ok(Value::Number(int));
            }
            let double = to_float(call, budget)?;
            whole(double.trunc())
                .map(Value::Number)
                .ok_or_else(|| format!("{double} does not fit in 64 bits"))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(call.wrong("a number or a string"))
        }
    }
}

pub(super) fn float(call: &FilterCall<'_>, budget: &mut Budget) -> Result<Value, String> {
    to_float(call, budget).map(from_float)
}

fn to_float(call: &FilterCall<'_>, budget: &mut Budget) -> Result<f64, String> {
    match call.subject {
        Value::Number(n) => {
            let double = Num::from(n).as_f64();
            let is_kept = n.is_f64() || number::double(&n.to_string()).is_some();
            is_kept.then_some(double).ok_or_else(|| format!("{n} has more digits than a double"))
        }
        Value::String(_) => {
            let text = call.text(budget)?.trim();
            let fault =
                |what| format!("`{}` is given {}{what}", call.name, ValueRef::from(call.subject).describe());
            match text.parse::<f64>() {
                Ok(double) if double.is_finite() => number::double(text)
                    .map(|_| double)
                    .ok_or_else(|| fault(", which a double cannot keep exactly")),
                Ok(_) | Err(_) => Err(fault(", which is not a number")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(call.wrong("a number or a string"))
        }
    }
}

/// Half away from zero: without digits to an integer, with digits to that many decimal places.
pub(super) fn round(call: &FilterCall<'_>, _: &mut Budget) -> Result<Value, String> {
    let Value::Number(number) = call.subject else { return Err(call.wrong("a number")) };
    let digits = digits(call)?;
    match (number.as_f64(), digits) {
        (Some(float), None) if number.is_f64() => {
            Ok(whole(float.round()).map_or_else(|| from_float(float.round()), Value::Number))
        }
        (Some(float), Some(digits)) if number.is_f64() => {
            let scale = 10_f64.powi(digits);
            let scaled = (float * scale).round() / scale;
            Ok(from_float(if scaled.is_finite() { scaled } else { float }))
        }
        _ => Ok(call.subject.clone()),
    }
}

fn digits(call: &FilterCall<'_>) -> Result<Option<i32>, String> {
    let wrong = |argument: &Value| {
        format!("`round` takes 0 to {MAX_DIGITS} digits, not {}", ValueRef::from(argument).describe())
    };
    match call.arguments.first() {
        None => Ok(None),
        Some(Value::Number(n)) => {
            let digits = Num::from(n)
                .whole()
                .filter(|d| (0..=MAX_DIGITS).contains(d))
                .and_then(|d| i32::try_from(d).ok());
            digits.map(Some).ok_or_else(|| wrong(&Value::Number(n.clone())))
        }
        Some(
            other @ (Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)),
        ) => Err(wrong(other)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only what fits is cast")]
fn whole(float: f64) -> Option<Number> {
    (-I64_RANGE..I64_RANGE).contains(&float).then(|| Number::from(float as i64))
}

fn from_float(float: f64) -> Value {
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}
