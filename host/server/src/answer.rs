//! The outcome of a handler.

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use phasm::{RunHandle, fair_queue::Holder, store::view::SubmittedView};

use crate::request::json;

/// Outcome of a handler. The router turns it into a response.
pub(crate) enum Answer {
    Response(Response),
    Submitted(Box<SubmittedRun>),
}

/// A run that was submitted and is durable.
pub(crate) struct SubmittedRun {
    pub(crate) run: RunHandle,
    pub(crate) workflow: Arc<str>,
    /// False for a run that existed under the same idempotency key.
    pub(crate) is_new: bool,
    /// The holder that showing the run counts for.
    pub(crate) holder: Holder,
    /// Longest time that the client waits for the end of the run, if it waits.
    pub(crate) wait: Option<Duration>,
}

impl Answer {
    /// Status of the answer to a client that does not wait.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Response(response) => response.status(),
            Self::Submitted(_) => StatusCode::ACCEPTED,
        }
    }
}

impl From<Response> for Answer {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

impl From<SubmittedRun> for Answer {
    fn from(run: SubmittedRun) -> Self {
        Self::Submitted(Box::new(run))
    }
}

impl IntoResponse for SubmittedRun {
    fn into_response(self) -> Response {
        submitted(self.run.id(), &self.workflow, self.is_new)
    }
}

/// Returns 202 with the location of a run that is durable.
pub(crate) fn submitted(run_id: &str, workflow: &str, is_new: bool) -> Response {
    let mut response = json(StatusCode::ACCEPTED, &SubmittedView { run_id, workflow, is_new });
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{run_id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
