//! That something has changed, and no more: the page is asked for again then.

use std::{sync::Arc, time::Duration};

use axum::{body::Bytes, response::Response};
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    problem_response::ProblemResponse,
    request::RequestContext,
    sse::{self, EventSender, KEEP_ALIVE_INTERVAL},
    state::AppState,
};

/// Several changes within this time are one.
const CHANGE_INTERVAL: Duration = Duration::from_millis(400);

/// Subject of a live page.
enum Subject {
    /// One run.
    Run(watch::Receiver<()>),
    /// All runs, and all saved documents.
    All { tidings: broadcast::Receiver<phasm::RunLifecycleEvent>, heard: [watch::Receiver<()>; 3] },
}

impl Subject {
    /// Waits for a change. Returns false once no more changes will be reported.
    async fn changes(&mut self) -> bool {
        match self {
            Self::Run(written) => written.changed().await.is_ok(),
            Self::All { tidings, heard: [changed, rows, entries] } => tokio::select! {
                heard = tidings.recv() => !matches!(heard, Err(broadcast::error::RecvError::Closed)),
                changed = changed.changed() => changed.is_ok(),
                rows = rows.changed() => rows.is_ok(),
                entries = entries.changed() => entries.is_ok(),
            },
        }
    }
}

pub(super) async fn live(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let run = context.query.text("run");
    context.query.done()?;
    let host = &context.app.host;
    let looked = match run {
        Some(run_id) => {
            let row = host.store().get(&run_id).await?;
            row.filter(|row| context.caller.sees(&row.head.namespace))
                .ok_or_else(|| ProblemResponse::no_run(&run_id))?;
            Subject::Run(host.store().follow(&run_id))
        }
        None => {
            let store = host.store();
            let heard = [store.changed(), store.rows_changed(), store.entries_changed()];
            Subject::All { tidings: host.lifecycle(), heard }
        }
    };
    let streaming = context.app.streams.enter(&context.caller)?;
    let (outlet, response) = sse::open(streaming, context.app.config.limits.write_time);
    tokio::spawn(tell(Arc::clone(&context.app), looked, outlet));
    Ok(response)
}

async fn tell(app: Arc<AppState>, mut looked: Subject, outlet: EventSender) {
    let stops = app.stops();
    let mut stops = std::pin::pin!(stops);
    // Something may have changed since the page was made.
    let mut word = sse::piece(None, "changed", "{}");
    loop {
        if outlet.send(word, None).await.is_err() {
            return;
        }
        sleep(CHANGE_INTERVAL).await;
        let quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
        word = tokio::select! {
            biased;
            () = &mut stops => return outlet.end("stopping", None),
            () = outlet.left() => return,
            changed = looked.changes() => {
                if !changed {
                    // No more changes will be reported. The stream stays open, so that the browser does not reconnect at once.
                    outlet.left().await;
                    return;
                }
                sse::piece(None, "changed", "{}")
            }
            () = sleep_until(quiet) => Bytes::from_static(b":\n\n"),
        };
    }
}
