//! Submitting a run.

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use phasm::{
    Map, Plan, Problem, Problems, RunHandle, SubmitError,
    engine::{problem::codes, run::Run, weight::Weight},
    store::{StoreError, view},
};

use super::get;
use crate::{
    answer::SubmittedRun,
    document::{self, DocumentRequest},
    problem_response::ProblemResponse,
    request::RequestContext,
    state::AppState,
};

/// Header with the client's key of a submission.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Characters of it at most.
const MAX_KEY_LENGTH: usize = 255;
/// Task runs, and bytes of values, of a run that is shown at once after it was waited for.
const MAX_SMALL_TASKS: usize = 32;
const MAX_SMALL_BYTES: usize = 32 << 10;

pub(crate) async fn submit(mut context: RequestContext) -> Result<SubmittedRun, ProblemResponse> {
    let key = idempotency_key(&context)?;
    let overrides = context.query.beginning("param.");
    let wait = wait(&mut context);
    context.query.done()?;
    let DocumentRequest { name, bytes, draft, parameters } = document::read(&mut context).await?;
    // Before anything of another tenant's is looked at.
    if let Some(namespace) = draft.namespace() {
        context.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(&context, name, bytes, draft).await?;
    context.caller.may_submit_to(&plan.namespace)?;
    start(&context, &plan, Submission { name, bytes, parameters, overrides, key, wait }).await
}

/// Returns the longest time that the client waits for the end of the run.
pub(crate) fn wait(context: &mut RequestContext) -> Option<Duration> {
    let longest = context.app.config.limits.wait;
    context.query.length("wait", longest)
}

/// Renders a run that was accepted: the run at rest if the client waits and it comes to rest in time, else 202.
pub(crate) async fn render(app: &AppState, accepted: SubmittedRun) -> Response {
    let Some(wait) = accepted.wait else { return accepted.into_response() };
    // The run is durable: it is accepted even if waiting for it or showing it fails.
    if !matches!(get::rest(app, &accepted.run, wait).await, Ok(Some(_))) {
        return accepted.into_response();
    }
    let run = accepted.run.clone().counted_for(accepted.holder.clone());
    let view = async move { get::view(&run, None, get::Page::FIRST).await };
    let shown = match is_small(&accepted.run).await {
        true => view.await,
        false => app.resources.work(&accepted.holder, view).await.flatten(),
    };
    let Ok((mut shown, _)) = shown else { return accepted.into_response() };
    let location = accepted.into_response().headers_mut().remove(header::LOCATION);
    shown.headers_mut().extend(location.map(|at| (header::LOCATION, at)));
    shown
}

/// Whether showing a run takes less than a turn on another thread.
async fn is_small(run: &RunHandle) -> bool {
    let measured = run.look_if_loaded(|run: &Run| {
        let mut weight = Weight::default();
        let tasks = run.tasks();
        if tasks.len() <= MAX_SMALL_TASKS {
            let values = tasks.iter().flat_map(|task| task.outputs.iter()).map(|output| &output.value);
            values.chain(run.parameters().values()).for_each(|value| weight.add_json(value, MAX_SMALL_BYTES));
        }
        tasks.len() <= MAX_SMALL_TASKS && weight.bytes() <= MAX_SMALL_BYTES
    });
    matches!(measured.await, Ok(Some(true)))
}

/// A submission of a plan that has been read.
pub(crate) struct Submission {
    /// Name of the document in problems.
    pub(crate) name: &'static str,
    /// Size of the document, as far as it is known.
    pub(crate) bytes: usize,
    pub(crate) parameters: Map,
    /// Parameters of the query, as text. They override `parameters`.
    pub(crate) overrides: Vec<(String, String)>,
    pub(crate) key: Option<String>,
    pub(crate) wait: Option<Duration>,
}

/// Submits a run of `plan`. With a key that a run has already, that run is returned.
pub(crate) async fn start(
    context: &RequestContext,
    plan: &Arc<Plan>,
    submission: Submission,
) -> Result<SubmittedRun, ProblemResponse> {
    let Submission { name, bytes, mut parameters, overrides, key, wait } = submission;
    let host = Arc::clone(&context.app.host);
    let mut problems = Vec::new();
    for (parameter, text) in overrides {
        match view::parameter(plan, &parameter, &text) {
            Ok(value) => parameters.insert(parameter.into(), value).map_or((), drop),
            Err(problem) => problems.push(*problem),
        }
    }
    if !problems.is_empty() {
        return Err(ProblemResponse::problems(name, &problems));
    }
    // Beginning a run takes the longer the larger its document is; waiting until it is durable needs no thread.
    let (planned, holder) = (Arc::clone(plan), context.holder.clone());
    let by = context.caller.requester();
    let begun =
        context.work_on(bytes, async move { host.new_run_by(&planned, &parameters, by).await }).await?;
    let started = async { begun?.key(key.as_deref()).start().await };
    let host = &context.app.host;
    match started.await {
        Ok(run) => Ok(SubmittedRun { run, workflow: Arc::clone(&plan.name), is_new: true, holder, wait }),
        Err(SubmitError::Store(StoreError::Exists { run_id })) => {
            let row = host.store().get(&run_id).await?.ok_or(StoreError::NotFound { run_id })?;
            let workflow = Arc::clone(&row.head.workflow);
            Ok(SubmittedRun { run: host.run_of(&row), workflow, is_new: false, holder, wait })
        }
        Err(SubmitError::Problems(found)) => Err(ProblemResponse::problems(name, &shaped(&found, name))),
        Err(error) => Err(error.into()),
    }
}

/// Says which body a route expects, where parameters of the other shape are unknown (P051).
pub(crate) fn shaped(found: &Problems, name: &str) -> Vec<Problem> {
    let of_saved = ["workflow", "schedule"].contains(&name);
    let with_shape = |problem: Problem| {
        let is_wrapper = ["`parameters`", "`document`"].iter().any(|word| problem.message.contains(word));
        if problem.code != codes::bindings::UNKNOWN_ARGUMENT.code || !of_saved || !is_wrapper {
            return problem;
        }
        problem.with_hint(
            "the body of this route is the parameters themselves, such as `{\"name\": \"value\"}`; `parameters` next to `document` \
             is the body of `POST /v1/runs`",
        )
    };
    found.iter().cloned().map(with_shape).collect()
}

pub(crate) fn idempotency_key(context: &RequestContext) -> Result<Option<String>, ProblemResponse> {
    let Some(given) = context.headers().get(IDEMPOTENCY_KEY) else { return Ok(None) };
    // A string of RFC 8941, or bare.
    let key = given.to_str().ok().map(|text| {
        let text = text.trim();
        text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).trim()
    });
    let key = key.filter(|key| (1..=MAX_KEY_LENGTH).contains(&key.len()) && !key.contains(['"', '\t']));
    let detail = || {
        format!(
            "Idempotency-Key: expected 1 to {MAX_KEY_LENGTH} visible ASCII characters, no quotes among them"
        )
    };
    key.map(|key| Some(key.to_owned())).ok_or_else(|| ProblemResponse::new(StatusCode::BAD_REQUEST, detail()))
}
