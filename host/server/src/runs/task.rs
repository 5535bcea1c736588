//! One task run.

use axum::{http::StatusCode, response::Response};
use phasm::{TaskView, tasks_named};

use crate::{
    call::{Call, json},
    refusal::Refusal,
};

pub(crate) async fn task(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let handle = call.handle().await?;
    let name = call.segment("task").to_owned();
    let asked = name.clone();
    let found =
        handle.look(move |run| tasks_named(run, &asked).next().map(|task| TaskView::of(run, task))).await?;
    let view = found.ok_or_else(|| no_task(&handle, &name))?;
    Ok(json(StatusCode::OK, &view))
}

pub(super) fn no_task(handle: &phasm::RunHandle, name: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("run {} has no task `{name}`", handle.id()))
}
