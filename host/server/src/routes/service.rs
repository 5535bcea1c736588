//! Routes of the service itself: its documentation, health and metrics.

use axum::{http::StatusCode, response::Response};

use crate::{
    auth::caller::Role,
    health, openapi,
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    route::{Route, Shape, Verb, serve},
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: Verb::Get,
        path: "/v1/openapi.json",
        id: "getOpenAPI",
        needs: None,
        uses: &[],
        what: "This API description, in OpenAPI.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "OpenAPI 3.1.", Shape::Json("Any"))],
        refusals: &[],
        serve: serve!(document),
    },
    Route {
        method: Verb::Get,
        path: "/v1/docs",
        id: "getDocs",
        needs: None,
        uses: &[],
        what: "This API description as a page.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The page.", Shape::Text("text/html"))],
        refusals: &[],
        serve: serve!(docs),
    },
    Route {
        method: Verb::Get,
        path: "/healthz",
        id: "getHealth",
        needs: None,
        uses: &[],
        what: "Liveness of the server.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The server is up.", Shape::Json("Status"))],
        refusals: &[],
        serve: serve!(health::healthz),
    },
    Route {
        method: Verb::Get,
        path: "/readyz",
        id: "getReadiness",
        needs: None,
        uses: &[],
        what: "Readiness of the server: its store can be read, and it is not stopping.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The server is ready.", Shape::Json("Status"))],
        refusals: &[],
        serve: serve!(health::readyz),
    },
    Route {
        method: Verb::Get,
        path: "/metrics",
        id: "getMetrics",
        needs: Some(Role::Read),
        uses: &[],
        what: "Metrics for Prometheus. They cover all namespaces, so keys bound to namespaces cannot read them.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The metrics.", Shape::Text("application/openmetrics-text"))],
        refusals: &[],
        serve: serve!(health::metrics),
    },
];

async fn document(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(json(StatusCode::OK, &super::api_description()))).await
}

async fn docs(context: RequestContext) -> Result<Response, ProblemResponse> {
    let routes: Vec<&Route> = super::api().collect();
    std::future::ready(Ok(openapi::page(&routes, &context))).await
}
