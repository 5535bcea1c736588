//! The runs of a store, by pages. A page looks at a bounded number of runs, whatever the store holds.

use std::{cmp::Reverse, sync::Arc};

use axum::{http::StatusCode, response::Response};
use phasm::{
    Phase,
    clock::Clock,
    engine::{duration, time::Timestamp},
    store::view::{Presence, RowView, RunState},
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
pub(super) const MAX_SCANNED_RUNS: u64 = 20_000;
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
    /// `status` of the runs, as lists show it.
    status: Option<RunState>,
    limit: usize,
}

pub(crate) async fn list(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (rows, next) = rows(&mut context).await?;
    let presence = Presence::of(&**context.app.host.store(), true, &rows).await?;
    let runs = rows.iter().map(|row| RowView::of(row, presence.state(row))).collect();
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
    let (rows, next) = if context.caller.is_bound() {
        let before = cursor.unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs());
        find(context, &wanted, before, &Scan::of_namespaces(context, &wanted, before).await?).await?
    } else {
        let before = match cursor {
            Some(before) => before.min(i64::MAX.unsigned_abs()),
            None => newest(context).await?.map_or(0, |number| number.saturating_add(1)),
        };
        find(context, &wanted, before, &Scan::of_all(before)).await?
    };
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
    let status =
        query.parsed("status", "one of running, suspended, waiting, queued, orphaned, ended", |text| {
            RunState::ALL.into_iter().find(|state| state.label() == text)
        });
    // Only runs that have not ended are looked at for the other statuses.
    let open = query.flag("open") || status.is_some_and(|status| status != RunState::Ended);
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
    Ok((ListQuery { filter, text, status, limit }, cursor))
}

/// The time that `since` of a list means: a length of time before `now`, a day, or a time.
pub(crate) fn since(text: &str, now: Timestamp) -> Option<Timestamp> {
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

/// Returns the number of the newest run; none in an empty store.
pub(crate) async fn newest(context: &RequestContext) -> Result<Option<u64>, StoreError> {
    Ok(context.app.host.store().list(Filter::default(), 1).await?.first().map(|row| row.number))
}

/// Runs that a page looks at.
struct Scan {
    /// Number of the last one; none if there is no run to look at.
    from: Option<u64>,
    /// A number that is not below that of any run.
    end: u64,
}

impl Scan {
    /// All runs within a range of numbers.
    fn of_all(before: u64) -> Self {
        Self { from: Some(before.saturating_sub(MAX_SCANNED_RUNS)), end: 1 }
    }

    /// Runs of some namespaces. Runs of others are neither looked at nor counted, so that a page and its cursor do not depend on them.
    async fn of_namespaces(
        context: &RequestContext,
        wanted: &ListQuery,
        before: u64,
    ) -> Result<Self, StoreError> {
        let most = wanted.most_scanned();
        let mut numbers = Vec::new();
        for namespace in &wanted.filter.namespaces {
            numbers.extend(context.app.host.store().numbers(namespace, before, most + 1).await?);
        }
        numbers.sort_unstable_by_key(|number| Reverse(*number));
        numbers.dedup();
        numbers.truncate(most + 1);
        let end = numbers.last().copied().unwrap_or_default();
        numbers.truncate(most);
        Ok(Self { from: numbers.last().copied(), end })
    }
}

impl ListQuery {
    /// Number of runs that a page has to look at: all that it shows, unless some of them may not fit.
    fn most_scanned(&self) -> usize {
        let Filter { namespaces: _, workflow, phase, before: _, from: _, since, label, open } = &self.filter;
        let is_any = workflow.is_none() && phase.is_none() && since.is_none() && label.is_none() && !open;
        if is_any && !self.is_sifted() { self.limit } else { MAX_SCANNED_RUNS as usize }
    }

    /// Whether rows are left out that the store returns.
    fn is_sifted(&self) -> bool {
        self.text.is_some() || self.status.is_some()
    }

    fn fits(&self, row: &RunRow, presence: &Presence) -> bool {
        self.text.as_ref().is_none_or(|text| says(row, text))
            && self.status.is_none_or(|status| status == presence.state(row))
    }
}

/// The rows of a page, and where the next one begins.
async fn find(
    context: &RequestContext,
    wanted: &ListQuery,
    before: u64,
    scan: &Scan,
) -> Result<(Vec<RunRow>, Option<u64>), StoreError> {
    let Some(from) = scan.from else { return Ok((Vec::new(), None)) };
    let is_followed = |number: &u64| *number > scan.end;
    let (mut found, mut at) = (Vec::new(), before);
    let (store, at_once) =
        (context.app.host.store(), if wanted.is_sifted() { BATCH_ROWS } else { wanted.limit });
    loop {
        let filter = Filter { before: Some(at), from, ..wanted.filter.clone() };
        let rows = store.list(filter, at_once).await?;
        let (count, last) = (rows.len(), rows.last().map(|row| row.number));
        let presence = match wanted.status {
            Some(_) => Presence::of(&**store, true, &rows).await?,
            None => Presence::default(),
        };
        for row in rows.into_iter().filter(|row| wanted.fits(row, &presence)) {
            let number = row.number;
            found.push(row);
            if found.len() == wanted.limit {
                return Ok((found, Some(number).filter(is_followed)));
            }
        }
        match last.filter(|_| count == at_once) {
            Some(last) => at = last,
            None => return Ok((found, Some(from).filter(is_followed))),
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
