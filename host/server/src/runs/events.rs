//! A run's events: pages, and a stream that never leaves one out nor tells one twice.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use phasm::{Notice, Phase, RecoverError};
use serde_json::json;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    app::App,
    call::{Call, json, link_next},
    feed::{Frame, Gathered, Heard},
    refusal::Refusal,
    sse::{self, KEEP_ALIVE, Left, Outlet},
};

/// Events of a page, unless asked.
const PAGE: usize = 1000;
/// At most.
const MOST: usize = 10_000;
/// A page ends behind so many bytes.
const PAGE_BYTES: usize = 8 << 20;
/// How long a stream may take for what was before it came.
const CATCHING_UP: Duration = Duration::from_mins(5);

pub(crate) async fn events(mut call: Call) -> Result<Response, Refusal> {
    let since = call.query.count("since", 0, u32::MAX as usize).map(|since| since as u64);
    let limit = call.query.count("limit", 1, MOST).unwrap_or(PAGE);
    let stream = call.query.flag("stream") || call.wants_stream();
    call.query.done()?;
    let last = call.last_event()?;
    let row = call.run().await?;
    let since = last.map_or(since.unwrap_or(0), |last| last.saturating_add(1));
    if !stream {
        return page(&call, since, limit).await;
    }
    // A browser comes back until it is told that there is nothing more.
    if !row.status.open && since >= row.seq && last.is_some() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let streaming = call.app.streams.enter(&call.caller)?;
    let (outlet, response) = sse::open(streaming, call.app.config.limits.write_time);
    let following =
        Following { app: Arc::clone(&call.app), run_id: Arc::clone(&row.head.run_id), next: since, outlet };
    tokio::spawn(following.follow());
    Ok(response)
}

async fn page(call: &Call, since: u64, limit: usize) -> Result<Response, Refusal> {
    let mut watch = call.app.host.recorded(call.segment("run"), since);
    let (mut events, mut bytes, mut more) = (Vec::new(), 0, false);
    'read: while let Some(notice) = watch.known().await? {
        let Notice::Record(told) = notice else { continue };
        for (view, seq) in watch.views(&told).zip(told.first_seq..) {
            if seq < since {
                continue;
            }
            if events.len() == limit || bytes > PAGE_BYTES {
                more = true;
                break 'read;
            }
            let event =
                serde_json::value::to_raw_value(&view.json()).map_err(|error| Refusal::failed(&error))?;
            bytes += event.get().len();
            events.push(event);
        }
    }
    let next = since.saturating_add(events.len() as u64);
    let mut response = json(StatusCode::OK, &json!({ "events": events, "next": more.then_some(next) }));
    if more {
        let path = format!("/v1/runs/{}/events", call.segment("run"));
        link_next(&mut response, &path, &format!("since={next}&limit={limit}"));
    }
    Ok(response)
}

/// One client that follows a run.
struct Following {
    app: Arc<App>,
    run_id: Arc<str>,
    /// The number of the event that it is told next.
    next: u64,
    outlet: Outlet,
}

/// Why a stream goes no further.
enum End {
    /// The run has ended.
    Over(Phase),
    /// The client is gone, or was told why.
    Left,
    /// The server stops.
    Stopping,
    /// The run cannot be read.
    Failed,
}

impl From<Left> for End {
    fn from(_: Left) -> Self {
        Self::Left
    }
}

impl From<RecoverError> for End {
    fn from(error: RecoverError) -> Self {
        tracing::warn!(error = &error as &dyn std::error::Error, "a run cannot be followed");
        Self::Failed
    }
}

impl Following {
    async fn follow(mut self) {
        let end = match self.tell().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        match end {
            End::Over(phase) => {
                let said = json!({ "phase": phase.as_str() }).to_string();
                self.outlet.end_with(sse::piece(None, "end", &said));
            }
            End::Stopping => self.outlet.end("stopping", self.seen()),
            End::Failed => self.outlet.end("failed", self.seen()),
            End::Left => {}
        }
    }

    /// The last event that it was told.
    fn seen(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    async fn tell(&mut self) -> Result<std::convert::Infallible, End> {
        loop {
            // Heard from before it is read in the store, so that nothing is in between.
            let heard = self.app.feeds.hear(&self.app.host, &self.run_id, self.next).await;
            let (_feed, mut heard) = heard.map_err(|error| End::from(RecoverError::from(error)))?;
            let caught_up = timeout(CATCHING_UP, self.catch_up()).await;
            caught_up.unwrap_or_else(|_late| {
                self.outlet.end("slow", self.seen());
                Err(End::Left)
            })?;
            let stops = self.app.stops();
            let mut stops = std::pin::pin!(stops);
            let mut quiet = Instant::now() + KEEP_ALIVE;
            loop {
                let told = tokio::select! {
                    biased;
                    () = &mut stops => return Err(End::Stopping),
                    () = self.outlet.left() => return Err(End::Left),
                    told = heard.recv() => told,
                    () = sleep_until(quiet) => {
                        self.outlet.send(Bytes::from_static(b":\n\n"), self.seen()).await?;
                        quiet = Instant::now() + KEEP_ALIVE;
                        continue;
                    }
                };
                match told {
                    Ok(Heard::Frame(frame)) if frame.next <= self.next => {}
                    Ok(Heard::Frame(frame)) if self.pass_on(&frame).await? => {
                        quiet = Instant::now() + KEEP_ALIVE;
                    }
                    Ok(Heard::Over(phase)) => return Err(End::Over(phase)),
                    // The stream is behind, or the frame is too large to be shared: read it from the store.
                    Ok(Heard::Frame(_)) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Err(End::Failed),
                }
            }
        }
    }

    /// Passes on what it has not had; false if that has to be read in the store.
    async fn pass_on(&mut self, frame: &Frame) -> Result<bool, Left> {
        let Some(bytes) = frame.from(self.next) else { return Ok(false) };
        self.outlet.send(bytes, self.seen()).await?;
        self.next = frame.next;
        Ok(true)
    }

    async fn pass_on_all(&mut self, gathered: &mut Gathered) -> Result<(), Left> {
        if let Some(frame) = gathered.take() {
            self.pass_on(&frame).await?;
        }
        Ok(())
    }

    /// Tells what is in the store.
    async fn catch_up(&mut self) -> Result<(), End> {
        let app = Arc::clone(&self.app);
        let _turn = app.catching_up.acquire().await.map_err(|_closed| End::Stopping)?;
        let mut watch = app.host.recorded(&self.run_id, self.next);
        let mut gathered = Gathered::default();
        while let Some(notice) = watch.known().await? {
            let Notice::Record(told) = notice else { continue };
            gathered.add(&watch, &told);
            if gathered.is_full() {
                self.pass_on_all(&mut gathered).await?;
            }
        }
        self.pass_on_all(&mut gathered).await?;
        match watch.run().filter(|run| run.is_over()) {
            Some(run) => Err(End::Over(run.phase())),
            None => Ok(()),
        }
    }
}
