//! Why a request was not carried out, as RFC 9457 has it.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use phasm::{
    Problem, QuotaExceeded, RecoverError, RequestError, RerunError, RunError, SubmitError,
    artifacts::ArtifactError, engine::problem::codes, store::StoreError, store::view::ProblemView,
};
use serde_json::{Value, json};

use crate::{auth::token::TokenError, hidden_paths::HiddenPaths};

/// Prefix of problem types.
const KINDS: &str = "urn:phasm:problem:";

/// Why a request was not carried out.
#[derive(Debug)]
pub(crate) struct ProblemResponse {
    status: StatusCode,
    detail: String,
    /// Detail for callers that see all namespaces, where it may have paths of the host or addresses of its store in it.
    host_detail: Option<String>,
    problems: Vec<ProblemView>,
    retry_after: Option<u64>,
    headers: Vec<(header::HeaderName, &'static str)>,
}

impl ProblemResponse {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let (problems, retry_after, headers) = (Vec::new(), None, Vec::new());
        Self { status, detail: detail.into(), host_detail: None, problems, retry_after, headers }
    }

    /// Nothing of that name, or nothing that the caller may see.
    pub(crate) fn no_run(run_id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no run {run_id}"))
    }

    /// No task of that name in a run.
    pub(crate) fn no_task(run_id: &str, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("run {run_id} has no task `{name}`"))
    }

    /// A document or parameters with problems.
    pub(crate) fn problems(name: &str, found: &[Problem]) -> Self {
        let problems = found.iter().map(|problem| ProblemView::of(name, problem)).collect();
        let detail = "the workflow file or its parameters have errors; nothing was stored";
        // No text at all, wherever it stands, and not a mistake in a workflow.
        let has_nul = found.iter().any(|problem| problem.code == codes::source::NUL.code);
        let status = if has_nul { StatusCode::BAD_REQUEST } else { StatusCode::UNPROCESSABLE_ENTITY };
        Self { problems, ..Self::new(status, detail) }
    }

    /// A document with warnings, for a client that takes them for errors.
    pub(crate) fn strict(problems: Vec<ProblemView>) -> Self {
        let detail = "the workflow file has warnings, which `strict` treats as errors";
        Self { problems, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail) }
    }

    /// A request with faults, all of them.
    pub(crate) fn faults(problems: Vec<ProblemView>) -> Self {
        let detail = "the request's parameters are not as expected";
        Self { problems, ..Self::new(StatusCode::BAD_REQUEST, detail) }
    }

    pub(crate) fn with(mut self, name: header::HeaderName, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn again_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The machine failed us: what is said of it goes to the log, with its causes.
    pub(crate) fn failed(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        let detail = "the server failed; its log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail).of_host(error)
    }

    pub(crate) fn unavailable(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::warn!(error, "a request has to be made again");
        let detail = "the server cannot do it now; try again, and see its log if that lasts";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail).of_host(error).again_after(1)
    }

    /// Adds an error that names things of the host.
    pub(crate) fn of_host(mut self, error: &(dyn std::error::Error + 'static)) -> Self {
        self.host_detail = Some(error.to_string());
        self
    }

    /// Returns the response for a caller that sees everything, or for one that is bound to namespaces or is not known, and learns nothing
    /// about the host: neither the store's address nor where files lie.
    pub(crate) fn shown_to(mut self, sees_all: bool, hidden: &HiddenPaths) -> Self {
        if let Some(detail) = self.host_detail.take().filter(|_| sees_all) {
            self.detail = detail;
        }
        if !sees_all {
            self.detail = hidden.hide(&self.detail);
            self.problems = self.problems.into_iter().map(|problem| hidden.hide_in(problem)).collect();
        }
        self
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The problems that it tells.
    pub(crate) fn shown(&self) -> &[ProblemView] {
        &self.problems
    }

    pub(crate) fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Refused")
    }

    fn body(&self) -> Value {
        let kind = self.title().to_ascii_lowercase().replace(' ', "-");
        let mut body = json!({ "type": format!("{KINDS}{kind}"), "title": self.title(), "status": self.status.as_u16(),
            "detail": self.detail });
        if let Some(object) = body.as_object_mut().filter(|_| !self.problems.is_empty()) {
            let errors = serde_json::to_value(&self.problems).unwrap_or_default();
            // The earlier name stays for this format version.
            object.insert("problems".to_owned(), errors.clone());
            object.insert("errors".to_owned(), errors);
        }
        body
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        for (name, value) in self.headers {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<TokenError> for ProblemResponse {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Random(error) => Self::failed(&error),
            TokenError::Full => Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string()).again_after(60),
        }
    }
}

impl From<StoreError> for ProblemResponse {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotFound { run_id } => Self::no_run(run_id),
            StoreError::Closed { .. }
            | StoreError::Exists { .. }
            | StoreError::Moved { .. }
            | StoreError::Crowded { .. } => Self::new(StatusCode::CONFLICT, error.to_string()),
            StoreError::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            StoreError::MailboxFull { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).again_after(1)
            }
            StoreError::Full { .. }
            | StoreError::Gone { .. }
            | StoreError::Io { .. }
            | StoreError::Locked { .. }
            | StoreError::Unavailable { .. }
            // Another host drives the run by now: a retry is answered from its records.
            | StoreError::LeaseLost { .. } => Self::unavailable(&error),
            StoreError::Conflict { .. }
            | StoreError::StillOpen { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Refused { .. }
            | StoreError::Stopped => Self::failed(&error),
        }
    }
}

impl From<RecoverError> for ProblemResponse {
    fn from(error: RecoverError) -> Self {
        let stands = matches!(
            error,
            RecoverError::Ended { .. } | RecoverError::Driven { .. } | RecoverError::Missing { .. }
        );
        if let RecoverError::Store(error) = error {
            return error.into();
        }
        if stands { Self::new(StatusCode::CONFLICT, error.to_string()) } else { Self::failed(&error) }
    }
}

impl From<RunError> for ProblemResponse {
    fn from(error: RunError) -> Self {
        match &error {
            RunError::Lost(lost) => (**lost).clone().into(),
            RunError::Closed => Self::unavailable(&error),
        }
    }
}

impl From<RequestError> for ProblemResponse {
    fn from(error: RequestError) -> Self {
        match &error {
            RequestError::Ended | RequestError::Refused(_) => {
                Self::new(StatusCode::CONFLICT, error.to_string())
            }
            RequestError::UnknownTask => Self::new(StatusCode::NOT_FOUND, error.to_string()),
            RequestError::Lost(lost) => (**lost).clone().into(),
            RequestError::Unanswered | RequestError::Closed => Self::unavailable(&error),
        }
    }
}

impl From<QuotaExceeded> for ProblemResponse {
    fn from(error: QuotaExceeded) -> Self {
        let now = phasm::clock::Clock::start().now();
        let seconds = error.retry_at.map_or(1, |at| at.since(now).div_ceil(1000).max(1));
        Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string()).again_after(seconds)
    }
}

impl From<ArtifactError> for ProblemResponse {
    fn from(error: ArtifactError) -> Self {
        let status = match &error {
            ArtifactError::NotOfRun(_) | ArtifactError::Missing(_) | ArtifactError::NotAFile { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ArtifactError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ArtifactError::Full { .. } => StatusCode::INSUFFICIENT_STORAGE,
            ArtifactError::NoPlace => StatusCode::NOT_IMPLEMENTED,
            ArtifactError::Damaged { .. } | ArtifactError::Io { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<SubmitError> for ProblemResponse {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Problems(found) => Self::problems("parameters", &found),
            SubmitError::Cron => Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
            SubmitError::Quota(error) => error.into(),
            SubmitError::Artifact(error) => error.into(),
            SubmitError::KeyUsed { .. } => Self::new(StatusCode::CONFLICT, error.to_string()),
            SubmitError::Store(error) => error.into(),
        }
    }
}

impl From<RerunError> for ProblemResponse {
    fn from(error: RerunError) -> Self {
        match error {
            RerunError::Recover(error) => error.into(),
            RerunError::Open { .. } => Self::new(StatusCode::CONFLICT, error.to_string()),
            RerunError::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            RerunError::Submit(error) => error.into(),
        }
    }
}
