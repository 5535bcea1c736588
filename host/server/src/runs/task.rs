//! One task run.

use axum::{http::StatusCode, response::Response};
use phasm::{TaskView, tasks_named};

use super::values::ResponseLimit;
use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

pub(crate) async fn task(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let handle = context.handle().await?;
    let name = context.segment("task").to_owned();
    let asked = name.clone();
    let found = handle
        .outline(move |run, large| {
            let limit = ResponseLimit::new(run, large);
            tasks_named(run, &asked).next().map(|task| TaskView::limited(run, task, &limit))
        })
        .await?;
    let view = found.ok_or_else(|| ProblemResponse::no_task(handle.id(), &name))?;
    Ok(json(StatusCode::OK, &view))
}
