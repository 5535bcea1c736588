//! Saved workflows.

use axum::{http::StatusCode, response::Response};
use phasm::saved::{self, WrittenDocument};

use super::{Listed, by, check_named, named, nothing, planned, removed};
use crate::{
    call::{Call, json},
    document,
    refusal::Refusal,
    runs::submit,
};

pub(crate) async fn list(mut call: Call) -> Result<Response, Refusal> {
    let listed = Listed::read(&mut call)?;
    let store = call.app.host.store();
    let mut found = Vec::new();
    for (namespace, after) in listed.left() {
        let left = listed.limit - found.len();
        found.extend(saved::saved_workflows(&**store, namespace, after, left).await?);
    }
    Ok(listed.page(&call, "workflows", &found))
}

pub(crate) async fn get(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    let found = saved::saved_workflow(&**call.app.host.store(), &namespace, &name).await?;
    let found = found.ok_or_else(|| nothing(&namespace, &name))?;
    Ok(json(StatusCode::OK, &found))
}

pub(crate) async fn put(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let meant = named(&call)?;
    let (file, text, plan) = planned(&mut call).await?;
    check_named(&meant, &plan, &plan.name)?;
    let document = WrittenDocument { file, text: &text };
    let kept = call.app.host.save_workflow(&plan, document, by(&call.caller)).await?;
    Ok(json(StatusCode::OK, &kept))
}

pub(crate) async fn remove(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let meant = named(&call)?;
    let was_there = saved::remove_workflow(&**call.app.host.store(), &meant.0, &meant.1).await?;
    removed(was_there, &meant)
}

/// Submits a run of it.
pub(crate) async fn run(mut call: Call) -> Result<Response, Refusal> {
    let key = submit::idempotency_key(&call)?;
    let given = call.query.beginning("param.");
    let version = call.query.text("version");
    let wait = submit::wait(&mut call);
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    let parameters = document::object(&mut call).await?;
    let plan = call.app.host.saved_plan(&namespace, &name, version.as_deref()).await?;
    let (handle, response) =
        submit::keep(&call, &plan, (parameters, given), key.as_deref(), "workflow").await?;
    Ok(submit::awaited(handle, response, wait))
}
