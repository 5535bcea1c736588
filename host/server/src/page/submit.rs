//! The editor: a document is written, submitted, saved as a workflow, or kept as a schedule.

use std::sync::Arc;

use axum::{
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use maud::html;
use phasm::{
    Plan, Problem, SubmitError,
    catalog::{SaveError, WrittenDocument, saved_text},
    store::StoreError,
};

use super::{
    arguments,
    checked::{Checked, LATE, report},
    form::Form,
    see_other,
    shell::Shell,
    words,
    yaml::yaml,
};
use crate::{
    auth::{caller::Caller, session::random},
    call::Call,
    refusal::Refusal,
    saved::{by, schedules, workflows},
};

/// Examples: name in the address, title, and document.
const EXAMPLES: [(&str, &str, &str); 3] = [
    ("hello", "a greeting", include_str!("assets/hello.yaml")),
    ("approval", "an approval", include_str!("assets/approval.yaml")),
    ("schedule", "every working day", include_str!("assets/schedule.yaml")),
];

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    call.query.leave_out_empty();
    let named = |word: &str| EXAMPLES.iter().find(|(known, ..)| *known == word).map(|(_, _, text)| *text);
    let example = call.query.parsed("example", "hello, approval or schedule", named);
    call.query.done()?;
    let [(_, _, first), ..] = EXAMPLES;
    let text = example_for(&call.caller, example.unwrap_or(first));
    edit(&call, &text).await
}

/// The document of a schedule, to be changed.
pub(super) async fn schedule(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let found = schedules::one(&call).await?;
    kept(&call, &found.what.document.digest).await
}

/// The document of a workflow, to be changed.
pub(super) async fn workflow(mut call: Call) -> Result<Response, Refusal> {
    let version = call.query.text("version");
    call.query.done()?;
    let found = workflows::one(&call).await?;
    let digest = found.what.version(version.as_deref()).map(|version| Arc::clone(&version.digest));
    kept(&call, &digest.unwrap_or_default()).await
}

/// The document of a run, to be changed and run with the parameters that it had.
pub(super) async fn rewrite(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let row = call.run().await?;
    let handle = call.app.host.run(&row.head.run_id).await?;
    let (document, parameters) =
        handle.look(|run| (run.plan().document.clone(), run.parameters().clone())).await?;
    let checked = Checked::soon(&call, &yaml(&document.value())).await?;
    Ok(shown(&call, StatusCode::OK, &checked, Some(&arguments::given(&parameters))))
}

async fn kept(call: &Call, digest: &str) -> Result<Response, Refusal> {
    let text = saved_text(&*call.app.reader(), digest).await?.unwrap_or_default();
    edit(call, &text).await
}

async fn edit(call: &Call, text: &str) -> Result<Response, Refusal> {
    let checked = Checked::soon(call, text).await?;
    Ok(shown(call, StatusCode::OK, &checked, None))
}

/// Returns an example, in a namespace that the caller may use.
fn example_for(caller: &Caller, text: &str) -> String {
    match caller.namespaces.first().filter(|_| !caller.sees("default")) {
        Some(own) => text.replacen("metadata: { ", &format!("metadata: {{ namespace: {own}, "), 1),
        None => text.to_owned(),
    }
}

/// The check of a document, as a part of the page.
pub(super) async fn check(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let checked = Checked::of(&call, form.text("document")).await?;
    Ok(report(&checked, Some(&form)).into_response())
}

pub(super) async fn submit(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let mut checked = Checked::of(&call, form.text("document")).await?;
    let act = form.text("act");
    let Some(plan) = checked.sound().cloned().filter(|_| act != "check") else {
        let status = match &checked.refused {
            Some(refused) => refused.status(),
            None if checked.problems.is_empty() => StatusCode::OK,
            None => StatusCode::UNPROCESSABLE_ENTITY,
        };
        return Ok(shown(&call, status, &checked, Some(&form)));
    };
    let done = match act {
        "save" => save(&call, &checked, &plan).await,
        "keep" => keep(&call, &checked, &plan).await,
        _ => run(&call, &form, &plan).await,
    };
    match done? {
        Ok(address) => Ok(see_other(&address)),
        Err(problems) => {
            checked.problems = problems;
            Ok(shown(&call, StatusCode::UNPROCESSABLE_ENTITY, &checked, Some(&form)))
        }
    }
}

/// Where what was done is to be seen, or the problems that it has.
type Done = Result<Result<String, Vec<Problem>>, Refusal>;

async fn run(call: &Call, form: &Form, plan: &Arc<Plan>) -> Done {
    let parameters = arguments::read(plan, form);
    let key = Some(form.text("once")).filter(|key| !key.is_empty());
    let submission = async { call.app.host.new_run(plan, &parameters).await?.key(key).start().await };
    match submission.await {
        Ok(run) => Ok(Ok(format!("/runs/{}", run.id()))),
        // Posted twice.
        Err(SubmitError::Store(StoreError::Exists { run_id })) => Ok(Ok(format!("/runs/{run_id}"))),
        Err(SubmitError::Problems(found)) => Ok(Err(found.to_vec())),
        Err(error) => Err(error.into()),
    }
}

async fn save(call: &Call, checked: &Checked, plan: &Arc<Plan>) -> Done {
    let written = WrittenDocument { file: checked.file(), text: &checked.text };
    let saved = call.app.host.save_workflow(plan, written, by(&call.caller)).await;
    done("workflows", plan, &plan.name, saved.map(drop))
}

async fn keep(call: &Call, checked: &Checked, plan: &Arc<Plan>) -> Done {
    let written = WrittenDocument { file: checked.file(), text: &checked.text };
    let kept = call.app.host.put_schedule(plan, written, by(&call.caller)).await;
    let name = plan.cron.as_ref().map_or(&plan.name, |cron| &cron.name);
    done("schedules", plan, name, kept.map(drop))
}

fn done(what: &str, plan: &Plan, name: &str, saved: Result<(), SaveError>) -> Done {
    match saved {
        Ok(()) => Ok(Ok(words::kept_path(what, &plan.namespace, name))),
        Err(SaveError::Problems(found)) => Ok(Err(found.to_vec())),
        Err(error) => Err(error.into()),
    }
}

fn shown(call: &Call, status: StatusCode, checked: &Checked, form: Option<&Form>) -> Response {
    // Without a random word the form has no idempotency key.
    let word = || random::<16>().ok().map(|word| format!("page-{word}"));
    let sent = form.map(|form| form.text("once").to_owned()).filter(|once| !once.is_empty());
    let once = sent.or_else(word).unwrap_or_default();
    let body = html! {
        h1 { "Write a workflow" }
        p class="examples" {
            "Begin with an example: "
            @for (word, name, _) in EXAMPLES { a href={ "/submit?example=" (word) } { (name) } " " }
            span class="none" { "(their executors come with Phasm)" }
        }
        form class="sheet wide" method="post" action="/submit" data-editor="/submit/check" data-late=(LATE) {
            input type="hidden" name="once" value=(once);
            div class="field" {
                label for="document" { "Document, YAML or JSON" }
                div class="editor" {
                    textarea id="document" name="document" rows="22" spellcheck="false" autocapitalize="off" autocomplete="off"
                        wrap="off" aria-describedby="report" { "\n" (checked.text) }
                }
            }
            (report(checked, form))
            noscript { p class="help" { "Without scripts: check what you have changed before you submit it." } }
        }
    };
    Shell::new("Write a workflow", "/submit", &call.caller).answered(status, &body)
}
