//! Rhai, narrowed: what evaluates expressions and the functions that they call.
//!
//! Scripts are emitted by us ([`super::emit`]) and consist of variables, literals, `&&`, `||`, `??` and operations. An
//! operation is a custom syntax `name(a, b, …)`: it is found by its name alone, whatever the types of its operands, and
//! evaluates them itself, so that `choose` is lazy. The bodies of functions are written by people and rewritten to the
//! same operations ([`super::functions`]), so that everything means in them what it means in an expression.

pub(super) mod operand;
mod statements;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use rhai::{
    Dynamic, Engine, EvalAltResult, EvalContext, Expression, ImmutableString, OptimizationLevel, Position,
    Scope,
};

use self::operand::{Operand, SharedValue};
use super::{
    EvalError,
    budget::{Budget, check_built},
    emit::{FUNCTIONS, Program},
    filter::FILTERS,
    functions::Functions,
    lookup::ReadResult,
    operation::{BINARY, MANY, UNARY, condition, highest},
};
use crate::value::Value;

/// Evaluated nodes at most; no expression's text is long enough for as many.
const MAX_OPERATIONS: u64 = 100_000;

/// The variable that holds the doubts met so far.
const DOUBTS: &str = "doubts__";

/// The doubts that an evaluation has met.
#[derive(Clone, Debug, Default)]
pub(super) struct EvalDoubts {
    /// How many nulls became empty text.
    pub(super) emptied: usize,
    /// Operations that were given types that they do not fit, each described once.
    pub(super) types: BTreeSet<String>,
}

/// The one engine; it keeps nothing of an evaluation.
static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

/// A read that has no value. All reads are made before the evaluation, and a branch that is not taken leaves neither a doubt nor an
/// error: so both come up where the variable is evaluated.
#[derive(Clone, Debug)]
enum UnfitRead {
    /// Null, with this doubt.
    Doubt(String),
    /// This error.
    Fault(String),
}

/// A compiled program.
#[derive(Clone, Debug)]
pub(super) struct Code {
    ast: rhai::AST,
    constants: Vec<(String, Operand)>,
    /// Names, and the read that each stands for.
    variables: Vec<(String, usize)>,
    /// Where the functions are that it calls.
    functions: Option<Arc<Functions>>,
    /// Whether the result has to be checked for its size.
    builds: bool,
}

impl Code {
    /// Compiles a program.
    ///
    /// # Errors
    /// Rhai's words, when it refuses what we emitted.
    pub(super) fn compile(program: Program, functions: &Arc<Functions>) -> Result<Self, String> {
        let ast = ENGINE.compile_expression(&program.text).map_err(|error| error.to_string())?;
        let constant = |(index, value): (usize, Value)| (name('c', index), value.into());
        let constants = program.constants.into_iter().enumerate().map(constant).collect();
        let variable = |(index, read): (usize, usize)| (name('v', index), read);
        let variables = program.slots.into_iter().enumerate().map(variable).collect();
        let functions = program.calls.then(|| functions.clone());
        Ok(Self { ast, constants, variables, functions, builds: program.builds })
    }

    /// Runs the program; `read` gives the value of a read and is called once for each distinct path.
    ///
    /// The result is an error when an operation fails; the message is in the project's words, not in Rhai's.
    pub(super) fn run(&self, read: impl Fn(usize) -> ReadResult) -> (Result<Value, EvalError>, EvalDoubts) {
        let mut scope = Scope::with_capacity(2 + self.constants.len() + self.variables.len());
        // Nothing is allocated for most evaluations, which leave no doubt.
        scope.push_dynamic(DOUBTS, Dynamic::UNIT);
        if let Some(functions) = &self.functions {
            scope.push(FUNCTIONS, functions.clone());
        }
        for (name, constant) in &self.constants {
            scope.push_dynamic(name.as_str(), constant.clone().into());
        }
        for (name, index) in &self.variables {
            let value = match read(*index) {
                ReadResult::Value(value) => Operand::from(value).into(),
                ReadResult::Misfit(doubt) => Dynamic::from(UnfitRead::Doubt(doubt)),
                ReadResult::Fault(why) => Dynamic::from(UnfitRead::Fault(why)),
            };
            scope.push_dynamic(name.as_str(), value);
        }
        let result = ENGINE.eval_ast_with_scope::<Dynamic>(&mut scope, &self.ast);
        let doubts = scope.get_mut(DOUBTS).and_then(|held| held.take().try_cast::<EvalDoubts>());
        let result = result.map_err(|error| EvalError(message(&error))).and_then(|value| self.checked(value));
        (result, doubts.unwrap_or_default())
    }

    /// The value of a result.
    ///
    /// # Errors
    /// Fails when it is too large to be kept.
    fn checked(&self, result: Dynamic) -> Result<Value, EvalError> {
        let result = Operand::from(result);
        let built = self.builds && result.built() > 0;
        let value = result.into();
        if built {
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
            let operands = all(context, operands)?;
            let built = highest(&operands);
            let operands: Vec<Value> = operands.into_iter().map(Value::from).collect();
            within_budget(context, |budget| {
                Operand::from(filter.apply(&operands, budget)?)
                    .with_levels(built.max(usize::from(filter.builds)))
            })
        });
    }
    operation(&mut engine, "used", |context, operands| operand(context, operands, 0));
    operation(&mut engine, "among", among);
    operation(&mut engine, "choose", choose);
    statements::register(&mut engine);
    engine
}

type Fault = Box<EvalAltResult>;

/// Registers `name(a, b, …)`, which yields a value.
fn operation(
    engine: &mut Engine,
    name: &str,
    run: impl Fn(&mut EvalContext<'_, '_, '_, '_, '_, '_>, &[Expression<'_>]) -> Result<Operand, Fault>
    + Send
    + Sync
    + 'static,
) {
    syntax(engine, name, move |context, operands| run(context, operands).map(Into::into));
}

/// Registers `name(a, b, …)`.
fn syntax(
    engine: &mut Engine,
    name: &str,
    run: impl Fn(&mut EvalContext<'_, '_, '_, '_, '_, '_>, &[Expression<'_>]) -> Result<Dynamic, Fault>
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
        run(context, operands).map_err(|mut fault| {
            if fault.position().is_none() {
                fault.set_position(operands.first().map_or(Position::NONE, Expression::position));
            }
            fault
        })
    });
}

fn operand(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
    index: usize,
) -> Result<Operand, Fault> {
    operands.get(index).map_or(Ok(Operand::Null), |expression| evaluated(context, expression))
}

fn evaluated(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    expression: &Expression<'_>,
) -> Result<Operand, Fault> {
    let value = context.eval_expression_tree(expression)?;
    match value.try_cast_result::<UnfitRead>() {
        Ok(UnfitRead::Doubt(doubt)) => {
            note(context, |doubts| _ = doubts.types.insert(doubt));
            Ok(Operand::Null)
        }
        Ok(UnfitRead::Fault(why)) => Err(why.into()),
        Err(value) => Ok(value.into()),
    }
}

fn all(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Vec<Operand>, Fault> {
    operands.iter().map(|expression| evaluated(context, expression)).collect()
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
    if let Some(doubt) = budget.take_doubt() {
        note(context, |doubts| _ = doubts.types.insert(doubt));
    }
    if budget.emptied() > 0 {
        note(context, |doubts| doubts.emptied += budget.emptied());
    }
    result.map_err(Fault::from)
}

/// Adds to the doubts of the evaluation.
fn note(context: &mut EvalContext<'_, '_, '_, '_, '_, '_>, add: impl FnOnce(&mut EvalDoubts)) {
    if let Some(held) = context.scope_mut().get_mut(DOUBTS) {
        let mut doubts = held.take().try_cast::<EvalDoubts>().unwrap_or_default();
        add(&mut doubts);
        *held = Dynamic::from(doubts);
    }
}

/// `among(x, a, b, …)`: whether `x` equals one of the others, which are evaluated up to that one.
fn among(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    let item = operand(context, operands, 0)?;
    let mut kinds = Vec::new();
    for expression in operands.iter().skip(1) {
        let other = evaluated(context, expression)?;
        if within_budget(context, |budget| item.value_ref().equals(other.value_ref(), budget))? {
            return Ok(Operand::Bool(true));
        }
        // The types are few, however long the list is.
        let kind = other.value_ref().kind();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    within_budget(context, |budget| {
        item.value_ref().doubt_among(kinds.into_iter(), budget);
        Ok(())
    })?;
    Ok(Operand::Bool(false))
}

/// `choose(condition, yes, no)`.
fn choose(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    operands: &[Expression<'_>],
) -> Result<Operand, Fault> {
    let asked = operand(context, operands, 0)?;
    let taken = if condition(asked.value_ref())? { 1 } else { 2 };
    operand(context, operands, taken)
}

fn message(error: &EvalAltResult) -> String {
    if let EvalAltResult::ErrorRuntime(text, _) | EvalAltResult::ErrorTerminated(text, _) = error {
        text.to_string()
    } else if matches!(error, EvalAltResult::ErrorTooManyOperations(_)) {
        format!("the expression takes more than {MAX_OPERATIONS} operations")
    } else {
        error.to_string()
    }
}
