//! The form of a suspended task, and the response to it.

use axum::http::StatusCode;
use maud::{Markup, html};
use phasm::{
    Map, Phase, Value,
    engine::run::{Run, TaskRun},
};

use super::{fields::Field, form::Form, format};
use crate::problem_response::ProblemResponse;

/// Prefix of the form's fields, which tells them from those of other forms.
const PREFIX: &str = "answer.";
/// The field of an answer of which nothing is known but that it is an object.
const WHOLE: &str = "whole";

/// The schema that a suspended task asks for.
fn requested_schema(task: &TaskRun) -> Option<&Value> {
    task.outputs.iter().find(|output| &*output.name == "asked").map(|output| &output.value)
}

/// Returns the question, if the task has one in words.
pub(super) fn question(task: &TaskRun) -> Option<&str> {
    let message = requested_schema(task).and_then(|asked| asked.member("message")).and_then(Value::as_str);
    message.or(Some(&*task.message)).filter(|words| !words.is_empty())
}

fn fields(task: &TaskRun) -> Vec<Field> {
    requested_schema(task).and_then(|asked| asked.member("schema")).map(Field::all_of).unwrap_or_default()
}

/// The callers that may respond, and those that may not, as far as the question names them.
fn people(asked: Option<&Value>) -> Vec<(&'static str, String)> {
    let names = |setting: &str| {
        let list = asked?.member(setting)?.as_array()?;
        let names: Vec<_> = list.iter().filter_map(Value::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let rows =
        [("Only these may respond: ", names("approvers")), ("These may not respond: ", names("notBy"))];
    rows.into_iter().filter_map(|(label, names)| Some((label, names?))).collect()
}

/// The form; nothing for what is not suspended.
pub(super) fn form(run: &Run, task: &TaskRun) -> Option<Markup> {
    if task.phase != Phase::Suspended {
        return None;
    }
    let (fields, asked) = (fields(task), requested_schema(task));
    let message = asked.and_then(|asked| asked.member("message")).and_then(Value::as_str);
    let details = asked.and_then(|asked| asked.member("details")).filter(|details| !details.is_null());
    Some(html! {
        section class="ask" id="answer" aria-labelledby="answer-title" {
            h2 id="answer-title" { (message.unwrap_or("Waiting for a response")) }
            @if let Some(details) = details { (format::value(details)) }
            @if !task.message.is_empty() && Some(&*task.message) != message { p class="callout" { (task.message) } }
            @for (label, names) in people(asked) { p class="help" { (label) (names) } }
            form class="sheet" method="post" action={ "/runs/" (run.id()) "/tasks/" (task.id) "/resume" } {
                @for field in &fields { (field.draw(PREFIX, None)) }
                @if fields.is_empty() {
                    div class="field" {
                        label for=(WHOLE) { "Response, a JSON object" }
                        textarea id=(WHOLE) name=(WHOLE) rows="4" class="code" spellcheck="false" { "\n{}" }
                    }
                }
                button { "Send response" }
            }
        }
    })
}

/// The answer that was given.
///
/// # Errors
/// 400 for what is no object, 422 for a number that cannot be kept.
pub(super) fn read(task: &TaskRun, form: &Form) -> Result<Map, ProblemResponse> {
    let fields = fields(task);
    if fields.is_empty() {
        let wrong = |why: String| {
            ProblemResponse::new(StatusCode::BAD_REQUEST, format!("the response is not JSON object: {why}"))
        };
        let whole = Value::from_json(form.text(WHOLE)).map_err(|error| wrong(error.to_string()))?;
        return whole
            .as_object()
            .cloned()
            .ok_or_else(|| wrong("expected names and values in braces".to_owned()));
    }
    let mut given = Map::new();
    for field in fields {
        let value = field.read(form.text(&format!("{PREFIX}{}", field.name)));
        let value = value.map_err(|problem| ProblemResponse::problems("response", &[*problem]))?;
        given.extend(value.map(|value| (field.name.as_str().into(), value)));
    }
    Ok(given)
}
