//! Submitting a workflow: an editor that shows problems where they are, and the parameters as a form.

use std::sync::Arc;

use axum::{
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use phasm::{Plan, Problem, SubmitError, engine::plan::Draft, reader, store::StoreError};

use super::{arguments, form::Form, see_other, shell::Shell, words};
use crate::{call::Call, refusal::Refusal};

/// What one begins with.
const EXAMPLE: &str = include_str!("assets/example.yaml");
/// Problems that are shown.
const MOST: usize = 50;

/// A document, and what was found of it.
struct Checked {
    text: String,
    plan: Option<Arc<Plan>>,
    problems: Vec<Problem>,
}

impl Checked {
    /// # Errors
    /// 403 for a namespace that the key is not bound to.
    async fn of(call: &Call, text: &str) -> Result<Self, Refusal> {
        let text = text.replace("\r\n", "\n");
        let name = if text.trim_start().starts_with('{') { "document.json" } else { "document.yaml" };
        let (plan, problems) = match reader::read(name, &text) {
            Err(problems) => (None, problems),
            Ok(tree) => {
                let draft = Draft::read(&tree);
                if let Some(namespace) = draft.namespace() {
                    call.caller.may_submit_to(&namespace)?;
                }
                match call.app.host.plan_draft(draft).await {
                    Ok(plan) => {
                        call.caller.may_submit_to(&plan.namespace)?;
                        (Some(plan), Vec::new())
                    }
                    Err(problems) => (None, problems.to_vec()),
                }
            }
        };
        Ok(Self { text, plan, problems })
    }
}

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let checked = Checked::of(&call, EXAMPLE).await?;
    Ok(shown(&call, StatusCode::OK, &checked, None))
}

/// What was found of a document, as a part of the page.
pub(super) async fn check(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let checked = Checked::of(&call, form.text("document")).await?;
    Ok(report(&checked, Some(&form)).into_response())
}

pub(super) async fn submit(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let mut checked = Checked::of(&call, form.text("document")).await?;
    let Some(plan) = checked.plan.clone().filter(|_| form.text("act") != "check") else {
        let status =
            if checked.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        return Ok(shown(&call, status, &checked, Some(&form)));
    };
    let parameters = arguments::read(&plan, &form);
    let key = Some(form.text("once")).filter(|key| !key.is_empty());
    match call.app.host.submit_as(&plan, &parameters, key).await {
        Ok(run) => {
            call.app.metrics.submitted();
            Ok(see_other(&format!("/runs/{}", run.id())))
        }
        // Posted twice.
        Err(SubmitError::Store(StoreError::Exists { run_id })) => Ok(see_other(&format!("/runs/{run_id}"))),
        Err(SubmitError::Problems(found)) => {
            checked.problems = found.to_vec();
            Ok(shown(&call, StatusCode::UNPROCESSABLE_ENTITY, &checked, Some(&form)))
        }
        Err(error) => Err(error.into()),
    }
}

fn shown(call: &Call, status: StatusCode, checked: &Checked, form: Option<&Form>) -> Response {
    // Whoever cannot have one may post twice.
    let once = form.map(|form| form.text("once").to_owned()).or_else(random).unwrap_or_default();
    let body = html! {
        h1 { "Submit a workflow" }
        form class="sheet wide" method="post" action="/submit" data-editor="/submit/check" {
            input type="hidden" name="once" value=(once);
            div class="field" {
                label for="document" { "Document, YAML or JSON" }
                div class="editor" {
                    textarea id="document" name="document" rows="22" spellcheck="false" autocapitalize="off" autocomplete="off"
                        wrap="off" aria-describedby="report" { "\n" (checked.text) }
                }
            }
            (report(checked, form))
            div class="acts" {
                button name="act" value="submit" { "Submit" }
                button class="plain" name="act" value="check" { "Check" }
            }
        }
    };
    Shell::new("Submit", "/submit", &call.caller).answered(status, &body)
}

/// Problems, warnings, and what the document has to be given.
fn report(checked: &Checked, form: Option<&Form>) -> Markup {
    let warnings = checked.plan.as_ref().map(|plan| plan.warnings.as_slice()).unwrap_or_default();
    html! {
        div id="report" {
            div class="findings" role="status" {
                @if checked.problems.is_empty() { p class="good" { "The document is valid." } }
                @else { p class="bad" { (words::count(checked.problems.len(), "problem")) } }
            }
            (list(&checked.problems, "problems"))
            (list(warnings, "problems warnings"))
            @if let Some(plan) = &checked.plan {
                fieldset id="arguments" data-keys=(keys(plan)) { legend { "Parameters" } (arguments::draw(plan, form)) }
            }
        }
    }
}

/// What the form depends on: as long as it stays, so does the form.
fn keys(plan: &Plan) -> String {
    let all = plan.arguments.iter().map(|argument| format!("{}:{}", argument.name, argument.kind.as_str()));
    all.collect::<Vec<_>>().join(",")
}

fn list(problems: &[Problem], class: &str) -> Markup {
    html! {
        @if !problems.is_empty() {
            ul class=(class) {
                @for problem in problems.iter().take(MOST) {
                    li data-line=(problem.line) data-column=(problem.column) {
                        @if problem.line > 0 { span class="place" { "line " (problem.line) } " " }
                        code { (problem.code) } " "
                        @if !problem.path.is_empty() { code { (problem.path) } ": " }
                        (problem.message)
                        @if let Some(hint) = &problem.hint { " " span class="hint" { (hint) } }
                    }
                }
                @if problems.len() > MOST { li { "and " (problems.len() - MOST) " more" } }
            }
        }
    }
}

fn random() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("page-{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
