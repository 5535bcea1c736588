//! The executor's verdict on a response, for commands that wait for it.

use std::time::Duration;

use phasm::{PendingResponse, RecoverError, RequestError, ResponseVerdict, RunRequest, engine::run::Run};
use tokio::time::timeout;

use crate::failure::{ContextError, Failure};

/// Time for which a command waits for the executor's verdict on a response.
const VERDICT_TIME: Duration = Duration::from_secs(10);

/// The response that a request gives to a suspended task, if it gives one.
pub(crate) fn response_of(request: &RunRequest, run: &Run) -> Option<PendingResponse> {
    if let RunRequest::Resume { task, .. } = request { PendingResponse::to(run, task) } else { None }
}

/// Waits for the executor's verdict on a response that was recorded.
///
/// # Errors
/// When the executor refuses it, with the reason; when the verdict cannot be read.
pub(crate) async fn check(
    said: &Result<bool, RequestError>,
    verdict: Option<impl Future<Output = Result<ResponseVerdict, RecoverError>>>,
    word: &str,
) -> Result<(), Failure> {
    let verdict = verdict.filter(|_| matches!(said, Ok(true)));
    match refusal(verdict).await? {
        Some(why) => Err(Failure::call(refused(word, &why))),
        None => Ok(()),
    }
}

/// Message about a response that was refused.
pub(crate) fn refused(word: &str, why: &str) -> String {
    format!("not {word}; the response was refused: {why}; the task still waits")
}

/// Waits for the executor's verdict on a response that was recorded. Returns the reason if the executor refuses it.
///
/// # Errors
/// When the verdict cannot be read.
pub(crate) async fn refusal(
    verdict: Option<impl Future<Output = Result<ResponseVerdict, RecoverError>>>,
) -> Result<Option<String>, Failure> {
    let Some(verdict) = verdict else { return Ok(None) };
    match timeout(VERDICT_TIME, verdict).await {
        Ok(Ok(ResponseVerdict::Refused(why))) => Ok(Some(why)),
        // An executor that takes longer decides later: the run says how.
        Ok(Ok(ResponseVerdict::Accepted | ResponseVerdict::Pending)) | Err(_) => Ok(None),
        Ok(Err(error)) => {
            Err(Failure::host(ContextError::new("the verdict on the response cannot be read", error)))
        }
    }
}
