//! Runs as their store has them, for another Phasm, which shows them as it shows its own.

use axum::{http::StatusCode, response::Response};
use phasm::{journal, store::RunRow};
use tokio::time::timeout;

use super::list;
use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    wire::{PARTS, PREFER, WireLog, WireRecord, WireRows, WireRun},
};

/// Bytes of records in a response, about.
const PART_BYTES: usize = 4 << 20;

/// Rows of runs, as of `GET /v1/runs`.
pub(crate) async fn rows(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (mut rows, next) = list::rows(&mut context).await?;
    rows.iter_mut().for_each(|row| disguise(&context, row));
    Ok(json(StatusCode::OK, &WireRows { rows, next }))
}

/// The row of a run, its records from an event on, or its logs. A client that takes parts asks for the records behind these, until it
/// has all events of the row.
pub(crate) async fn run(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let longest = context.app.config.limits.wait;
    let wait = context.query.length("wait", longest);
    let since = context.query.count("since", 0, u32::MAX as usize).map(|since| since as u64);
    let logs = context.query.flag("logs");
    let task = context.query.parsed("task", "the number of a task run", |text| text.parse().ok());
    context.query.done()?;
    let takes_parts = context.header(&PREFER).is_some_and(|wishes| wishes.contains(PARTS));
    let known = since.filter(|_| wait.is_some());
    let row = match (wait, known) {
        (Some(wait), Some(known)) => changed(&context, known, wait).await?,
        _ => context.run().await?,
    };
    let wanted = RunParts { since: since.filter(|_| wait.is_none()), takes_parts, logs, task };
    // A request that waits has no turn: it would keep others of its key from theirs.
    context.on_work_thread(async move |context| parts(&context, row, wanted).await).await
}

/// Parts of a run that are sent besides its row.
struct RunParts {
    /// Records from this event on.
    since: Option<u64>,
    /// Whether some of the records are enough.
    takes_parts: bool,
    logs: bool,
    /// The task run whose logs are sent; all of them without.
    task: Option<u32>,
}

async fn parts(
    context: &RequestContext,
    mut row: RunRow,
    wanted: RunParts,
) -> Result<Response, ProblemResponse> {
    let (store, run_id) = (context.app.host.store(), &row.head.run_id);
    let records = match wanted.since.filter(|since| *since < row.seq) {
        Some(since) if wanted.takes_parts => store.load_part(run_id, since, PART_BYTES).await?.records,
        Some(since) => store.load_since(run_id, since).await?,
        None => Vec::new(),
    };
    let logs = if wanted.logs { store.logs(run_id, wanted.task).await? } else { Vec::new() };
    disguise(context, &mut row);
    let records = if context.caller.is_bound() { journal::without_origin(records) } else { records };
    let sent = WireRun {
        records: records.iter().map(WireRecord::from).collect(),
        logs: logs.iter().map(WireLog::from).collect(),
        row,
    };
    Ok(json(StatusCode::OK, &sent))
}

/// Puts another number in place of a row's, which counts runs of namespaces that the caller does not see.
fn disguise(context: &RequestContext, row: &mut RunRow) {
    if let Some(disguise) = context.app.auth.disguise(&context.caller) {
        row.number = disguise.hide(row.number);
    }
}

/// The row once the run has more than those events, has ended, or so long is over.
async fn changed(
    context: &RequestContext,
    known: u64,
    wait: std::time::Duration,
) -> Result<RunRow, ProblemResponse> {
    let row = context.run().await?;
    let mut news = context.app.host.store().follow(&row.head.run_id);
    let more = async {
        loop {
            let row = context.run().await?;
            if row.seq > known || !row.status.open || news.changed().await.is_err() {
                return Ok(row);
            }
        }
    };
    tokio::select! {
        more = timeout(wait, more) => more.unwrap_or(Ok(row)),
        () = context.app.stops() => Ok(row),
    }
}
