//! One run as it stands, or as it ended.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use phasm::{
    RestingState, RunError, RunHandle, RunView,
    engine::run::Run,
    journal::LargeValues,
    notify::{NoticeSummary, StoredRunView},
    store::RunRow,
    store::view::RunState,
};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::values::ResponseLimit;
use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json, link_next},
    state::AppState,
};

/// Task runs of a page by default.
const DEFAULT_PAGE_TASKS: usize = 1000;
const MAX_PAGE_TASKS: usize = 10_000;

/// Part of the task runs of a run.
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// Number of task runs before the page.
    from: usize,
    most: usize,
}

impl Page {
    pub(super) const FIRST: Self = Self { from: 0, most: DEFAULT_PAGE_TASKS };
}

pub(crate) async fn get(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let longest = context.app.config.limits.wait;
    let wait = context.query.length("wait", longest);
    let most = context.query.count("tasks", 0, MAX_PAGE_TASKS).unwrap_or(DEFAULT_PAGE_TASKS);
    let from = context.query.count("after", 0, u32::MAX as usize).unwrap_or(0);
    context.query.done()?;
    let row = context.run().await?;
    let handle = context.app.host.run_of(&row).counted_for(context.holder.clone());
    let (row, notices) = match wait.filter(|_| row.status.open) {
        None => (Some(row), notices(&context, &handle).await?),
        Some(wait) => waited(&context, &handle, wait).await?,
    };
    // A request that waits has no turn: it would keep others of its key from theirs.
    let rest = async move |context: RequestContext| {
        let (response, tag) = render(&handle, row.as_ref(), notices.as_ref(), Page { from, most }).await?;
        Ok(unless_known(&context, response, &tag))
    };
    context.on_work_thread(rest).await
}

/// The row of a run, unless it ends in time, and how its notices stand then.
async fn waited(
    context: &RequestContext,
    handle: &RunHandle,
    wait: Duration,
) -> Result<(Option<RunRow>, Option<NoticeSummary>), ProblemResponse> {
    let rested = rest(&context.app, handle, wait).await?;
    let row = if rested == Some(RestingState::Ended) { None } else { Some(context.run().await?) };
    // Without endpoints there are no notifications to read.
    let notices = match context.app.host.endpoints().is_empty() {
        true => None,
        false => notices(context, handle).await?,
    };
    Ok((row, notices))
}

async fn notices(
    context: &RequestContext,
    handle: &RunHandle,
) -> Result<Option<NoticeSummary>, ProblemResponse> {
    Ok(NoticeSummary::read(&**context.app.host.store(), handle.id()).await?)
}

/// Waits until the run rests, for so long at most, and while the server goes on.
pub(super) async fn rest(
    app: &AppState,
    handle: &RunHandle,
    wait: Duration,
) -> Result<Option<RestingState>, RunError> {
    tokio::select! {
        rested = timeout(wait, handle.come_to_rest()) => rested.ok().transpose(),
        () = app.stops() => Ok(None),
    }
}

/// Returns the run view after a request to the run, with a page of its task runs and a link to the next. The row adds what the view lacks;
/// a run that has ended needs no row.
pub(super) async fn view(
    handle: &RunHandle,
    row: Option<&RunRow>,
    page: Page,
) -> Result<(Response, String), ProblemResponse> {
    render(handle, row, None, page).await
}

async fn render(
    handle: &RunHandle,
    row: Option<&RunRow>,
    notices: Option<&NoticeSummary>,
    page: Page,
) -> Result<(Response, String), ProblemResponse> {
    let seen = move |run: &Run, large: &LargeValues| {
        let view = RunView::limited(run, page.from, page.most, &ResponseLimit::new(run, large));
        (view, run.tasks().len())
    };
    let (view, all) = handle.outline(seen).await?;
    // The row was read before the run, which may have ended since.
    let row = row.filter(|_| !view.phase.is_terminal()).map(|row| (row, RunState::of(row, true)));
    let mut response = json(StatusCode::OK, &StoredRunView::of(&view, row, notices));
    let next = page.from.saturating_add(view.tasks.len() + view.hooks.len());
    if next < all && page.most > 0 {
        link_next(
            &mut response,
            &format!("/v1/runs/{}", handle.id()),
            &format!("after={next}&tasks={}", page.most),
        );
    }
    tag(response).await
}

/// The answer, and the digest of what it says.
async fn tag(response: Response) -> Result<(Response, String), ProblemResponse> {
    let (parts, body) = response.into_parts();
    let bytes =
        axum::body::to_bytes(body, usize::MAX).await.map_err(|error| ProblemResponse::failed(&error))?;
    let digest = Sha256::digest(&bytes);
    let words: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Ok((Response::from_parts(parts, Body::from(bytes)), format!("\"{words}\"")))
}

/// The response with the digest of its body; 304 if the client has that very response.
///
/// # Errors
/// When the body cannot be read.
pub(super) async fn tagged(
    context: &RequestContext,
    response: Response,
) -> Result<Response, ProblemResponse> {
    let (response, tag) = tag(response).await?;
    Ok(unless_known(context, response, &tag))
}

/// 304 if the client has that very answer.
fn unless_known(context: &RequestContext, mut response: Response, tag: &str) -> Response {
    let known = context.header(&header::IF_NONE_MATCH).unwrap_or_default();
    let is_known =
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag || one.trim() == "*");
    if is_known {
        response = StatusCode::NOT_MODIFIED.into_response();
    }
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}
