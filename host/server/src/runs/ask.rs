//! Requests to a running run: resume a task, cancel.

use axum::{http::StatusCode, response::Response};
use phasm::RequestError;

use super::{
    get::{Page, shown},
    task::no_task,
};
use crate::{call::Call, document, refusal::Refusal};

pub(crate) async fn cancel(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    call.handle().await?.cancel().await?;
    standing(&call).await
}

pub(crate) async fn cancel_task(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let handle = call.handle().await?;
    let name = call.segment("task");
    let asked = handle.cancel_task(name).await;
    answered(&call, asked, "is not open any more").await
}

pub(crate) async fn resume(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let payload = document::object(&mut call).await?;
    let handle = call.handle().await?;
    let name = call.segment("task");
    let asked = handle.resume(name, payload).await;
    answered(&call, asked, "is not suspended").await
}

async fn answered(
    call: &Call,
    asked: Result<bool, RequestError>,
    otherwise: &str,
) -> Result<Response, Refusal> {
    let name = call.segment("task");
    match asked {
        Ok(true) => standing(call).await,
        Ok(false) => {
            Err(Refusal::new(StatusCode::CONFLICT, format!("`{name}` {otherwise}; nothing was recorded")))
        }
        Err(RequestError::UnknownTask) => Err(no_task(&call.handle().await?, name)),
        Err(error) => Err(error.into()),
    }
}

/// The run after that.
async fn standing(call: &Call) -> Result<Response, Refusal> {
    let row = call.run().await?;
    let handle = call.app.host.run_of(&row);
    Ok(shown(&handle, Some(&row), Page::FIRST).await?.0)
}
