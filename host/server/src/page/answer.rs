//! The form of a suspended task, and the response to it.

use axum::http::StatusCode;
use maud::{Markup, html};
use phasm::{
    Map, Phase, Value,
    engine::run::{Run, TaskRun},
};

use super::{
    fields::{DECISION, Field},
    form::Form,
    format,
};
use crate::{
    auth::caller::{Caller, Role},
    problem_response::ProblemResponse,
};

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

/// Returns the first question that a run waits for, and how many more there are, in one line.
pub(super) fn brief(run: &Run) -> Option<String> {
    let mut waiting = run.tasks().iter().filter(|task| task.phase == Phase::Suspended);
    let first = waiting.next()?;
    let (place, more) = (run.path(first), waiting.count());
    let asks = question(first).map_or(place.clone(), |words| format!("{place}: {words}"));
    Some(if more > 0 { format!("{asks} (and {more} more)") } else { asks })
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

/// Whether a task of the run waits for a response that the caller may give.
pub(super) fn is_for(run: &Run, caller: &Caller) -> bool {
    let name = caller.key.as_deref();
    let may_respond = |task: &TaskRun| {
        let names = |setting: &str| {
            let list =
                requested_schema(task).and_then(|asked| asked.member(setting)).and_then(Value::as_array);
            list.map(|list| list.iter().any(|one| one.as_str() == name && name.is_some()))
        };
        // Without keys no caller is known, and a task that names its callers refuses all of them.
        names("approvers") != Some(false) && names("notBy") != Some(true)
    };
    caller.may(Role::Approve).is_ok()
        && run.tasks().iter().filter(|task| task.phase == Phase::Suspended).any(may_respond)
}

/// The form; nothing for what is not suspended. Where the response has `approved`, its two values are the two buttons.
pub(super) fn form(run: &Run, task: &TaskRun, caller: &Caller) -> Option<Markup> {
    if task.phase != Phase::Suspended {
        return None;
    }
    let (fields, asked) = (fields(task), requested_schema(task));
    let message = asked.and_then(|asked| asked.member("message")).and_then(Value::as_str);
    let details = asked.and_then(|asked| asked.member("details")).filter(|details| !details.is_null());
    let decides = fields.iter().any(Field::is_decision);
    // The key that is signed in is the caller that responds.
    let is_known = |field: &Field| field.is_name() && caller.key.is_some();
    let is_typed = |field: &&Field| !(field.is_decision() || is_known(field));
    let prefix = format!("{PREFIX}{}.", task.id);
    // Its place stands beside the buttons; those who hear them alone need it in their names.
    let what = html! { span class="unseen" { " " (run.path(task)) } };
    let (form, whole) = (format!("respond-{}", task.id), format!("{WHOLE}-{}", task.id));
    Some(html! {
        h2 id={ "ask-title-" (task.id) } { (message.unwrap_or("Waiting for a response")) }
        @if let Some(details) = details { (background(details)) }
        @if !task.message.is_empty() && Some(&*task.message) != message { p class="callout" { (task.message) } }
        @for (label, names) in people(asked) { p class="help" { (label) (names) } }
        form id=(form) class="sheet" method="post" action={ "/runs/" (run.id()) "/tasks/" (task.id) "/resume" } {
            @for field in fields.iter().filter(is_typed) { (field.draw(&prefix, None)) }
            @if fields.is_empty() {
                div class="field" {
                    label for=(whole) { "Response, a JSON object" }
                    textarea id=(whole) name=(WHOLE) rows="4" class="code" spellcheck="false" { "\n{}" }
                }
            }
            div class="acts" {
                @if decides {
                    button name={ (prefix) (DECISION) } value="true" { "Approve" (what) }
                    button name={ (prefix) (DECISION) } value="false" class="danger" formnovalidate { "Reject" (what) }
                } @else { button { "Send response" } }
                span class="help" {
                    (run.path(task))
                    @if let Some(key) = &caller.key { ", as " (key) }
                    @if let Some(at) = task.clocks.absolute() { ", expires " (format::time(at)) }
                }
            }
        }
    })
}

/// The background of a question: a list of names and values, or what else it is.
fn background(details: &Value) -> Markup {
    let is_flat = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_json(), str::to_owned);
    html! {
        @match details.as_object().filter(|members| members.values().all(is_flat)) {
            Some(members) => dl class="facts" { @for (name, value) in members { div { dt { (name) } dd { (shown(value)) } } } },
            None => (format::value(details)),
        }
    }
}

/// The answer that was given.
///
/// # Errors
/// 400 for what is no object, 422 for a number that cannot be kept.
pub(super) fn read(task: &TaskRun, form: &Form, caller: &Caller) -> Result<Map, ProblemResponse> {
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
        let signed_in = caller.key.as_deref().filter(|_| field.is_name());
        let text = signed_in.unwrap_or_else(|| form.text(&format!("{PREFIX}{}.{}", task.id, field.name)));
        let value = field.read(text);
        let value = value.map_err(|problem| ProblemResponse::problems("response", &[*problem]))?;
        given.extend(value.map(|value| (field.name.as_str().into(), value)));
    }
    Ok(given)
}
