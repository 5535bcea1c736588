//! Notifications about a run: delivered and pending.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{notify::NoticeView, store::Notices};

use crate::{
    call::{Call, json},
    refusal::Refusal,
    wire::SentNotices,
};

/// Notices of a page unless it is said.
const PAGE: usize = 100;
/// The most of a page.
const MOST: usize = 1000;
/// The last event that can be asked for.
const LAST: usize = u32::MAX as usize;

pub(crate) async fn notices(mut call: Call) -> Result<Response, Refusal> {
    let limit = call.query.count("limit", 1, MOST).unwrap_or(PAGE);
    let before = call.query.count("before", 0, LAST).map(|before| before as u64);
    call.query.done()?;
    let run_id = Arc::clone(&call.run().await?.head.run_id);
    // Notifications of one event are on one page, so up to one more per endpoint is read.
    let endpoints = call.app.host.endpoints().len().max(1);
    let wanted = Notices { run_id, endpoint: None, before, limit: limit + endpoints };
    let kept = call.app.host.store().notices(wanted).await?;
    let last = kept.get(limit.saturating_sub(1)).map(|notice| notice.id.seq);
    let of_page = kept.iter().take_while(|notice| last.is_none_or(|last| notice.id.seq >= last));
    let notices = of_page.map(NoticeView::of).collect::<Result<Vec<_>, _>>()?;
    let next = last.filter(|_| notices.len() < kept.len() || kept.len() == limit + endpoints);
    Ok(json(StatusCode::OK, &SentNotices { notices, next }))
}
