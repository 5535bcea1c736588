//! The operators that are not Rhai's own.

use std::{cmp::Ordering, sync::Arc};

use super::{
    budget::Budget,
    machine::operand::Operand,
    number::Num,
    value_ref::{ValueRef, text_of},
};
use crate::value::{Map, Value};

type OperationResult = Result<Operand, String>;
type Unary = fn(&Operand, &mut Budget) -> OperationResult;
type Binary = fn(&Operand, &Operand, &mut Budget) -> OperationResult;
type Many = fn(&[Operand], &mut Budget) -> OperationResult;

/// Operations of one operand.
pub(super) const UNARY: [(&str, Unary); 3] = [
    ("truth", |a, _| condition(a.value_ref()).map(Operand::Bool)),
    ("not", |a, _| condition(a.value_ref()).map(|b| Operand::Bool(!b))),
    ("negate", |a, _| negate(a)),
];

/// Operations of two operands.
pub(super) const BINARY: [(&str, Binary); 9] = [
    ("eq", |a, b, budget| equal(a, b, budget).map(Operand::Bool)),
    ("ne", |a, b, budget| equal(a, b, budget).map(|equal| Operand::Bool(!equal))),
    ("lt", |a, b, budget| ordered(a, b, budget, Ordering::is_lt)),
    ("le", |a, b, budget| ordered(a, b, budget, Ordering::is_le)),
    ("gt", |a, b, budget| ordered(a, b, budget, Ordering::is_gt)),
    ("ge", |a, b, budget| ordered(a, b, budget, Ordering::is_ge)),
    ("at", |a, b, budget| inside(a, a.value_ref().at(b.value_ref(), budget)?)),
    ("member", |a, b, budget| inside(a, a.value_ref().member(b.value_ref(), budget)?)),
    ("within", |a, b, budget| b.value_ref().contains(a.value_ref(), budget).map(Operand::Bool)),
];

/// Operations of any number of operands.
pub(super) const MANY: [(&str, Many); 4] =
    [("chain", chain), ("list", list), ("object", object), ("text", text)];

/// Returns the value where a boolean is needed.
///
/// # Errors
/// Fails when it is no boolean (R-X7).
pub(super) fn condition(value: ValueRef<'_>) -> Result<bool, String> {
    value.truth().ok_or_else(|| format!("expected true or false, not {}", value.describe()))
}

fn equal(a: &Operand, b: &Operand, budget: &mut Budget) -> Result<bool, String> {
    a.value_ref().doubt_equal(b.value_ref(), budget);
    a.value_ref().equals(b.value_ref(), budget)
}

fn ordered(a: &Operand, b: &Operand, budget: &mut Budget, wanted: fn(Ordering) -> bool) -> OperationResult {
    Ok(Operand::Bool(a.value_ref().order(b.value_ref(), budget)?.is_some_and(wanted)))
}

/// A part of `whole`.
fn inside(whole: &Operand, part: Value) -> OperationResult {
    Operand::from(part).with_levels(whole.built().saturating_sub(1))
}

fn negate(operand: &Operand) -> OperationResult {
    let ValueRef::Number(number) = operand.value_ref() else {
        return Err(format!("`-` works on numbers, not on {}", operand.value_ref().describe()));
    };
    number.negate().map(Operand::from).map_err(|why| format!("`-{}`: {why}", operand.value_ref().describe()))
}

/// The operators as a text, then the operands, which are one more; from left to right.
fn chain(operands: &[Operand], budget: &mut Budget) -> OperationResult {
    let [operators, first, rest @ ..] = operands else { return Ok(Operand::Null) };
    let ValueRef::Text(operators) = operators.value_ref() else { return Ok(Operand::Null) };
    let mut result = first.clone();
    for (operator, operand) in operators.bytes().zip(rest) {
        result = arithmetic(operator, &result, operand, budget)?;
    }
    Ok(result)
}

fn arithmetic(operator: u8, left: &Operand, right: &Operand, budget: &mut Budget) -> OperationResult {
    let described = || {
        let (a, b) = (left.value_ref().describe(), right.value_ref().describe());
        format!("{a} {} {b}", char::from(operator))
    };
    match (left.value_ref(), right.value_ref()) {
        (ValueRef::Number(a), ValueRef::Number(b)) => {
            a.compute(operator, b).map(Operand::from).map_err(|why| format!("{why} in {}", described()))
        }
        (ValueRef::Text(a), ValueRef::Text(b)) if operator == b'+' => {
            budget.text(a.len() + b.len())?;
            Ok(Value::from([a, b].concat()).into())
        }
        (ValueRef::List(a), ValueRef::List(b)) if operator == b'+' => {
            budget.items(a.len() + b.len())?;
            Operand::from(Value::from([a, b].concat())).with_levels(left.built().max(right.built()).max(1))
        }
        _ => Err(format!("`{}` cannot combine {}", char::from(operator), described())),
    }
}

fn list(operands: &[Operand], budget: &mut Budget) -> OperationResult {
    budget.items(operands.len())?;
    let items: Vec<Value> = operands.iter().cloned().map(Value::from).collect();
    Operand::from(Value::from(items)).with_levels(highest(operands) + 1)
}

/// The levels that were put around the operands.
pub(super) fn highest(operands: &[Operand]) -> usize {
    operands.iter().map(Operand::built).max().unwrap_or(0)
}

/// Returns the texts of the operands, one behind the other.
fn text(operands: &[Operand], budget: &mut Budget) -> OperationResult {
    let mut text = String::new();
    for operand in operands {
        if matches!(operand, Operand::Null) {
            budget.empty();
        }
        budget.append(&mut text, &text_of(&operand.clone().into())?)?;
    }
    Ok(Value::from(text).into())
}

/// Keys and values in turn.
fn object(operands: &[Operand], budget: &mut Budget) -> OperationResult {
    budget.items(operands.len())?;
    let (pairs, _) = operands.as_chunks::<2>();
    let member = |[key, value]: &[Operand; 2]| {
        let ValueRef::Text(key) = key.value_ref() else { return None };
        Some((Arc::from(key), value.clone().into()))
    };
    let members: Map = pairs.iter().filter_map(member).collect();
    Operand::from(Value::from(members)).with_levels(highest(operands) + 1)
}

impl From<Num> for Operand {
    fn from(number: Num) -> Self {
        number.to_number().map_or(Self::Null, |n| Value::Number(n).into())
    }
}
