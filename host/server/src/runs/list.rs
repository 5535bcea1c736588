//! The runs of a store, by pages. A page looks at a bounded number of runs, whatever the store holds.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{
    Phase,
    clock::Clock,
    engine::{duration, time::Timestamp},
    store::view::{RowView, RunState},
    store::{Filter, RunRow, StoreError},
};
use serde::Serialize;

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json, link_next},
};

/// Runs of a page, unless asked.
const DEFAULT_PAGE_RUNS: usize = 100;
/// At most.
const MAX_PAGE_RUNS: usize = 1000;
/// Runs that one page looks at, the newest first.
const MAX_SCANNED_RUNS: u64 = 20_000;
/// No namespace is called so.
const NO_NAMESPACE: &str = "/";
/// Rows that are read at once where text is looked for.
const BATCH_ROWS: usize = 1000;

#[derive(Serialize)]
struct Page<'r> {
    runs: Vec<RowView<'r>>,
    /// `cursor` of the next page; null once all that fit were shown.
    next: Option<String>,
}

/// Parameters of a list request.
struct ListQuery {
    filter: Filter,
    text: Option<String>,
    limit: usize,
}

pub(crate) async fn list(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (rows, next) = rows(&mut context).await?;
    let runs = rows.iter().map(|row| RowView::of(row, RunState::of(row, true))).collect();
    let mut response = json(StatusCode::OK, &Page { runs, next: next.clone() });
    if let Some(next) = next {
        let (path, query) = context.path_and_query();
        let others =
            form_urlencoded::parse(query.unwrap_or_default().as_bytes()).filter(|(key, _)| key != "cursor");
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair("cursor", &next)
            .finish();
        link_next(&mut response, path, &query);
    }
    Ok(response)
}

/// The rows that a request asks for, and the cursor of the next page.
pub(crate) async fn rows(
    context: &mut RequestContext,
) -> Result<(Vec<RunRow>, Option<String>), ProblemResponse> {
    let (wanted, cursor) = wanted(context)?;
    let disguise = context.app.auth.disguise(&context.caller);
    let cursor = cursor.map(|shown| disguise.as_ref().map_or(shown, |disguise| disguise.reveal(shown)));
    let before = match cursor {
        Some(before) => before.min(i64::MAX.unsigned_abs()),
        None => newest(context).await?.map_or(0, |number| number.saturating_add(1)),
    };
    let (rows, next) = find(context, &wanted, before).await?;
    let shown = |number| disguise.as_ref().map_or(number, |disguise| disguise.hide(number));
    Ok((rows, next.map(|number| shown(number).to_string())))
}

fn wanted(context: &mut RequestContext) -> Result<(ListQuery, Option<u64>), ProblemResponse> {
    let query = &mut context.query;
    let now = Clock::start().now();
    let phases = Phase::ALL.map(Phase::as_str).join(", ");
    let phase = query.parsed("phase", &format!("one of {phases}"), |text| {
        Phase::ALL.into_iter().find(|phase| phase.as_str().eq_ignore_ascii_case(text))
    });
    let label = query.parsed("label", "such as `team=data`", |text| {
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty())?;
        Some((Arc::from(key), Arc::from(value)))
    });
    let since = query
        .parsed("since", "such as `2h`, `2026-11-20` or `2026-11-20T08:00:00Z`", |text| since(text, now));
    let workflow = query.text("workflow").map(Arc::from);
    let namespace = query.text("namespace").map(Arc::<str>::from);
    let open = query.flag("open");
    let text = query.text("text").map(|text| text.to_lowercase()).filter(|text| !text.is_empty());
    let limit = query.count("limit", 1, MAX_PAGE_RUNS).unwrap_or(DEFAULT_PAGE_RUNS);
    let cursor = query.parsed("cursor", "`next` of the page before", |text| text.parse().ok());
    query.done()?;
    let namespaces = match namespace {
        // A namespace that the caller cannot see has no runs.
        Some(namespace) if !context.caller.sees(&namespace) => vec![Arc::from(NO_NAMESPACE)],
        Some(namespace) => vec![namespace],
        None => context.caller.namespaces.to_vec(),
    };
    let filter = Filter { namespaces, workflow, phase, since, label, open, before: None, from: 0 };
    Ok((ListQuery { filter, text, limit }, cursor))
}

fn since(text: &str, now: Timestamp) -> Option<Timestamp> {
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(length) = duration::parse(text).ok().filter(|_| !is_bare) {
        return Some(Timestamp(now.0.saturating_sub(i64::try_from(length).unwrap_or(i64::MAX))));
    }
    instant(text).or_else(|| before_all(text))
}

fn instant(text: &str) -> Option<Timestamp> {
    Timestamp::from_rfc3339(text).or_else(|| Timestamp::from_rfc3339(&format!("{text}T00:00:00")))
}

/// An instant of a year before there were any, of which as much is one as of another.
fn before_all(text: &str) -> Option<Timestamp> {
    let (year, rest) = text.split_at_checked(4)?;
    let is_before = year.parse::<u16>().is_ok_and(|year| year < 1970);
    instant(&format!("1972{rest}")).filter(|_| is_before).map(|_| Timestamp(0))
}

async fn newest(context: &RequestContext) -> Result<Option<u64>, StoreError> {
    Ok(context.app.host.store().list(Filter::default(), 1).await?.first().map(|row| row.number))
}

/// The rows of a page, and where the next one begins.
async fn find(
    context: &RequestContext,
    wanted: &ListQuery,
    before: u64,
) -> Result<(Vec<RunRow>, Option<u64>), StoreError> {
    let from = before.saturating_sub(MAX_SCANNED_RUNS);
    let (mut found, mut at) = (Vec::new(), before);
    let at_once = if wanted.text.is_some() { BATCH_ROWS } else { wanted.limit };
    loop {
        let filter = Filter { before: Some(at), from, ..wanted.filter.clone() };
        let rows = context.app.host.store().list(filter, at_once).await?;
        let (count, last) = (rows.len(), rows.last().map(|row| row.number));
        for row in rows.into_iter().filter(|row| wanted.text.as_ref().is_none_or(|text| says(row, text))) {
            let number = row.number;
            found.push(row);
            if found.len() == wanted.limit {
                return Ok((found, Some(number).filter(|number| *number > 1)));
            }
        }
        match last.filter(|_| count == at_once) {
            Some(last) => at = last,
            None => return Ok((found, Some(from).filter(|from| *from > 1))),
        }
    }
}

/// Whether a run's id, workflow, key or labels have that text, which is in small letters.
fn says(row: &RunRow, text: &str) -> bool {
    let head = &row.head;
    let labels = head.labels.iter().flat_map(|(key, value)| [key, value]);
    let mut all = [&head.run_id, &head.workflow].into_iter().chain(&head.key).chain(labels);
    all.any(|word| word.to_lowercase().contains(text))
}
