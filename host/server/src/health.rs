//! Whether the server is there, and whether it can do its work.

use std::time::Duration;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

/// How long the store may take to be ready.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn healthz(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(json(StatusCode::OK, &json!({ "status": "ok" })))).await
}

pub(crate) async fn readyz(context: RequestContext) -> Result<Response, ProblemResponse> {
    let not_ready = |why: String| ProblemResponse::new(StatusCode::SERVICE_UNAVAILABLE, why).again_after(1);
    if context.app.is_stopping() {
        return Err(not_ready("the server is being stopped".to_owned()));
    }
    // There is no such run; that it is looked for is what counts.
    match timeout(STORE_TIMEOUT, context.app.host.store().get("")).await {
        Ok(Ok(_)) => Ok(json(StatusCode::OK, &json!({ "status": "ready" }))),
        Ok(Err(error)) => {
            Err(not_ready("the store cannot be read; the server's log says why".to_owned()).of_host(&error))
        }
        Err(_late) => {
            Err(not_ready(format!("the store does not respond within {}s", STORE_TIMEOUT.as_secs())))
        }
    }
}

pub(crate) async fn metrics(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    if context.caller.is_bound() {
        let detail = "metrics are of all namespaces; the key is bound to some";
        return Err(ProblemResponse::new(StatusCode::FORBIDDEN, detail));
    }
    let app = &context.app;
    let text = app.metrics.text(&app.host, &app.streams, &app.resources).await;
    let mut response = text.into_response();
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
