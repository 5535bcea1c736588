//! That something has changed, and no more: the page is asked for again then.

use std::{sync::Arc, time::Duration};

use axum::{body::Bytes, response::Response};
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    app::App,
    call::Call,
    refusal::Refusal,
    sse::{self, KEEP_ALIVE, Outlet},
};

/// Several changes within this time are one.
const AT_ONCE: Duration = Duration::from_millis(400);

/// Subject of a live page.
enum Looked {
    /// One run.
    Run(watch::Receiver<()>),
    /// All runs, and all saved documents.
    All { tidings: broadcast::Receiver<phasm::Tiding>, heard: [watch::Receiver<()>; 3] },
}

impl Looked {
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

pub(super) async fn live(mut call: Call) -> Result<Response, Refusal> {
    let run = call.query.text("run");
    call.query.done()?;
    let host = &call.app.host;
    let looked = match run {
        Some(run_id) => {
            let row = host.store().get(&run_id).await?;
            row.filter(|row| call.caller.sees(&row.head.namespace))
                .ok_or_else(|| Refusal::no_run(&run_id))?;
            Looked::Run(host.store().follow(&run_id))
        }
        None => {
            let store = host.store();
            let heard = [store.changed(), store.rows_changed(), store.entries_changed()];
            Looked::All { tidings: host.tidings(), heard }
        }
    };
    let streaming = call.app.streams.enter(&call.caller)?;
    let (outlet, response) = sse::open(streaming, call.app.config.limits.write_time);
    tokio::spawn(tell(Arc::clone(&call.app), looked, outlet));
    Ok(response)
}

async fn tell(app: Arc<App>, mut looked: Looked, outlet: Outlet) {
    let stops = app.stops();
    let mut stops = std::pin::pin!(stops);
    // Something may have changed since the page was made.
    let mut word = sse::piece(None, "changed", "{}");
    loop {
        if outlet.send(word, None).await.is_err() {
            return;
        }
        sleep(AT_ONCE).await;
        let quiet = Instant::now() + KEEP_ALIVE;
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
