//! Every route of the API, once: its address, the role it needs, the answers it has, and its handler. The router and the OpenAPI document are
//! both made of these tables.

mod artifacts;
mod clients;
mod parameters;
mod plugins;
mod runs;
mod schedules;
mod service;
mod workflows;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware,
    response::{IntoResponse as _, Response},
    routing::on,
};
use phasm::spans::on_behalf_of;
use serde_json::Value;

use crate::{
    answer::Answer,
    auth::caller::Caller,
    disconnect::complete_despite_disconnect,
    guard::guard,
    metrics::RouteLabel,
    openapi, page,
    problem_response::ProblemResponse,
    request::RequestContext,
    route::{Route, Verb},
    runs::submit,
    state::AppState,
};

/// Routes of the API, by subject.
const GROUPS: [&[Route]; 7] = [
    runs::ROUTES,
    artifacts::ROUTES,
    schedules::ROUTES,
    workflows::ROUTES,
    clients::ROUTES,
    plugins::ROUTES,
    service::ROUTES,
];

/// All routes of the API.
pub(crate) fn api() -> impl Iterator<Item = &'static Route> {
    GROUPS.into_iter().flatten()
}

/// Returns the OpenAPI description of the API, as a server has it at `/v1/openapi.json`.
#[must_use]
pub fn api_description() -> Value {
    openapi::document(&api().collect::<Vec<_>>())
}

/// Paths of all routes, of the API and of the page.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    api().map(|route| route.path).chain(page::paths())
}

/// The router of the API and of the page, behind the guard.
pub(crate) fn router(app: &Arc<AppState>) -> Router {
    let api = api().fold(Router::new(), |router, route| {
        let handler = move |State(app): State<Arc<AppState>>, request: Request| answer(app, route, request);
        router.route(route.path, on(route.method.filter(), handler))
    });
    api.merge(page::router())
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

async fn answer(app: Arc<AppState>, route: &'static Route, request: Request) -> Response {
    let handled = handle(Arc::clone(&app), route, request);
    let answered = if route.method == Verb::Get {
        handled.await
    } else {
        complete_despite_disconnect(handled).await.flatten()
    };
    let mut response = match answered {
        Ok(Answer::Response(response)) => response,
        Ok(Answer::Submitted(accepted)) => submit::render(&app, *accepted).await,
        Err(refusal) => refusal.into_response(),
    };
    response.extensions_mut().insert(RouteLabel(route.path));
    response
}

/// Authenticates a request, runs its handler and writes the audit log.
async fn handle(app: Arc<AppState>, route: &Route, request: Request) -> Result<Answer, ProblemResponse> {
    let (method, path): (Method, String) = (request.method().clone(), request.uri().path().to_owned());
    let (caller, answered) = match RequestContext::of(Arc::clone(&app), request, route.access()).await {
        Ok(context) => {
            let (caller, trace) = (Caller::clone(&context.caller), context.trace());
            (Some(caller), on_behalf_of(trace, context.in_turns(route.serve)).await)
        }
        Err((caller, refusal)) => (caller, Err(refusal)),
    };
    let status = answered.as_ref().map_or_else(ProblemResponse::status, Answer::status);
    app.audit.write(caller.as_ref(), &method, &path, status);
    let sees_all = caller.is_some_and(|caller| !caller.is_bound());
    answered.map_err(|refusal| refusal.shown_to(sees_all, &app.hidden_paths))
}

async fn nothing(request: Request) -> Response {
    let path = request.uri().path();
    let detail = format!("not found: {path}; see /v1/docs");
    let refusal = ProblemResponse::new(StatusCode::NOT_FOUND, detail);
    let accepts =
        request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_person = accepts.contains("text/html") && !path.starts_with("/v1/");
    std::future::ready(if is_person { page::nothing(&refusal) } else { refusal.into_response() }).await
}

async fn not_so(request: Request) -> ProblemResponse {
    let detail = format!("{} does not allow {}", request.uri().path(), request.method());
    std::future::ready(ProblemResponse::new(StatusCode::METHOD_NOT_ALLOWED, detail)).await
}
