//! Saved workflows.

use axum::{http::StatusCode, response::Response};
use phasm::catalog::{self, Saved, SavedWorkflow};

use super::{Find, named, nothing, removed, written};
use crate::{
    answer::Accepted,
    call::{Call, json},
    document,
    refusal::Refusal,
    runs::submit::{self, Submission},
};

pub(crate) const FIND: Find<SavedWorkflow> =
    |store, namespace, after, limit| Box::pin(catalog::saved_workflows(store, namespace, after, limit));

pub(crate) async fn list(call: Call) -> Result<Response, Refusal> {
    super::list(call, "workflows", FIND).await
}

pub(crate) async fn get(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    Ok(json(StatusCode::OK, &one(&call).await?))
}

/// The workflow of the path.
pub(crate) async fn one(call: &Call) -> Result<Saved<SavedWorkflow>, Refusal> {
    let (namespace, name) = named(call)?;
    let found = catalog::saved_workflow(&*call.app.reader(), &namespace, &name).await?;
    found.ok_or_else(|| nothing(&namespace, &name))
}

pub(crate) async fn document(mut call: Call) -> Result<Response, Refusal> {
    let version = call.query.text("version");
    call.query.done()?;
    let found = one(&call).await?;
    let version =
        found.what.version(version.as_deref()).ok_or_else(|| nothing(&found.namespace, &found.name))?;
    written(&call, version).await
}

pub(crate) async fn put(call: Call) -> Result<Response, Refusal> {
    super::put(
        call,
        |plan| Some(&*plan.name),
        |host, plan, written, by| Box::pin(host.save_workflow(plan, written, by)),
    )
    .await
}

pub(crate) async fn remove(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let meant = named(&call)?;
    let was_there = catalog::remove_workflow(&**call.app.host.store(), &meant.0, &meant.1).await?;
    removed(was_there, &meant)
}

/// Submits a run of it.
pub(crate) async fn run(mut call: Call) -> Result<Accepted, Refusal> {
    let key = submit::idempotency_key(&call)?;
    let overrides = call.query.beginning("param.");
    let version = call.query.text("version");
    let wait = submit::wait(&mut call);
    call.query.done()?;
    let (namespace, name) = named(&call)?;
    let parameters = document::object(&mut call).await?;
    let plan = call.app.host.saved_plan(&namespace, &name, version.as_deref()).await?;
    let submission = Submission { name: "workflow", parameters, overrides, key, wait };
    submit::start(&call, &plan, submission).await
}
