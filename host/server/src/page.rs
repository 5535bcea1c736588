//! The page for people: made here, whole without a script, and kept up to date by a few of our own.
//!
//! ```text
//! request ─▶ guard ─▶ RequestContext (a key, or a session that has one) ─▶ a page's function ─▶ shell ─▶ HTML
//! script  ─▶ /live: something changed ─▶ the same page again, of which the parts that differ are exchanged
//! ```
//!
//! Whatever comes from documents, guests and people is text: maud escapes it, and pictures escape for themselves. Forms post, and
//! what they change is done by the functions that the API has; the guard refuses what another origin posts.

mod actions;
mod answer;
mod arguments;
mod assets;
mod attention;
mod commands;
mod counts;
mod definition;
mod editor;
mod error;
mod event_text;
mod events;
mod examples;
mod explain;
mod fields;
mod firings;
mod form;
pub(crate) mod format;
pub(crate) mod history;
mod leaves;
mod lineage;
mod live;
mod login;
mod once;
mod plugin;
mod plugins;
mod reference;
mod relative;
mod run;
mod run_logs;
mod runs;
mod saved;
mod schedule;
mod schedules;
mod shell;
mod short_ids;
mod submit;
mod summary;
mod table;
mod task;
mod upload;
mod upload_form;
mod view;
mod waiting;
mod workflow;
mod workflows;
mod yaml;

use std::{future::Future, pin::Pin, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{MethodFilter, on},
};

pub(crate) use self::{
    saved::url as server_url,
    shell::{API, Shell},
};
use crate::{
    auth::caller::{Caller, Role},
    disconnect::complete_despite_disconnect,
    metrics::RouteLabel,
    problem_response::ProblemResponse,
    request::RequestContext,
    resources::{Resource, RouteAccess},
    route::{DOCUMENT, VIEW},
    state::AppState,
};

/// A response of the page on its way.
type PageFuture = Pin<Box<dyn Future<Output = Result<Response, ProblemResponse>> + Send>>;

macro_rules! serve {
    ($function:path) => {
        |context| Box::pin($function(context))
    };
}

/// Makes the handler of a page whose work is done in its turn, on a thread for long work.
macro_rules! on_work_thread {
    ($function:path) => {
        |context| Box::pin(context.on_work_thread($function))
    };
}

/// A route of the page.
type PageRoute =
    (MethodFilter, &'static str, Option<Role>, &'static [Resource], fn(RequestContext) -> PageFuture);

/// All of them, with who may ask for them and the bounded resources that they use.
const PAGES: [PageRoute; 42] = [
    (MethodFilter::GET, "/", None, &[], serve!(home)),
    (MethodFilter::GET, "/runs", Some(Role::Read), VIEW, on_work_thread!(runs::page)),
    (MethodFilter::GET, "/runs/{run}", Some(Role::Read), VIEW, on_work_thread!(run::page)),
    (MethodFilter::GET, "/waiting", Some(Role::Read), VIEW, on_work_thread!(waiting::page)),
    (MethodFilter::GET, "/runs/{run}/tasks/{task}", Some(Role::Read), VIEW, on_work_thread!(task::page)),
    (MethodFilter::GET, "/runs/{run}/edit", Some(Role::Run), VIEW, on_work_thread!(submit::rewrite)),
    (MethodFilter::POST, "/runs/{run}/cancel", Some(Role::Run), &[], serve!(actions::cancel)),
    (MethodFilter::POST, "/runs/{run}/rerun", Some(Role::Run), DOCUMENT, serve!(actions::rerun)),
    (
        MethodFilter::POST,
        "/runs/{run}/tasks/{task}/cancel",
        Some(Role::Run),
        &[],
        serve!(actions::cancel_task),
    ),
    (
        MethodFilter::POST,
        "/runs/{run}/tasks/{task}/resume",
        Some(Role::Approve),
        DOCUMENT,
        serve!(actions::resume),
    ),
    (MethodFilter::GET, "/submit", Some(Role::Run), VIEW, on_work_thread!(submit::page)),
    (MethodFilter::POST, "/submit", Some(Role::Run), DOCUMENT, serve!(submit::submit)),
    (MethodFilter::POST, "/submit/check", Some(Role::Run), DOCUMENT, serve!(submit::check)),
    (MethodFilter::GET, "/reference", Some(Role::Read), VIEW, on_work_thread!(reference::fields)),
    (MethodFilter::GET, "/reference/errors", Some(Role::Read), VIEW, on_work_thread!(reference::errors)),
    (MethodFilter::GET, "/schedules", Some(Role::Read), VIEW, on_work_thread!(schedules::page)),
    (
        MethodFilter::GET,
        "/schedules/{namespace}/{name}",
        Some(Role::Read),
        VIEW,
        on_work_thread!(schedule::page),
    ),
    (
        MethodFilter::GET,
        "/schedules/{namespace}/{name}/edit",
        Some(Role::Run),
        VIEW,
        on_work_thread!(submit::schedule),
    ),
    (MethodFilter::GET, "/schedules/{namespace}/{name}/remove", Some(Role::Run), &[], serve!(schedule::ask)),
    (
        MethodFilter::POST,
        "/schedules/{namespace}/{name}/remove",
        Some(Role::Run),
        &[],
        serve!(schedule::remove),
    ),
    (
        MethodFilter::POST,
        "/schedules/{namespace}/{name}/suspend",
        Some(Role::Run),
        &[],
        serve!(schedule::suspend),
    ),
    (
        MethodFilter::POST,
        "/schedules/{namespace}/{name}/resume",
        Some(Role::Run),
        &[],
        serve!(schedule::resume),
    ),
    (
        MethodFilter::POST,
        "/schedules/{namespace}/{name}/trigger",
        Some(Role::Run),
        DOCUMENT,
        serve!(schedule::trigger),
    ),
    (MethodFilter::GET, "/workflows", Some(Role::Read), VIEW, on_work_thread!(workflows::page)),
    (
        MethodFilter::GET,
        "/workflows/{namespace}/{name}",
        Some(Role::Read),
        VIEW,
        on_work_thread!(workflow::page),
    ),
    (
        MethodFilter::GET,
        "/workflows/{namespace}/{name}/edit",
        Some(Role::Run),
        VIEW,
        on_work_thread!(submit::workflow),
    ),
    (MethodFilter::GET, "/workflows/{namespace}/{name}/remove", Some(Role::Run), &[], serve!(workflow::ask)),
    (
        MethodFilter::POST,
        "/workflows/{namespace}/{name}/remove",
        Some(Role::Run),
        &[],
        serve!(workflow::remove),
    ),
    (
        MethodFilter::POST,
        "/workflows/{namespace}/{name}/run",
        Some(Role::Run),
        DOCUMENT,
        serve!(workflow::run),
    ),
    (MethodFilter::GET, "/plugins", Some(Role::Read), VIEW, on_work_thread!(plugins::page)),
    (MethodFilter::POST, "/plugins", Some(Role::Admin), &[Resource::Uploads], serve!(upload::add)),
    (MethodFilter::GET, "/plugins/{name}", Some(Role::Read), VIEW, on_work_thread!(plugin::first)),
    (MethodFilter::GET, "/plugins/{name}/{version}", Some(Role::Read), VIEW, on_work_thread!(plugin::page)),
    (
        MethodFilter::POST,
        "/plugins/{name}/{version}/approve",
        Some(Role::Admin),
        &[],
        serve!(plugin::approve),
    ),
    (MethodFilter::POST, "/plugins/{name}/{version}/remove", Some(Role::Admin), &[], serve!(plugin::remove)),
    (MethodFilter::GET, "/live", Some(Role::Read), VIEW, serve!(live::live)),
    (MethodFilter::GET, "/login", None, &[], serve!(login::page)),
    (MethodFilter::POST, "/login", None, &[Resource::Bodies, Resource::Sessions], serve!(login::login)),
    (MethodFilter::POST, "/logout", None, &[], serve!(login::logout)),
    (MethodFilter::GET, "/assets/page.css", None, &[], serve!(assets::style)),
    (MethodFilter::GET, "/assets/{name}", None, &[], serve!(assets::named)),
    (MethodFilter::GET, "/favicon.ico", None, &[], serve!(assets::icon)),
];

/// Routes of the page; the guard stands before them as before the API.
pub(crate) fn router() -> Router<Arc<AppState>> {
    PAGES.into_iter().fold(Router::new(), |router, (method, path, role, uses, serve)| {
        let handler = move |State(app): State<Arc<AppState>>, request: Request| async move {
            let mut response = answer(app, RouteAccess { needs: role, uses }, serve, request).await;
            response.extensions_mut().insert(RouteLabel(path));
            response
        };
        router.route(path, on(method, handler))
    })
}

/// The paths of all of them.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(_, path, ..)| *path)
}

async fn answer(
    app: Arc<AppState>,
    access: RouteAccess,
    serve: fn(RequestContext) -> PageFuture,
    request: Request,
) -> Response {
    let is_safe = request.method().is_safe();
    let carried_out = carry_out(app, access, serve, request);
    if is_safe {
        return carried_out.await;
    }
    complete_despite_disconnect(carried_out).await.unwrap_or_else(ProblemResponse::into_response)
}

async fn carry_out(
    app: Arc<AppState>,
    access: RouteAccess,
    serve: fn(RequestContext) -> PageFuture,
    request: Request,
) -> Response {
    let (method, path): (Method, String) = (request.method().clone(), request.uri().path().to_owned());
    let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let (caller, answered) = match RequestContext::of(Arc::clone(&app), request, access).await {
        Ok(context) => (Some(Caller::clone(&context.caller)), context.in_turns(serve).await),
        Err((caller, refusal)) => (caller, Err(refusal)),
    };
    let response = match answered {
        Ok(response) => response,
        Err(refusal) if refusal.status() == StatusCode::UNAUTHORIZED && method.is_safe() => {
            see_other(&login::address(&target))
        }
        Err(refusal) => {
            let sees_all = caller.as_ref().is_some_and(|caller| !caller.is_bound());
            error::page(caller.as_ref(), &refusal.shown_to(sees_all, &app.hidden_paths))
        }
    };
    app.audit.write(caller.as_ref(), &method, &path, response.status());
    response
}

/// The page of an address that there is not.
pub(crate) fn nothing(refusal: &ProblemResponse) -> Response {
    error::page(None, refusal)
}

async fn home(_: RequestContext) -> Result<Response, ProblemResponse> {
    std::future::ready(Ok(see_other("/runs"))).await
}

/// Elsewhere, asked for with GET.
fn see_other(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(address) = HeaderValue::from_str(address) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
