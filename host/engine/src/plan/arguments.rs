//! The values a run's parameters get.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    expr::{Doubts, Env, EvalError, Expr, ValueTemplate},
    form::{Report, listed},
    names::{walk, workflow_parameter},
    path::Path,
    problem::{
        Problem, Problems,
        codes::{
            Entry,
            bindings::{MISSING_ARGUMENT, UNBOUND_ARGUMENT, UNKNOWN_ARGUMENT},
        },
    },
    tree::{Span, Tree},
    value::{Map, Value},
};

use super::{Parameter, Plan, ValueFrom};

/// Parameters of a run, bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundArguments {
    /// Values by name.
    pub values: Map,
    /// Doubts met while values were calculated, by parameter. The run warns of them.
    pub doubts: Vec<ParameterDoubts>,
}

/// Doubts about the calculated value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDoubts {
    /// Name of the parameter.
    pub parameter: Arc<str>,
    /// The doubts.
    pub doubts: Doubts,
}

impl From<Map> for BoundArguments {
    fn from(values: Map) -> Self {
        Self { values, doubts: Vec::new() }
    }
}

/// Binds the parameters of `spec.arguments` for one run: `given` first, then the declared value, valueFrom and default;
/// null falls through to the next. Values that are calculated see `env` and, as `workflow.parameters`, what is bound
/// before them. A parameter whose value is a secret is bound to null: the engine keeps the reference.
///
/// # Errors
/// All problems at once: names that are not declared, values that do not fit type or enum, parameters without a value,
/// expressions that fail.
pub fn bind_arguments(plan: &Plan, given: &Map, env: &dyn Env) -> Result<BoundArguments, Problems> {
    let report = Report::default();
    report_unknown(plan, given, &report);
    let (mut bound, mut doubted) = (Map::new(), Vec::new());
    for (parameter, site) in plan.arguments.iter().zip(&plan.argument_paths) {
        let mut doubts = Doubts::default();
        let result = bind(parameter, given, &ArgumentEnv { env, bound: &bound }, &mut doubts);
        let result = result.and_then(|value| fits(parameter, value));
        match result {
            Ok(value) => drop(bound.insert(parameter.name.clone(), value)),
            Err(fault) => report.problem(fault.at(site)),
        }
        if doubts != Doubts::default() {
            doubted.push(ParameterDoubts { parameter: parameter.name.clone(), doubts });
        }
    }
    if report.is_sound() {
        Ok(BoundArguments { values: bound, doubts: doubted })
    } else {
        Err(report.into_parts().0.into())
    }
}

/// The fault of one parameter.
struct BadArgument {
    entry: &'static Entry,
    message: String,
    value: Option<Value>,
    hint: Option<String>,
}

impl BadArgument {
    fn at(self, path: &Path) -> Problem {
        let mut problem = Problem::new(self.entry, path, Span::default(), self.message);
        problem.hint = self.hint;
        match self.value {
            Some(value) => problem.with_value(&Tree::from(&value)),
            None => problem,
        }
    }
}

/// The host's view, with the parameters bound so far.
struct ArgumentEnv<'a> {
    env: &'a dyn Env,
    bound: &'a Map,
}

impl Env for ArgumentEnv<'_> {
    fn get(&self, path: &[Arc<str>]) -> Value {
        bound_value(self.bound, path).unwrap_or_else(|| self.env.get(path))
    }
}

/// Returns what a path reads of the workflow's parameters, of which these are bound: null where there is nothing. Absent for a path
/// that reads anything else.
pub(super) fn bound_value(bound: &Map, path: &[Arc<str>]) -> Option<Value> {
    Some(match workflow_parameter(path)? {
        [] => bound.clone().into(),
        [name, rest @ ..] => bound.get(name).map_or(Value::Null, |value| walk(value, rest)),
    })
}

fn report_unknown(plan: &Plan, given: &Map, report: &Report) {
    let known: Vec<_> = plan.arguments.iter().map(|parameter| &*parameter.name).collect();
    let declared: BTreeSet<&str> = known.iter().copied().collect();
    for (name, value) in given.iter().filter(|(name, _)| !declared.contains(&***name)) {
        report.problem(unknown(&known, name, value, report).at(&plan.arguments_path));
    }
}

fn unknown(known: &[&str], name: &Arc<str>, value: &Value, report: &Report) -> BadArgument {
    let expected =
        if known.is_empty() { "none, as the workflow declares none".to_owned() } else { listed(known) };
    let message = format!("unknown parameter `{name}`; expected {expected}");
    let hint = report.did_you_mean(name, known.iter().copied());
    BadArgument { entry: &UNKNOWN_ARGUMENT, message, value: Some(value.clone()), hint }
}

/// A written source of a parameter's value.
enum Source<'p> {
    Template(&'p ValueTemplate),
    Expression(&'p Expr),
}

fn bind(
    parameter: &Parameter,
    given: &Map,
    seen: &ArgumentEnv<'_>,
    doubts: &mut Doubts,
) -> Result<Value, BadArgument> {
    if let Some(value) = given.get(&parameter.name).filter(|value| !value.is_null()) {
        return Ok(value.clone());
    }
    let name = &parameter.name;
    let failed = |EvalError(why): EvalError| BadArgument {
        entry: &UNBOUND_ARGUMENT,
        message: format!("the value of `{name}` cannot be calculated: {why}"),
        value: None,
        hint: None,
    };
    let from = match &parameter.value_from {
        Some(ValueFrom::Expression(expr)) => Some(Source::Expression(expr)),
        Some(ValueFrom::Secret(_)) | None => None,
    };
    let sources = [
        parameter.value.as_ref().map(Source::Template),
        from,
        parameter.default.as_ref().map(Source::Template),
    ];
    let is_secret = matches!(parameter.value_from, Some(ValueFrom::Secret(_)));
    let mut written = is_secret || given.contains_key(name);
    for source in sources.into_iter().flatten() {
        let value = match source {
            Source::Template(template) => template.eval(seen, doubts),
            Source::Expression(expr) => expr.eval(seen, doubts),
        };
        let value = value.map_err(failed)?;
        written = true;
        if !value.is_null() {
            return Ok(value);
        }
    }
    if written { Ok(Value::Null) } else { Err(missing(name)) }
}

fn missing(name: &str) -> BadArgument {
    BadArgument {
        entry: &MISSING_ARGUMENT,
        message: format!("parameter `{name}` has no value; expected one given to the run, or a default"),
        value: None,
        hint: Some(format!("give it with `-p {name}=…`")),
    }
}

fn fits(parameter: &Parameter, value: Value) -> Result<Value, BadArgument> {
    match parameter.kind.type_mismatch(&value, &parameter.allowed) {
        None => Ok(value),
        Some((entry, message)) => {
            let message = format!("parameter `{}`: {message}", parameter.name);
            Err(BadArgument { entry, message, value: Some(value), hint: None })
        }
    }
}
