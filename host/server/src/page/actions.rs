//! Actions on the page of a run.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{
    Rerun,
    engine::{event::TaskId, run::TaskRun},
};

use super::{answer, form::Form, history, once, see_other};
use crate::{problem_response::ProblemResponse, request::RequestContext};

pub(super) async fn cancel(context: RequestContext) -> Result<Response, ProblemResponse> {
    context.handle().await?.cancel().await?;
    Ok(see_other(&format!("/runs/{}", context.segment("run"))))
}

pub(super) async fn rerun(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    context.on_work_thread(async move |context| begin_again(&context, &form).await).await
}

async fn begin_again(context: &RequestContext, form: &Form) -> Result<Response, ProblemResponse> {
    let by = context.caller.requester();
    let rerun = Rerun { from_failed: form.text("from") == "failed", by, ..Rerun::default() };
    let row = context.run().await?;
    let run = context.app.host.rerun(&row.head.run_id, &rerun).await?;
    Ok(see_other(&format!("/runs/{}", once::start(run, form).await?)))
}

pub(super) async fn cancel_task(context: RequestContext) -> Result<Response, ProblemResponse> {
    let handle = context.handle().await?;
    let name = format!("{}-{}", handle.id(), task_id(&context)?);
    match handle.cancel_task(&name).await? {
        true => Ok(back(&context)),
        false => Err(ProblemResponse::new(
            StatusCode::CONFLICT,
            "the task is not open any more; nothing was recorded",
        )),
    }
}

pub(super) async fn resume(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    context.on_work_thread(async move |context| respond(&context, &form).await).await
}

async fn respond(context: &RequestContext, form: &Form) -> Result<Response, ProblemResponse> {
    let (handle, id) = (context.handle().await?, task_id(context)?);
    let run = history::read(&context.app, handle.id(), Some(id), &context.holder).await?.run;
    let payload = answer::read(run.task(id).ok_or_else(|| no_task(context))?, form, &context.caller)?;
    match handle.resume(&run.task_run_id(id), payload).await? {
        // The consequences are seen there.
        true => Ok(see_other(&format!("/runs/{}", context.segment("run")))),
        false => Err(ProblemResponse::new(
            StatusCode::CONFLICT,
            "the task is not waiting any more: it has a response, or has expired",
        )),
    }
}

fn back(context: &RequestContext) -> Response {
    see_other(&format!("/runs/{}/tasks/{}", context.segment("run"), context.segment("task")))
}

/// The task run of the path.
pub(super) fn task_id(context: &RequestContext) -> Result<TaskId, ProblemResponse> {
    context.segment("task").parse().map(TaskId).map_err(|_| no_task(context))
}

pub(super) fn no_task(context: &RequestContext) -> ProblemResponse {
    let (run, task) = (context.segment("run"), context.segment("task"));
    ProblemResponse::new(StatusCode::NOT_FOUND, format!("run {run} has no task run of the number {task}"))
}

/// Whether nothing has come of it yet.
pub(super) fn is_open(task: &TaskRun) -> bool {
    !task.phase.is_terminal()
}

/// The run of the path, by its id.
pub(super) async fn run_id(context: &RequestContext) -> Result<Arc<str>, ProblemResponse> {
    Ok(context.run().await?.head.run_id.clone())
}
