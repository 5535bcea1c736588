//! Operations that only the functions of a document use: calls, loops, and changes to a variable's members.

use std::{ops::Range, sync::Arc};

use rhai::{Dynamic, Engine, EvalContext, Expression, Position};

use super::{Fault, Operand, SharedValue, all, message, operand, operation, within_budget};
use crate::{
    expr::{
        MAX_LENGTH,
        budget::Budget,
        functions::{Function, Functions},
        value_ref::ValueRef,
    },
    value::{Map, Value},
};

/// How deeply calls of functions nest: each needs some of the thread's stack.
pub(in crate::expr) const MAX_CALLS: usize = 24;

type Context<'a, 's, 'ps, 'g, 'c, 't> = EvalContext<'a, 's, 'ps, 'g, 'c, 't>;

pub(super) fn register(engine: &mut Engine) {
    engine.register_iterator::<Elements>();
    operation(engine, "invoke", invoke);
    operation(engine, "put", put);
    operation(engine, "push", push);
    operation(engine, "type_of", |context, operands| {
        let value: Value = operand(context, operands, 0)?.into();
        Ok(Operand::Short(value.type_name().into()))
    });
    iterable(engine, "each", |context, operands| each(&operand(context, operands, 0)?));
    iterable(engine, "until", |context, operands| numbers(context, operands, 0));
    iterable(engine, "through", |context, operands| numbers(context, operands, 1));
    selector(engine);
}

/// `invoke(functions, name, a, b, …)`.
fn invoke(
    context: &mut Context<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    let [functions, name, arguments @ ..] = operands else { return Ok(Operand::Null) };
    let functions = context.eval_expression_tree(functions)?.try_cast::<Arc<Functions>>();
    let name = name.get_string_value().unwrap_or_default();
    let Some(function) = functions.as_ref().and_then(|functions| functions.get(name)) else {
        return Err(format!("there is no function `{name}`").into());
    };
    let arguments = all(context, arguments)?;
    if context.global_runtime_state().level >= MAX_CALLS {
        let why =
            format!("`{name}` calls functions within functions; at most {MAX_CALLS} at once are allowed");
        return Err(why.into());
    }
    let outer = context.scope().len();
    for (parameter, argument) in function.parameters.iter().zip(arguments) {
        context.scope_mut().push_dynamic(parameter.as_str(), argument.into());
    }
    context.global_runtime_state_mut().level += 1;
    let result = context.eval_expression_tree(&Expression::from(&function.body));
    context.global_runtime_state_mut().level -= 1;
    context.scope_mut().rewind(outer);
    returned(result, function)
}

fn returned(result: Result<Dynamic, Fault>, function: &Function) -> Result<Operand, Fault> {
    use rhai::EvalAltResult::{ErrorTerminated, Return};
    match result.map_err(|fault| *fault) {
        Ok(value) | Err(Return(value, _)) => Ok(value.into()),
        // This error already has its position.
        Err(fault @ ErrorTerminated(..)) => Err(fault.into()),
        Err(fault) => {
            let line = fault
                .position()
                .line()
                .map_or(String::new(), |line| format!(", line {}", function.line + line));
            let text = format!("{} (in `{}`{line})", message(&fault), function.name);
            Err(ErrorTerminated(text.into(), Position::NONE).into())
        }
    }
}

/// `put("variable", key, …, value)`: changes a member, in place where the value is not shared.
fn put(context: &mut Context<'_, '_, '_, '_, '_, '_>, operands: &[Expression<'_>]) -> Result<Operand, Fault> {
    change(context, operands, |place, value, budget| {
        *place = value;
        let _ = budget;
        Ok(())
    })
}

/// `push("variable", key, …, item)`: adds to a list.
fn push(
    context: &mut Context<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    change(context, operands, |place, item, budget| match place {
        Value::Array(items) => {
            budget.items(1)?;
            unshared(items, budget)?.push(item);
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(format!("`push` works on an array, not on {}", ValueRef::from(&*place).describe()))
        }
    })
}

fn change(
    context: &mut Context<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
    how: impl FnOnce(&mut Value, Value, &mut Budget) -> Result<(), String>,
) -> Result<Operand, Fault> {
    let [variable, rest @ ..] = operands else { return Ok(Operand::Null) };
    let name = variable.get_string_value().unwrap_or_default();
    let mut rest = all(context, rest)?;
    let value = rest.pop().unwrap_or(Operand::Null);
    if context.scope().is_constant(name) != Some(false) {
        return Err(format!("`{name}` is a constant; expected a variable, `let {name} = …`").into());
    }
    let Some(held) = context.scope_mut().get_mut(name).map(Dynamic::take) else { return Ok(Operand::Null) };
    let whole = Operand::from(held);
    let built = whole.built().max(value.built() + rest.len() + 1);
    let mut whole = Value::from(whole);
    let value = Value::from(value);
    within_budget(context, |budget| how(member(&mut whole, &rest, budget)?, value, budget))?;
    let whole = Operand::from(whole).with_levels(built)?;
    if let Some(place) = context.scope_mut().get_mut(name) {
        *place = whole.into();
    }
    Ok(Operand::Null)
}

/// The place that `keys` lead to; objects on the way are made.
fn member<'v>(whole: &'v mut Value, keys: &[Operand], budget: &mut Budget) -> Result<&'v mut Value, String> {
    let mut place = whole;
    for key in keys {
        let described = ValueRef::from(&*place).describe();
        place = match (place, key.value_ref()) {
            (Value::Object(members), ValueRef::Text(key)) => {
                budget.items(1)?;
                unshared_map(members, budget)?.entry(key.into()).or_default()
            }
            (Value::Array(items), ValueRef::Number(number)) if number.whole().is_some() => {
                let length = items.len();
                let at = i128::from(number.whole().unwrap_or_default());
                let position =
                    usize::try_from(if at < 0 { at + length as i128 } else { at }).unwrap_or(length);
                let items = unshared(items, budget)?;
                items.get_mut(position).ok_or_else(|| {
                    format!("the array has {length} elements, and none at {at}; `push` adds one")
                })?
            }
            (_, key) => return Err(format!("{described} has no place for {}", key.describe())),
        };
    }
    Ok(place)
}

/// Others that hold the same list keep it as it is.
fn unshared<'v>(items: &'v mut Arc<Vec<Value>>, budget: &mut Budget) -> Result<&'v mut Vec<Value>, String> {
    if Arc::strong_count(items) > 1 {
        budget.items(items.len())?;
    }
    Ok(Arc::make_mut(items))
}

fn unshared_map<'v>(members: &'v mut Arc<Map>, budget: &mut Budget) -> Result<&'v mut Map, String> {
    if Arc::strong_count(members) > 1 {
        budget.items(members.len())?;
    }
    Ok(Arc::make_mut(members))
}

/// The elements that a `for` goes through, one at a time.
#[derive(Clone, Debug)]
enum Elements {
    Of { items: Arc<Vec<Value>>, next: usize, built: usize },
    Numbers(Range<i64>),
}

impl Iterator for Elements {
    type Item = Dynamic;

    fn next(&mut self) -> Option<Dynamic> {
        match self {
            Self::Of { items, next, built } => {
                let item = Operand::from(items.get(*next)?.clone());
                *next += 1;
                Some(item.with_levels(*built).ok()?.into())
            }
            Self::Numbers(range) => range.next().map(Dynamic::from),
        }
    }
}

fn iterable(
    engine: &mut Engine,
    name: &str,
    run: impl Fn(&mut Context<'_, '_, '_, '_, '_, '_>, &[Expression<'_>]) -> Result<Elements, Fault>
    + Send
    + Sync
    + 'static,
) {
    super::syntax(engine, name, move |context, operands| run(context, operands).map(Dynamic::from));
}

fn each(operand: &Operand) -> Result<Elements, Fault> {
    match operand {
        Operand::Null => Ok(Elements::Numbers(0..0)),
        Operand::Other(SharedValue { value: Value::Array(items), .. }) => {
            Ok(Elements::Of { items: items.clone(), next: 0, built: operand.built().saturating_sub(1) })
        }
        Operand::Bool(_) | Operand::Int(_) | Operand::Float(_) | Operand::Short(_) | Operand::Other(_) => {
            let what = operand.value_ref().describe();
            Err(format!("`for` goes through an array or a range, not {what}; an object's keys are `keys(x)`")
                .into())
        }
    }
}

/// The whole numbers from the first to before the second, with `more` of them behind.
fn numbers(
    context: &mut Context<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
    more: i64,
) -> Result<Elements, Fault> {
    let first = operand(context, operands, 0)?;
    let end = operand(context, operands, 1)?;
    match (whole(&first), whole(&end)) {
        (Some(first), Some(end)) => Ok(Elements::Numbers(first..end.saturating_add(more))),
        _ => {
            let (first, end) = (first.value_ref().describe(), end.value_ref().describe());
            Err(format!("a range goes from a whole number to another, not from {first} to {end}").into())
        }
    }
}

fn whole(operand: &Operand) -> Option<i64> {
    if let ValueRef::Number(number) = operand.value_ref() { number.whole() } else { None }
}

/// `case(x)`: what `switch` compares with its literals, which it does by type: a number without a fraction is whole.
fn selector(engine: &mut Engine) {
    super::syntax(engine, "case", |context, operands| {
        let operand = operand(context, operands, 0)?;
        Ok(match operand.value_ref() {
            ValueRef::Text(text) if text.len() <= MAX_LENGTH => text.into(),
            ValueRef::Number(number) => number.whole().map_or(operand.into(), Dynamic::from),
            ValueRef::Null
            | ValueRef::Bool(_)
            | ValueRef::Text(_)
            | ValueRef::List(_)
            | ValueRef::Object(_) => operand.into(),
        })
    });
}
