//! Inputs and configuration before the first attempt.

use std::sync::Arc;

use super::{Decider, env::TaskEnv};
use crate::{
    event::{Binding, Bindings, InputValue},
    expr::{Doubts, EmptiedText, ValueTemplate},
    plan::{Argument, Level, Node, Parameter, ValueFrom, Work},
    run::state::{Place, State, TYPE_MISMATCH, TaskIndex, TaskRun},
    value::{Map, Value},
};

/// Inputs and configuration that a leaf is dispatched with, in every attempt.
pub(super) struct LeafBindings {
    pub(super) inputs: Bindings,
    pub(super) config: Value,
}

/// A call whose inputs are bound.
#[derive(Clone, Copy)]
pub(super) struct Binder<'a> {
    /// The names that the call's arguments see.
    pub(super) view: TaskEnv<'a>,
    /// The call.
    pub(super) node: &'a Node,
    /// Values given by name besides the arguments.
    pub(super) given: NamedValues<'a>,
    /// Whether inputs without a source are absent instead of an error (R-S12).
    pub(super) lenient: bool,
}

/// Values given by name besides the arguments.
#[derive(Clone, Copy)]
pub(super) enum NamedValues<'a> {
    /// None.
    Nothing,
    /// The run's parameters, which are the root's arguments.
    Parameters(&'a Map),
    /// An item's fields: they fill inputs that the body declares and does not write, and reach nothing else.
    Fields(&'a Map),
}

/// One place a value may come from, and whose names it sees.
#[derive(Clone, Copy)]
pub(super) enum ValueSource<'a> {
    Written(&'a ValueTemplate, Level),
    From(&'a ValueFrom, Level),
    Given(&'a Value),
}

impl Decider<'_> {
    /// Binds what a leaf is dispatched with.
    ///
    /// # Errors
    /// A message naming the input and what is wrong with it.
    pub(super) fn bind(&mut self, id: TaskIndex) -> Result<LeafBindings, String> {
        let mut doubts = Doubts::default();
        let bound = call(self, &self[id], self.node(&self[id])).bind(&mut doubts);
        self.warn_doubts(id, doubts);
        bound
    }

    /// Binds the declared inputs, then passes on what else the call gives.
    ///
    /// # Errors
    /// A message naming the input and what is wrong with it.
    pub(super) fn bind_inputs(&mut self, id: TaskIndex) -> Result<Bindings, String> {
        let mut doubts = Doubts::default();
        let inputs = call(self, &self[id], self.node(&self[id])).inputs(&mut doubts);
        self.warn_doubts(id, doubts);
        inputs
    }

    /// Warns of results that may not be meant: of nulls each time, of types once for each place of the workflow.
    pub(super) fn warn_doubts(&mut self, id: TaskIndex, doubts: Doubts) {
        for (code, message) in doubt_messages(doubts) {
            if code != TYPE_MISMATCH || !self.has_doubted(id, &message) {
                self.warn(Some(id), code, message);
            }
        }
    }
}

/// Codes and messages of the warnings for doubts.
pub(super) fn doubt_messages(doubts: Doubts) -> impl Iterator<Item = (&'static str, String)> {
    let nulls = emptied_message(&doubts);
    let types = doubts.types.into_iter().map(|message| (TYPE_MISMATCH, message));
    nulls.map(|message| ("null-in-text", message)).into_iter().chain(types)
}

/// Returns the message of nulls that became empty text: the first of them, and how many there are.
fn emptied_message(doubts: &Doubts) -> Option<String> {
    let others = match doubts.emptied {
        0 => return None,
        1 => String::new(),
        2 => ", and so was another one".to_owned(),
        all => format!(", and so were {} others", all - 1),
    };
    let EmptiedText { placeholder, place } = doubts.first_emptied.as_ref()?;
    let place = place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
    Some(format!("{place}{placeholder} inside text was null and left empty{others}"))
}

impl<'a> Binder<'a> {
    /// Inputs and configuration.
    pub(super) fn bind(&self, doubts: &mut Doubts) -> Result<LeafBindings, String> {
        let inputs = self.inputs(doubts)?;
        let Work::Executor(call) = &self.node.work else {
            return Ok(LeafBindings { inputs, config: Value::Null });
        };
        let view = TaskEnv { bound: Some(&inputs), level: own_level(self.node), ..self.view };
        let config =
            evaluate(&call.config, &view, doubts).map_err(|error| format!("executor.config: {error}"))?;
        doubts.place(|| "executor.config".to_owned());
        Ok(LeafBindings { inputs, config })
    }

    fn inputs(&self, doubts: &mut Doubts) -> Result<Bindings, String> {
        let node = self.node;
        let mut bound: Vec<Binding> = Vec::with_capacity(node.inputs.len().max(node.arguments.len()));
        for parameter in node.inputs.iter() {
            let argument = node.arguments.iter().rfind(|argument| argument.name == parameter.name);
            let sources = self.sources(parameter, argument);
            if sources.is_empty() && self.lenient {
                continue;
            }
            let value = self.first_of(&bound, &sources, doubts);
            let value = value.map_err(|error| format!("input {}: {error}", parameter.name))?;
            doubts.place(|| format!("input {}", parameter.name));
            check(parameter, &value).map_err(|error| format!("input {}: {error}", parameter.name))?;
            bound.push(Binding { name: parameter.name.clone(), value });
        }
        let declared = |name: &Arc<str>| node.inputs.iter().any(|parameter| parameter.name == *name);
        for argument in node.arguments.iter().filter(|argument| !declared(&argument.name)) {
            let value = self.first_of(&bound, &self.argument_sources(argument), doubts);
            let value = value.map_err(|error| format!("argument {}: {error}", argument.name))?;
            doubts.place(|| format!("argument {}", argument.name));
            bound.push(Binding { name: argument.name.clone(), value });
        }
        Ok(Arc::new(bound))
    }

    /// The first source that is not null; null if all are.
    fn first_of(
        &self,
        bound: &[Binding],
        sources: &[ValueSource<'_>],
        doubts: &mut Doubts,
    ) -> Result<InputValue, String> {
        let view = |level| TaskEnv { bound: Some(bound), level, ..self.view };
        for source in sources {
            let value = match source {
                ValueSource::Given(value) => (*value).clone(),
                ValueSource::From(ValueFrom::Secret(secret), _) => {
                    return Ok(InputValue::SecretKeyRef(secret.clone()));
                }
                ValueSource::From(ValueFrom::Expression(expr), level) => {
                    expr.eval(&view(*level), doubts).map_err(|error| error.to_string())?
                }
                ValueSource::Written(written, level) => evaluate(written, &view(*level), doubts)?,
            };
            if !value.is_null() {
                return Ok(InputValue::Value(value));
            }
        }
        Ok(InputValue::Value(Value::Null))
    }

    fn argument_sources<'s>(&self, argument: &'s Argument) -> Vec<ValueSource<'s>> {
        let level = self.view.level;
        let value = argument.value.as_ref().map(|value| ValueSource::Written(value, level));
        let from = argument.value_from.as_ref().map(|from| ValueSource::From(from, level));
        value.into_iter().chain(from).collect()
    }

    /// argument value > argument valueFrom > parameters of the run > declared value > valueFrom > fields of an item >
    /// default.
    fn sources<'s>(&self, parameter: &'s Parameter, argument: Option<&'s Argument>) -> Vec<ValueSource<'s>>
    where
        'a: 's,
    {
        let level = own_level(self.node);
        let (parameters, fields) = match self.given {
            NamedValues::Nothing => (None, None),
            NamedValues::Parameters(parameters) => (parameters.get(&parameter.name), None),
            NamedValues::Fields(fields) => (None, fields.get(&parameter.name)),
        };
        let mut sources = argument.map(|argument| self.argument_sources(argument)).unwrap_or_default();
        sources.extend(parameters.map(ValueSource::Given));
        sources.extend(written_sources(parameter, level));
        sources.extend(fields.map(ValueSource::Given));
        sources.extend(default_source(parameter, level));
        sources
    }
}

pub(super) fn call<'a>(state: &'a State, task: &'a TaskRun, node: &'a Node) -> Binder<'a> {
    let given = match task.place {
        Place::Root => NamedValues::Parameters(state.parameters()),
        Place::Iteration(..) => {
            state.item(task).and_then(Value::as_object).map_or(NamedValues::Nothing, NamedValues::Fields)
        }
        Place::Dag(..) | Place::Attempt(..) | Place::Entry(..) | Place::Hook(_) => NamedValues::Nothing,
    };
    Binder { view: TaskEnv::new(state, task, Level::Node), node, given, lenient: false }
}

/// Returns the level whose names a node's own declarations and configuration see.
pub(super) fn own_level(node: &Node) -> Level {
    if node.template.is_some() { Level::Template } else { Level::Inline }
}

/// `value`, `valueFrom`, `default` of a declaration, in the order in which they count.
pub(super) fn declared_sources(parameter: &Parameter, level: Level) -> Vec<ValueSource<'_>> {
    written_sources(parameter, level).chain(default_source(parameter, level)).collect()
}

fn written_sources(parameter: &Parameter, level: Level) -> impl Iterator<Item = ValueSource<'_>> {
    let value = parameter.value.as_ref().map(|value| ValueSource::Written(value, level));
    let from = parameter.value_from.as_ref().map(|from| ValueSource::From(from, level));
    value.into_iter().chain(from)
}

fn default_source(parameter: &Parameter, level: Level) -> Option<ValueSource<'_>> {
    parameter.default.as_ref().map(|value| ValueSource::Written(value, level))
}

fn check(parameter: &Parameter, bound: &InputValue) -> Result<(), String> {
    match bound {
        InputValue::Value(value) => check_value(parameter, value),
        InputValue::SecretKeyRef(_) => Ok(()),
    }
}

/// Type and enum; null fits everything (R-B3).
pub(super) fn check_value(parameter: &Parameter, value: &Value) -> Result<(), String> {
    parameter.kind.complaint(value, &parameter.allowed).map_or(Ok(()), Err)
}

pub(super) fn evaluate(
    written: &ValueTemplate,
    view: &TaskEnv<'_>,
    doubts: &mut Doubts,
) -> Result<Value, String> {
    written.eval(view, doubts).map_err(|error| error.to_string())
}
