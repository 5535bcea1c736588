//! Actions on the page of a run.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{
    Rerun,
    engine::{event::TaskId, run::TaskRun},
};

use super::{answer, form::Form, recorded, see_other};
use crate::{call::Call, refusal::Refusal};

pub(super) async fn cancel(call: Call) -> Result<Response, Refusal> {
    call.handle().await?.cancel().await?;
    Ok(see_other(&format!("/runs/{}", call.segment("run"))))
}

pub(super) async fn rerun(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let rerun = Rerun { from_failed: form.text("from") == "failed", ..Rerun::default() };
    let row = call.run().await?;
    let run = call.app.host.rerun(&row.head.run_id, &rerun).await?.start().await?;
    Ok(see_other(&format!("/runs/{}", run.id())))
}

pub(super) async fn cancel_task(call: Call) -> Result<Response, Refusal> {
    let handle = call.handle().await?;
    let name = format!("{}-{}", handle.id(), task_id(&call)?);
    match handle.cancel_task(&name).await? {
        true => Ok(back(&call)),
        false => {
            Err(Refusal::new(StatusCode::CONFLICT, "the task is not open any more; nothing was recorded"))
        }
    }
}

pub(super) async fn resume(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let (handle, id) = (call.handle().await?, task_id(&call)?);
    let run = recorded::read(&call.app, handle.id(), None).await?.run;
    let payload = answer::read(run.task(id).ok_or_else(|| no_task(&call))?, &form)?;
    match handle.resume(&run.task_run_id(id), payload).await? {
        true => Ok(back(&call)),
        false => Err(Refusal::new(
            StatusCode::CONFLICT,
            "the task is not waiting any more: it was answered, or has expired",
        )),
    }
}

fn back(call: &Call) -> Response {
    see_other(&format!("/runs/{}/tasks/{}", call.segment("run"), call.segment("task")))
}

/// The task run of the path.
pub(super) fn task_id(call: &Call) -> Result<TaskId, Refusal> {
    call.segment("task").parse().map(TaskId).map_err(|_| no_task(call))
}

pub(super) fn no_task(call: &Call) -> Refusal {
    let (run, task) = (call.segment("run"), call.segment("task"));
    Refusal::new(StatusCode::NOT_FOUND, format!("run {run} has no task run of the number {task}"))
}

/// Whether nothing has come of it yet.
pub(super) fn is_open(task: &TaskRun) -> bool {
    !task.phase.is_terminal()
}

/// The run of the path, by its id.
pub(super) async fn run_id(call: &Call) -> Result<Arc<str>, Refusal> {
    Ok(call.run().await?.head.run_id.clone())
}
