//! Submitting a run.

use std::sync::Arc;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use phasm::{Map, Plan, SubmitError, show, show::SubmittedView, store::StoreError};

use crate::{
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
    call.query.done()?;
    let Sent { name, draft, parameters } = document::read(&mut call).await?;
    // Before anything of another tenant's is looked at.
    if let Some(namespace) = draft.namespace() {
        call.caller.may_submit_to(&namespace)?;
    }
    let plan = call.app.host.plan_draft(draft).await.map_err(|found| Refusal::problems(name, &found))?;
    call.caller.may_submit_to(&plan.namespace)?;
    keep(&call, &plan, (parameters, given), key.as_deref(), name).await
}

/// Submits a run with parameters, and texts that are laid over them; `name` is what problems call the document.
pub(crate) async fn keep(
    call: &Call,
    plan: &Arc<Plan>,
    (mut parameters, given): (Map, Vec<(String, String)>),
    key: Option<&str>,
    name: &str,
) -> Result<Response, Refusal> {
    let host = &call.app.host;
    for (parameter, text) in given {
        let value = show::parameter(plan, &parameter, &text);
        parameters.insert(parameter.into(), value);
    }
    match host.submit_as(plan, &parameters, key).await {
        Ok(run) => {
            call.app.metrics.submitted();
            Ok(submitted(run.id(), &plan.name, true))
        }
        Err(SubmitError::Store(StoreError::Exists { run_id })) => {
            let row = host.store().get(&run_id).await?;
            let workflow = row.map_or_else(|| Arc::clone(&plan.name), |row| Arc::clone(&row.head.workflow));
            Ok(submitted(&run_id, &workflow, false))
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
    let key = given.to_str().ok().map(|text| text.trim().trim_matches('"'));
    let key = key.filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    let detail = || format!("Idempotency-Key: expected 1 to {LONGEST_KEY} visible ASCII characters");
    key.map(|key| Some(key.to_owned())).ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, detail()))
}
