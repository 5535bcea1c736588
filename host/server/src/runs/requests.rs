//! Requests to a running run: resume a task, cancel.

use axum::{http::StatusCode, response::Response};
use phasm::RequestError;

use super::{
    get::{Page, view},
    verdict,
};
use crate::{document, problem_response::ProblemResponse, request::RequestContext};

pub(crate) async fn cancel(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    context.handle().await?.cancel().await?;
    run_view(context).await
}

pub(crate) async fn cancel_task(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let handle = context.handle().await?;
    let asked = handle.cancel_task(context.segment("task")).await;
    respond(context, asked, "is not open any more").await
}

pub(crate) async fn resume(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let longest = context.app.config.limits.wait;
    let wait = context.query.length("wait", longest).unwrap_or_else(|| verdict::USUAL_WAIT.min(longest));
    context.query.done()?;
    let payload = document::object(&mut context).await?;
    let handle = context.handle().await?;
    let name = context.segment("task").to_owned();
    let response = if wait.is_zero() { None } else { verdict::find(&handle, &name).await? };
    let asked = handle.resume(&name, payload).await;
    context.leave();
    if let (Ok(true), Some(response)) = (&asked, response)
        && let Some(why) = verdict::refusal(response, &context.app, &handle, wait).await?
    {
        let detail = format!("the response was refused: {why}; the task still waits");
        return Err(ProblemResponse::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    respond(context, asked, "is not suspended").await
}

async fn respond(
    context: RequestContext,
    asked: Result<bool, RequestError>,
    otherwise: &str,
) -> Result<Response, ProblemResponse> {
    let name = context.segment("task").to_owned();
    match asked {
        Ok(true) => run_view(context).await,
        Ok(false) => Err(ProblemResponse::new(
            StatusCode::CONFLICT,
            format!("`{name}` {otherwise}; nothing was recorded"),
        )),
        Err(RequestError::UnknownTask) => Err(ProblemResponse::no_task(context.handle().await?.id(), &name)),
        Err(error) => Err(error.into()),
    }
}

/// The run after that.
async fn run_view(context: RequestContext) -> Result<Response, ProblemResponse> {
    let shown = async |context: RequestContext| {
        let row = context.run().await?;
        let handle = context.app.host.run_of(&row);
        Ok(view(&handle, Some(&row), Page::FIRST).await?.0)
    };
    context.on_work_thread(shown).await
}
