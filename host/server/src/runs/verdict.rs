//! The executor's verdict on a response, for clients that wait for it.

use std::time::Duration;

use phasm::{PendingResponse, ResponseVerdict, RunError, RunHandle};
use tokio::time::timeout;

use crate::{problem_response::ProblemResponse, state::AppState};

/// Time for which a client that names none waits for the verdict: a client that gets 200 takes the response for accepted.
pub(super) const USUAL_WAIT: Duration = Duration::from_secs(2);

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
    let watch = handle.watch(response.seq)?;
    tokio::select! {
        found = timeout(wait, response.watched(watch)) => match found.ok().transpose()? {
            Some(ResponseVerdict::Refused(why)) => Ok(Some(why)),
            Some(ResponseVerdict::Accepted | ResponseVerdict::Pending) | None => Ok(None),
        },
        () = app.stops() => Ok(None),
    }
}
