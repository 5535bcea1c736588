//! The executor's verdict on a response, for clients that wait for it.

use std::time::Duration;

use phasm::{PendingResponse, ResponseVerdict, RunError, RunHandle};
use tokio::time::timeout;

use crate::{problem_response::ProblemResponse, state::AppState};

/// Finds the response that a suspended task of that name would get.
pub(super) async fn find(handle: &RunHandle, name: &str) -> Result<Option<PendingResponse>, RunError> {
    let name = name.to_owned();
    handle.outline(move |run, _| PendingResponse::to(run, &name)).await
}

/// Returns the executor's reason, if it refuses the response. Waits for so long at most, and while the server goes on.
pub(super) async fn refusal(
    response: PendingResponse,
    app: &AppState,
    handle: &RunHandle,
    wait: Duration,
) -> Result<Option<String>, ProblemResponse> {
    tokio::select! {
        found = timeout(wait, watched(response, handle)) => found.unwrap_or(Ok(None)),
        () = app.stops() => Ok(None),
    }
}

async fn watched(response: PendingResponse, handle: &RunHandle) -> Result<Option<String>, ProblemResponse> {
    let mut watch = handle.watch(response.seq)?;
    loop {
        match handle.outline(move |run, _| response.verdict(run)).await? {
            ResponseVerdict::Pending => {}
            ResponseVerdict::Refused(why) => return Ok(Some(why)),
            ResponseVerdict::Accepted => return Ok(None),
        }
        if watch.next().await?.is_none() {
            return Ok(None);
        }
    }
}
