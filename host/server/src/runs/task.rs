//! One task run.

use axum::{http::StatusCode, response::Response};
use phasm::{TaskView, tasks_named};

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

pub(crate) async fn task(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let handle = context.handle().await?;
    let name = context.segment("task").to_owned();
    let asked = name.clone();
    let found =
        handle.look(move |run| tasks_named(run, &asked).next().map(|task| TaskView::of(run, task))).await?;
    let view = found.ok_or_else(|| no_task(&handle, &name))?;
    Ok(json(StatusCode::OK, &view))
}

pub(super) fn no_task(handle: &phasm::RunHandle, name: &str) -> ProblemResponse {
    ProblemResponse::new(StatusCode::NOT_FOUND, format!("run {} has no task `{name}`", handle.id()))
}
