//! Inputs before an attempt and outputs after it (SPEC section 7).

use std::sync::Arc;

use super::{Run, env::Judged, env::View, node_at};
use crate::{
    event::{Binding, Bindings, Bound, Outputs, TaskId},
    expr::{self, Interpolated},
    outcome::Output,
    plan::{Argument, Level, Node, Parameter, ValueFrom, Work},
    value::Value,
};

/// A leaf's inputs and configuration.
pub(super) struct LeafBound {
    pub(super) inputs: Bindings,
    pub(super) config: Value,
}

/// One place a value may come from, and whose names it sees.
#[derive(Clone, Copy)]
enum Source<'a> {
    Written(&'a Interpolated, Level),
    From(&'a ValueFrom, Level),
    Given(&'a Value),
}

impl Run {
    /// Binds what a leaf is dispatched with.
    ///
    /// # Errors
    /// A message naming the input and what is wrong with it.
    pub(super) fn bind(&mut self, id: TaskId) -> Result<LeafBound, String> {
        let inputs = self.bind_inputs(id)?;
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return Err("no such task run".to_owned()) };
        let node = node_at(&plan, task.place);
        let Work::Executor(call) = &node.work else { return Ok(LeafBound { inputs, config: Value::Null }) };
        let level = if node.template.is_some() { Level::Template } else { Level::Inline };
        let view = View { bound: Some(&inputs), ..View::new(self, task, level) };
        let config = evaluate(&call.config, &view).map_err(|error| format!("executor.config: {error}"))?;
        self.warn_nulls(id, config.emptied);
        Ok(LeafBound { inputs, config: config.value })
    }

    /// Binds the declared inputs, then passes on what else the call gives.
    ///
    /// # Errors
    /// A message naming the input and what is wrong with it.
    pub(super) fn bind_inputs(&mut self, id: TaskId) -> Result<Bindings, String> {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return Err("no such task run".to_owned()) };
        let node = node_at(&plan, task.place);
        let mut bound: Vec<Binding> = Vec::with_capacity(node.inputs.len().max(node.arguments.len()));
        let mut nulls = 0;
        for parameter in &node.inputs {
            let argument = node.arguments.iter().rfind(|argument| argument.name == parameter.name);
            let given = if id == TaskId::ROOT { self.parameters.get(&parameter.name) } else { None };
            let sources = sources(node, parameter, argument, given);
            let value = self.first_of(id, &bound, &sources, &mut nulls);
            let value = value.map_err(|error| format!("input {}: {error}", parameter.name))?;
            check(parameter, &value).map_err(|error| format!("input {}: {error}", parameter.name))?;
            bound.push(Binding { name: parameter.name.clone(), bound: value });
        }
        for argument in &node.arguments {
            if node.inputs.iter().any(|parameter| parameter.name == argument.name) {
                continue;
            }
            let value = self.first_of(id, &bound, &argument_sources(argument), &mut nulls);
            let value = value.map_err(|error| format!("argument {}: {error}", argument.name))?;
            bound.push(Binding { name: argument.name.clone(), bound: value });
        }
        self.warn_nulls(id, nulls);
        Ok(Arc::new(bound))
    }

    /// The first source that is not null; null if all are.
    fn first_of(
        &self,
        id: TaskId,
        bound: &[Binding],
        sources: &[Source<'_>],
        nulls: &mut usize,
    ) -> Result<Bound, String> {
        let Some(task) = self.task(id) else { return Ok(Bound::Value(Value::Null)) };
        let view = |level| View { bound: Some(bound), ..View::new(self, task, level) };
        for source in sources {
            let value = match source {
                Source::Given(value) => (*value).clone(),
                Source::From(ValueFrom::Secret(secret), _) => return Ok(Bound::SecretKeyRef(secret.clone())),
                Source::From(ValueFrom::Expression(expr), level) => {
                    expr.eval(&view(*level)).map_err(|error| error.to_string())?
                }
                Source::Written(written, level) => {
                    let text = evaluate(written, &view(*level))?;
                    *nulls += text.emptied;
                    text.value
                }
            };
            if !value.is_null() {
                return Ok(Bound::Value(value));
            }
        }
        Ok(Bound::Value(Value::Null))
    }

    fn warn_nulls(&mut self, id: TaskId, nulls: usize) {
        if nulls > 0 {
            self.warn(
                Some(id),
                "null-in-text",
                format!("{nulls} placeholders inside text were null and left empty"),
            );
        }
    }

    /// Applies the declared outputs of a task: a whitelist, with values to fill in; none declared passes all.
    pub(super) fn whitelisted(&mut self, id: TaskId, judged: &Judged) -> Outputs {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return Arc::default() };
        let node = node_at(&plan, task.place);
        if node.outputs.is_empty() {
            return Arc::clone(&judged.outputs);
        }
        let mut faults = Vec::new();
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for parameter in &node.outputs {
            let returned = judged.outputs.iter().rfind(|output| output.name == parameter.name);
            let value = match returned {
                Some(output) => Some(output.value.clone()),
                None => self.filled_in(id, node, parameter, Some(judged), &mut faults),
            };
            outputs.extend(value.map(|value| Output { name: parameter.name.clone(), value }));
        }
        self.warn_outputs(id, &node.outputs, &outputs, faults);
        Arc::new(outputs)
    }

    /// Resolves a container's declared outputs, whatever its phase; a dag that declares none passes none.
    pub(super) fn container_outputs(&mut self, id: TaskId) -> Outputs {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return Arc::default() };
        let node = node_at(&plan, task.place);
        let mut faults = Vec::new();
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for parameter in &node.outputs {
            let value = self.filled_in(id, node, parameter, None, &mut faults).unwrap_or_default();
            outputs.push(Output { name: parameter.name.clone(), value });
        }
        self.warn_outputs(id, &node.outputs, &outputs, faults);
        Arc::new(outputs)
    }

    /// `value`, `valueFrom` or `default` of a declared output; `None` when it has none of them.
    fn filled_in(
        &self,
        id: TaskId,
        node: &Node,
        parameter: &Parameter,
        judged: Option<&Judged>,
        faults: &mut Vec<String>,
    ) -> Option<Value> {
        let task = self.task(id)?;
        let level = if node.template.is_some() { Level::Template } else { Level::Inline };
        let sources = declared_sources(parameter, level);
        if sources.is_empty() {
            return None;
        }
        let view = View { result: judged, ..View::new(self, task, level) };
        for source in sources {
            let value = match source {
                Source::Given(_) | Source::From(ValueFrom::Secret(_), _) => continue,
                Source::From(ValueFrom::Expression(expr), _) => {
                    expr.eval(&view).map_err(|error| error.to_string())
                }
                Source::Written(written, _) => evaluate(written, &view).map(|text| text.value),
            };
            match value {
                Ok(Value::Null) => {}
                Ok(value) => return Some(value),
                Err(error) => faults.push(format!("output {} is null: {error}", parameter.name)),
            }
        }
        Some(Value::Null)
    }

    /// Outputs that could not be computed or do not fit their declared type are kept, with a warning (section 7).
    fn warn_outputs(&mut self, id: TaskId, declared: &[Parameter], outputs: &[Output], faults: Vec<String>) {
        for fault in faults {
            self.warn(Some(id), "output", fault);
        }
        for output in outputs {
            let parameter = declared.iter().find(|parameter| parameter.name == output.name);
            if let Some(Err(error)) = parameter.map(|p| check_value(p, &output.value)) {
                self.warn(Some(id), "output-type", format!("output {}: {error}; kept", output.name));
            }
        }
    }
}

fn argument_sources(argument: &Argument) -> Vec<Source<'_>> {
    let value = argument.value.as_ref().map(|value| Source::Written(value, Level::Node));
    let from = argument.value_from.as_ref().map(|from| Source::From(from, Level::Node));
    value.into_iter().chain(from).collect()
}

fn declared_sources(parameter: &Parameter, level: Level) -> Vec<Source<'_>> {
    let value = parameter.value.as_ref().map(|value| Source::Written(value, level));
    let from = parameter.value_from.as_ref().map(|from| Source::From(from, level));
    let default = parameter.default.as_ref().map(|value| Source::Written(value, level));
    value.into_iter().chain(from).chain(default).collect()
}

/// argument value > argument valueFrom > (the root) spec.arguments > declared value > valueFrom > default.
fn sources<'a>(
    node: &Node,
    parameter: &'a Parameter,
    argument: Option<&'a Argument>,
    given: Option<&'a Value>,
) -> Vec<Source<'a>> {
    let level = if node.template.is_some() { Level::Template } else { Level::Inline };
    let mut sources = argument.map(argument_sources).unwrap_or_default();
    sources.extend(given.map(Source::Given));
    sources.extend(declared_sources(parameter, level));
    sources
}

fn check(parameter: &Parameter, bound: &Bound) -> Result<(), String> {
    match bound {
        Bound::Value(value) => check_value(parameter, value),
        Bound::SecretKeyRef(_) => Ok(()),
    }
}

/// Type and enum; null fits everything (section 7).
fn check_value(parameter: &Parameter, value: &Value) -> Result<(), String> {
    parameter.kind.complaint(value, &parameter.allowed).map_or(Ok(()), Err)
}

fn evaluate(written: &Interpolated, view: &View<'_>) -> Result<expr::Bound, String> {
    written.eval(view).map_err(|error| error.to_string())
}
