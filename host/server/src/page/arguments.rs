//! The parameters of a document as a form.

use maud::{Markup, html};
use phasm::{Map, Plan, Problem, Value, engine::problem::Problems};

use super::{fields::Field, form::Form};

const PREFIX: &str = "param.";

fn fields(plan: &Plan) -> impl Iterator<Item = Field> {
    plan.arguments.iter().filter(|parameter| parameter.value_from.is_none()).map(Field::of_parameter)
}

/// The fields, with what was given before, and the problems of that.
pub(super) fn draw(plan: &Plan, form: Option<&Form>, problems: &[Problem]) -> Markup {
    let wrong = |name: &str| {
        let problem =
            problems.iter().find(|problem| problem.message.contains(&format!("parameter `{name}`")))?;
        let prefix = format!("parameter `{name}`: ");
        Some(problem.message.strip_prefix(&prefix).unwrap_or(&problem.message))
    };
    let given = |name: &str| {
        form.and_then(|form| form.beginning(PREFIX).find(|(known, _)| *known == name)).map(|(_, text)| text)
    };
    html! {
        @if plan.arguments.is_empty() { p class="help" { "The workflow has no parameters." } }
        @else { p class="help" { "For this run only; the workflow file keeps its defaults." } }
        @for field in fields(plan) { (field.draw_with(PREFIX, given(&field.name), wrong(&field.name))) }
    }
}

/// Returns a form that is filled in with these parameters.
pub(super) fn given(parameters: &Map) -> Form {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_json(), str::to_owned);
    Form::of(parameters.iter().map(|(name, value)| (format!("{PREFIX}{name}"), text(value))))
}

/// Returns the given parameters. Those left out have their defaults.
///
/// # Errors
/// All values that cannot be read.
pub(super) fn read(plan: &Plan, form: &Form) -> Result<Map, Problems> {
    let (mut given, mut problems) = (Map::new(), Vec::new());
    for field in fields(plan) {
        let text = form.beginning(PREFIX).find(|(name, _)| *name == field.name).map(|(_, text)| text);
        match text.map_or(Ok(None), |text| field.read(text)) {
            Ok(value) => given.extend(value.map(|value| (field.name.as_str().into(), value))),
            Err(problem) => problems.push(*problem),
        }
    }
    if problems.is_empty() { Ok(given) } else { Err(problems.into()) }
}
