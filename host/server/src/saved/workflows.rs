//! Saved workflows.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::catalog::{self, CatalogItem, SavedWorkflow};

use super::{Find, named, nothing, removed, written};
use crate::{
    answer::SubmittedRun,
    document::{self, UNKNOWN_SIZE},
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    runs::submit::{self, Submission},
};

pub(crate) const FIND: Find<SavedWorkflow> =
    |store, namespace, after, limit| Box::pin(catalog::saved_workflows(store, namespace, after, limit));

pub(crate) async fn list(context: RequestContext) -> Result<Response, ProblemResponse> {
    super::list(context, "workflows", FIND).await
}

pub(crate) async fn get(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    Ok(json(StatusCode::OK, &one(&context).await?))
}

/// The workflow of the path.
pub(crate) async fn one(context: &RequestContext) -> Result<CatalogItem<SavedWorkflow>, ProblemResponse> {
    let (namespace, name) = named(context)?;
    let found = catalog::saved_workflow(&*context.app.reader(), &namespace, &name).await?;
    found.ok_or_else(|| nothing(&namespace, &name))
}

pub(crate) async fn document(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let version = context.query.text("version");
    context.query.done()?;
    let found = one(&context).await?;
    let version =
        found.what.version(version.as_deref()).ok_or_else(|| nothing(&found.namespace, &found.name))?;
    written(&context, version).await
}

pub(crate) async fn put(context: RequestContext) -> Result<Response, ProblemResponse> {
    super::put(
        context,
        |plan| Some(&*plan.name),
        |host, plan, written, by| Box::pin(host.save_workflow(plan, written, by)),
    )
    .await
}

pub(crate) async fn remove(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let meant = named(&context)?;
    let was_there = catalog::remove_workflow(&**context.app.host.store(), &meant.0, &meant.1).await?;
    removed(was_there, &meant.0, &meant.1)
}

/// Submits a run of it.
pub(crate) async fn run(mut context: RequestContext) -> Result<SubmittedRun, ProblemResponse> {
    let key = submit::idempotency_key(&context)?;
    let overrides = context.query.beginning("param.");
    let version = context.query.text("version");
    let wait = submit::wait(&mut context);
    context.query.done()?;
    let (namespace, name) = named(&context)?;
    let parameters = document::object(&mut context).await?;
    let host = Arc::clone(&context.app.host);
    let read = async move { host.saved_plan(&namespace, &name, version.as_deref()).await };
    let plan = context.work_on(UNKNOWN_SIZE, read).await??;
    let submission = Submission { name: "workflow", bytes: UNKNOWN_SIZE, parameters, overrides, key, wait };
    submit::start(&context, &plan, submission).await
}
