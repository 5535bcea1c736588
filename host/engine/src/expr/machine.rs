//! Rhai, narrowed: nothing else names it.
//!
//! Scripts are emitted by us ([`super::emit`]) and consist of variables, literals, `&&`, `||`, `??` and operations. An
//! operation is a custom syntax `name(a, b, …)`: it is found by its name alone, whatever the types of its operands, and
//! evaluates them itself, so that `choose` is lazy.

mod operand;

use std::sync::LazyLock;

use rhai::{
    Dynamic, Engine, EvalAltResult, EvalContext, Expression, ImmutableString, OptimizationLevel, Scope,
};

pub(super) use self::operand::Operand;
use super::{
    EvalError,
    budget::{Budget, check_built},
    emit::Program,
    filter::FILTERS,
    operation::{BINARY, MANY, UNARY, condition},
};
use crate::value::Value;

/// Evaluated nodes at most; no expression's text is long enough for as many.
const MAX_OPERATIONS: u64 = 100_000;

/// The one engine; it keeps nothing of an evaluation.
static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

/// A compiled program.
#[derive(Clone, Debug)]
pub(super) struct Code {
    ast: rhai::AST,
    constants: Vec<(String, Operand)>,
    /// Names, and the read that each stands for.
    variables: Vec<(String, usize)>,
    /// Whether the result has to be checked for its size.
    builds: bool,
}

impl Code {
    /// Compiles a program.
    ///
    /// # Errors
    /// Rhai's words, when it refuses what we emitted.
    pub(super) fn compile(program: Program) -> Result<Self, String> {
        let ast = ENGINE.compile_expression(&program.text).map_err(|error| error.to_string())?;
        let constant = |(index, value): (usize, Value)| (name('c', index), value.into());
        let constants = program.constants.into_iter().enumerate().map(constant).collect();
        let variable = |(index, read): (usize, usize)| (name('v', index), read);
        let variables = program.slots.into_iter().enumerate().map(variable).collect();
        Ok(Self { ast, constants, variables, builds: program.builds })
    }

    /// Runs it; `read` gives the value of a read and is asked once for each distinct path.
    ///
    /// # Errors
    /// What went wrong, in our words.
    pub(super) fn run(&self, read: impl Fn(usize) -> Result<Value, String>) -> Result<Value, EvalError> {
        let mut scope = Scope::with_capacity(self.constants.len() + self.variables.len());
        for (name, constant) in &self.constants {
            scope.push_dynamic(name.as_str(), constant.clone().into());
        }
        for (name, index) in &self.variables {
            let value = read(*index).map_err(EvalError)?;
            scope.push_dynamic(name.as_str(), Operand::from(value).into());
        }
        let result = ENGINE.eval_ast_with_scope::<Dynamic>(&mut scope, &self.ast);
        let value = result.map(Operand::from).map_err(|error| EvalError(message(&error)))?.into();
        if self.builds {
            check_built(&value).map_err(EvalError)?;
        }
        Ok(value)
    }
}

fn name(letter: char, index: usize) -> String {
    format!("{letter}{index}")
}

/// An engine without packages: what is not registered here does not exist.
fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_operations(MAX_OPERATIONS);
    engine.set_max_string_size(super::MAX_LENGTH);
    // The parser bounds the depth, in terms of what people write.
    engine.set_max_expr_depths(0, 0);
    engine.disable_symbol("eval");
    for (name, run) in UNARY {
        operation(&mut engine, name, move |context, operands| {
            let operand = operand(context, operands, 0)?;
            within_budget(context, |budget| run(&operand, budget))
        });
    }
    for (name, run) in BINARY {
        operation(&mut engine, name, move |context, operands| {
            let (left, right) = (operand(context, operands, 0)?, operand(context, operands, 1)?);
            within_budget(context, |budget| run(&left, &right, budget))
        });
    }
    for (name, run) in MANY {
        operation(&mut engine, name, move |context, operands| {
            let operands = all(context, operands)?;
            within_budget(context, |budget| run(&operands, budget))
        });
    }
    for filter in &FILTERS {
        operation(&mut engine, filter.name, move |context, operands| {
            let operands: Vec<Value> = all(context, operands)?.into_iter().map(Value::from).collect();
            within_budget(context, |budget| filter.apply(&operands, budget).map(Operand::from))
        });
    }
    operation(&mut engine, "among", among);
    operation(&mut engine, "choose", choose);
    engine
}

type Fault = Box<EvalAltResult>;

/// Registers `name(a, b, …)`.
fn operation(
    engine: &mut Engine,
    name: &str,
    run: impl Fn(&mut EvalContext<'_, '_, '_, '_, '_, '_>, &[Expression<'_>]) -> Result<Operand, Fault>
    + Send
    + Sync
    + 'static,
) {
    let syntax = |symbols: &[ImmutableString], ahead: &str, _: &mut Dynamic| {
        let next = match (symbols.len(), symbols.last().map_or("", |s| s.as_str()), ahead) {
            (1, ..) => "(",
            (_, "(", ")") | (_, "$expr$", ")") => ")",
            (_, "(" | ",", _) => "$expr$",
            (_, "$expr$", _) => ",",
            _ => return Ok(None),
        };
        Ok(Some(next.into()))
    };
    engine.register_custom_syntax_with_state_raw(name, syntax, false, move |context, operands, _| {
        run(context, operands).map(Into::into)
    });
}

fn operand(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
    index: usize,
) -> Result<Operand, Fault> {
    match operands.get(index) {
        Some(expression) => context.eval_expression_tree(expression).map(Operand::from),
        None => Ok(Operand::Null),
    }
}

fn all(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Vec<Operand>, Fault> {
    operands.iter().map(|expression| context.eval_expression_tree(expression).map(Operand::from)).collect()
}

/// Runs one step of the evaluation whose work so far is kept in Rhai's tag.
fn within_budget<T>(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    step: impl FnOnce(&mut Budget) -> Result<T, String>,
) -> Result<T, Fault> {
    let spent = context.tag().as_int().unwrap_or(0);
    let mut budget = Budget::resume(spent);
    let result = step(&mut budget);
    if budget.spent() != spent {
        *context.tag_mut() = budget.spent().into();
    }
    result.map_err(Fault::from)
}

/// `among(x, a, b, …)`: whether `x` equals one of the others, which are evaluated up to that one.
fn among(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    let item = operand(context, operands, 0)?;
    for expression in operands.iter().skip(1) {
        let other = Operand::from(context.eval_expression_tree(expression)?);
        if within_budget(context, |budget| item.view().equals(other.view(), budget))? {
            return Ok(Operand::Bool(true));
        }
    }
    Ok(Operand::Bool(false))
}

/// `choose(condition, yes, no)`.
fn choose(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    let asked = operand(context, operands, 0)?;
    let taken = if condition(asked.view())? { 1 } else { 2 };
    operand(context, operands, taken)
}

fn message(error: &EvalAltResult) -> String {
    if let EvalAltResult::ErrorRuntime(text, _) = error {
        text.to_string()
    } else if matches!(error, EvalAltResult::ErrorTooManyOperations(_)) {
        format!("the expression takes more than {MAX_OPERATIONS} operations")
    } else {
        error.to_string()
    }
}
