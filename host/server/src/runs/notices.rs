//! Notifications about a run: delivered and pending.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{notify::NoticeView, store::Notices};

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    wire::WireNotices,
};

/// Notices of a page unless it is said.
const DEFAULT_PAGE_NOTICES: usize = 100;
/// The most of a page.
const MAX_PAGE_NOTICES: usize = 1000;
/// The last event that can be asked for.
const MAX_SEQ: usize = u32::MAX as usize;

pub(crate) async fn notices(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let limit = context.query.count("limit", 1, MAX_PAGE_NOTICES).unwrap_or(DEFAULT_PAGE_NOTICES);
    let before = context.query.count("before", 0, MAX_SEQ).map(|before| before as u64);
    context.query.done()?;
    let run_id = Arc::clone(&context.run().await?.head.run_id);
    // Notifications of one event are on one page, so up to one more per endpoint is read.
    let endpoints = context.app.host.endpoints().len().max(1);
    let wanted = Notices { run_id, endpoint: None, before, limit: limit + endpoints };
    let kept = context.app.host.store().notices(wanted).await?;
    let last = kept.get(limit.saturating_sub(1)).map(|notice| notice.id.seq);
    let of_page = kept.iter().take_while(|notice| last.is_none_or(|last| notice.id.seq >= last));
    let notices = of_page.map(NoticeView::of).collect::<Vec<_>>();
    let next = last.filter(|_| notices.len() < kept.len() || kept.len() == limit + endpoints);
    Ok(json(StatusCode::OK, &WireNotices { notices, next }))
}
