//! Runs as their store has them, for another Phasm, which shows them as it shows its own.

use axum::{http::StatusCode, response::Response};
use phasm::store::RunRow;
use tokio::time::timeout;

use super::list;
use crate::{
    call::{Call, json},
    refusal::Refusal,
    wire::{SentLog, SentRecord, SentRow, SentRows, SentRun},
};

/// Rows of runs, as of `GET /v1/runs`.
pub(crate) async fn rows(mut call: Call) -> Result<Response, Refusal> {
    let (rows, next) = list::rows(&mut call).await?;
    let rows = rows.iter().map(SentRow::from).collect();
    Ok(json(StatusCode::OK, &SentRows { rows, next }))
}

/// The row of a run, its records from an event on, or its logs.
pub(crate) async fn run(mut call: Call) -> Result<Response, Refusal> {
    let longest = call.app.config.limits.wait;
    let wait = call.query.length("wait", longest);
    let since = call.query.count("since", 0, u32::MAX as usize).map(|since| since as u64);
    let logs = call.query.flag("logs");
    let task = call.query.parsed("task", "the number of a task run", |text| text.parse().ok());
    call.query.done()?;
    let known = since.filter(|_| wait.is_some());
    let row = match (wait, known) {
        (Some(wait), Some(known)) => changed(&call, known, wait).await?,
        _ => call.run().await?,
    };
    let permit = call.app.catching_up.acquire().await;
    let (store, run_id) = (call.app.host.store(), &row.head.run_id);
    let records = match since.filter(|since| wait.is_none() && *since < row.seq) {
        Some(since) => store.load_since(run_id, since).await?,
        None => Vec::new(),
    };
    let logs = if logs { store.logs(run_id, task).await? } else { Vec::new() };
    drop(permit);
    let sent = SentRun {
        row: SentRow::from(&row),
        records: records.iter().map(SentRecord::from).collect(),
        logs: logs.iter().map(SentLog::from).collect(),
    };
    Ok(json(StatusCode::OK, &sent))
}

/// The row once the run has more than those events, has ended, or so long is over.
async fn changed(call: &Call, known: u64, wait: std::time::Duration) -> Result<RunRow, Refusal> {
    let row = call.run().await?;
    let mut news = call.app.host.store().follow(&row.head.run_id);
    let more = async {
        loop {
            let row = call.run().await?;
            if row.seq > known || !row.status.open || news.changed().await.is_err() {
                return Ok(row);
            }
        }
    };
    tokio::select! {
        more = timeout(wait, more) => more.unwrap_or(Ok(row)),
        () = call.app.stops() => Ok(row),
    }
}
