//! Requests whose client hangs up.

use crate::problem_response::ProblemResponse;

/// Carries out a request that changes something in a task of its own. The change completes and reaches the audit log
/// even if the client disconnects, which drops the future of its connection.
///
/// # Errors
/// 500 if the handler panics.
pub(crate) async fn complete_despite_disconnect<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T, ProblemResponse> {
    tokio::spawn(request).await.map_err(|error| ProblemResponse::failed(&error))
}
