//! Submitting a run.

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use phasm::{Map, Plan, RunHandle, SubmitError, store::StoreError, store::view, store::view::SubmittedView};

use super::get;
use crate::{
    app::App,
    call::{Call, json},
    document::{self, Sent},
    refusal::Refusal,
};

/// What whoever submits calls the submission.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Characters of it at most.
const LONGEST_KEY: usize = 255;

pub(crate) async fn submit(mut call: Call) -> Result<Response, Refusal> {
    let key = idempotency_key(&call)?;
    let given = call.query.beginning("param.");
    let wait = wait(&mut call);
    call.query.done()?;
    let Sent { name, bytes, draft, parameters } = document::read(&mut call).await?;
    // Before anything of another tenant's is looked at.
    if let Some(namespace) = draft.namespace() {
        call.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(&call, (name, bytes), draft).await?;
    call.caller.may_submit_to(&plan.namespace)?;
    let (handle, response) = keep(&call, &plan, (parameters, given), key.as_deref(), name).await?;
    Ok(awaited(handle, response, wait))
}

/// For how long whoever submits waits for the end.
pub(crate) fn wait(call: &mut Call) -> Option<Duration> {
    let longest = call.app.config.limits.wait;
    call.query.length("wait", longest)
}

/// What a client may wait for that stays once its request is carried out.
#[derive(Clone)]
struct Awaited(RunHandle, Duration);

/// The answer to a submission whose client waits, if it does.
pub(crate) fn awaited(handle: RunHandle, mut response: Response, wait: Option<Duration>) -> Response {
    if let Some(wait) = wait {
        response.extensions_mut().insert(Awaited(handle, wait));
    }
    response
}

/// The run at rest in place of that it was submitted, if somebody waits for it and it comes to rest in time.
pub(crate) async fn rested(app: &App, mut response: Response) -> Response {
    let Some(Awaited(handle, wait)) = response.extensions_mut().remove() else { return response };
    // The run is kept whatever goes wrong from here on.
    if !matches!(get::rest(app, &handle, wait).await, Ok(Some(_))) {
        return response;
    }
    let Ok((mut shown, _)) = get::shown(&handle, None, (0, get::PAGE)).await else { return response };
    shown
        .headers_mut()
        .extend(response.headers_mut().remove(header::LOCATION).map(|at| (header::LOCATION, at)));
    shown
}

/// Submits a run with parameters, and texts that are laid over them; `name` is what problems call the document.
pub(crate) async fn keep(
    call: &Call,
    plan: &Arc<Plan>,
    (mut parameters, given): (Map, Vec<(String, String)>),
    key: Option<&str>,
    name: &str,
) -> Result<(RunHandle, Response), Refusal> {
    let host = &call.app.host;
    for (parameter, text) in given {
        let value = view::parameter(plan, &parameter, &text);
        parameters.insert(parameter.into(), value);
    }
    let submission = async { host.new_run(plan, &parameters).await?.key(key).start().await };
    match submission.await {
        Ok(run) => {
            let response = submitted(run.id(), &plan.name, true);
            Ok((run, response))
        }
        Err(SubmitError::Store(StoreError::Exists { run_id })) => {
            let row = host.store().get(&run_id).await?.ok_or(StoreError::NotFound { run_id })?;
            Ok((host.run_of(&row), submitted(&row.head.run_id, &row.head.workflow, false)))
        }
        Err(SubmitError::Problems(found)) => Err(Refusal::problems(name, &found)),
        Err(error) => Err(error.into()),
    }
}

/// 202: it is durable, and on its way.
pub(crate) fn submitted(run_id: &str, workflow: &str, is_new: bool) -> Response {
    let mut response = json(StatusCode::ACCEPTED, &SubmittedView { run_id, workflow, is_new });
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{run_id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub(crate) fn idempotency_key(call: &Call) -> Result<Option<String>, Refusal> {
    let Some(given) = call.headers().get(IDEMPOTENCY_KEY) else { return Ok(None) };
    // As a string of RFC 8941, or bare.
    let key = given.to_str().ok().map(|text| {
        let text = text.trim();
        text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).trim()
    });
    let key = key.filter(|key| (1..=LONGEST_KEY).contains(&key.len()) && !key.contains(['"', '\t']));
    let detail = || {
        format!("Idempotency-Key: expected 1 to {LONGEST_KEY} visible ASCII characters, no quotes among them")
    };
    key.map(|key| Some(key.to_owned())).ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, detail()))
}
