//! A run's events: pages, and a stream that never leaves one out nor tells one twice.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use phasm::{RecoverError, fair_queue::Holder};
use serde_json::json;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    feed::{self, FeedMessage, Frame, FrameBuilder},
    problem_response::ProblemResponse,
    request::{RequestContext, json, link_next},
    resources::Resource,
    sse::{self, ClosedStream, EventSender, KEEP_ALIVE_INTERVAL, StreamEnd},
    state::AppState,
};

/// Events of a page, unless asked.
const DEFAULT_PAGE_EVENTS: usize = 1000;
/// At most.
const MAX_PAGE_EVENTS: usize = 10_000;
/// A page ends behind so many bytes.
const MAX_PAGE_BYTES: usize = 8 << 20;
/// How long a stream may take for what was before it came.
pub(super) const MAX_CATCH_UP_TIME: Duration = Duration::from_mins(5);

pub(crate) async fn events(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let since = context.query.count("since", 0, u32::MAX as usize).map(|since| since as u64);
    let limit = context.query.count("limit", 1, MAX_PAGE_EVENTS).unwrap_or(DEFAULT_PAGE_EVENTS);
    let stream = context.query.flag("stream") || context.wants_stream();
    context.query.done()?;
    let last = context.last_event()?;
    let row = context.run().await?;
    let since = last.map_or(since.unwrap_or(0), |last| last.saturating_add(1));
    if !stream {
        let run_id = Arc::clone(&row.head.run_id);
        return context
            .on_work_thread(async move |context| page(&context, &run_id, since, limit).await)
            .await;
    }
    // A browser comes back until it is told that there is nothing more.
    if !row.status.open && since >= row.seq && last.is_some() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let streaming = context.app.streams.enter(&context.caller)?;
    let (outlet, response) = sse::open(streaming, context.app.config.limits.write_time);
    let following = EventStream {
        app: Arc::clone(&context.app),
        holder: context.holder.clone(),
        run_id: Arc::clone(&row.head.run_id),
        has_ended: !row.status.open,
        next: since,
        outlet,
    };
    tokio::spawn(following.follow());
    Ok(response)
}

async fn page(
    context: &RequestContext,
    run_id: &Arc<str>,
    since: u64,
    limit: usize,
) -> Result<Response, ProblemResponse> {
    let app = &context.app;
    let mut cursor = app.cursors.take(&app.host, run_id, since);
    let (mut events, mut bytes, mut failed) = (Vec::new(), 0, None);
    let shown = cursor.show(|view| {
        if events.len() == limit || bytes > MAX_PAGE_BYTES {
            return false;
        }
        match serde_json::value::to_raw_value(&view.json()) {
            Ok(event) => {
                bytes += event.get().len();
                events.push(event);
            }
            Err(error) => failed = Some(error),
        }
        failed.is_none()
    });
    let more = shown.await?;
    if let Some(error) = failed {
        return Err(ProblemResponse::failed(&error));
    }
    let next = cursor.next();
    app.cursors.leave(cursor);
    let mut response = json(StatusCode::OK, &json!({ "events": events, "next": more.then_some(next) }));
    if more {
        let path = format!("/v1/runs/{run_id}/events");
        link_next(&mut response, &path, &format!("since={next}&limit={limit}"));
    }
    Ok(response)
}

/// One client that follows a run.
struct EventStream {
    app: Arc<AppState>,
    holder: Holder,
    run_id: Arc<str>,
    /// Whether the run had ended when the stream began.
    has_ended: bool,
    /// The number of the event that it is told next.
    next: u64,
    outlet: EventSender,
}

impl EventStream {
    async fn follow(mut self) {
        let Err(end) = self.tell().await;
        self.outlet.end(end, self.seen());
    }

    /// The last event that it was told.
    fn seen(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    async fn tell(&mut self) -> Result<Infallible, StreamEnd> {
        if self.has_ended {
            // No more is written: what is in the store is all.
            self.catch_up().await?;
        }
        loop {
            // FeedMessage from before it is read in the store, so that nothing is in between.
            let heard = self
                .app
                .feeds
                .hear(&self.app.host, &self.app.resources, &self.holder, &self.run_id, self.next)
                .await;
            let (_feed, mut heard) = heard.map_err(|error| StreamEnd::from(RecoverError::from(error)))?;
            let caught_up = timeout(MAX_CATCH_UP_TIME, self.catch_up()).await;
            caught_up.unwrap_or(Err(StreamEnd::Early("slow")))?;
            let stops = self.app.stops();
            let mut stops = std::pin::pin!(stops);
            let mut quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
            loop {
                let told = tokio::select! {
                    biased;
                    () = &mut stops => return Err(StreamEnd::Early("stopping")),
                    () = self.outlet.left() => return Err(StreamEnd::Left),
                    told = heard.recv() => told,
                    () = sleep_until(quiet) => {
                        self.outlet.send(Bytes::from_static(b":\n\n"), self.seen()).await?;
                        quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
                        continue;
                    }
                };
                match told {
                    Ok(FeedMessage::Frame(frame)) if frame.next <= self.next => {}
                    Ok(FeedMessage::Frame(frame)) if self.pass_on(&frame).await? => {
                        quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
                    }
                    Ok(FeedMessage::Over(phase)) => return Err(StreamEnd::Over(phase)),
                    Ok(FeedMessage::Busy) => return Err(StreamEnd::Early("busy")),
                    // The stream is behind, or the frame is too large to be shared: read it from the store.
                    Ok(FeedMessage::Frame(_)) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Err(StreamEnd::Early("failed")),
                }
            }
        }
    }

    /// Passes on what it has not had; false if that has to be read in the store.
    async fn pass_on(&mut self, frame: &Frame) -> Result<bool, ClosedStream> {
        let Some(bytes) = frame.from(self.next) else { return Ok(false) };
        self.outlet.send(bytes, self.seen()).await?;
        self.next = frame.next;
        Ok(true)
    }

    /// Tells what is in the store.
    async fn catch_up(&mut self) -> Result<(), StreamEnd> {
        let app = Arc::clone(&self.app);
        let place = app.resources.queue(Resource::CatchUp).enter(&self.holder).await;
        let _place = place.map_err(|_full| StreamEnd::Early("busy"))?;
        let mut watch = app.host.recorded(&self.run_id, self.next);
        loop {
            // Reading takes turns, and sending does not: a client that reads slowly keeps no thread.
            let reading = feed::read_on(watch, FrameBuilder::default());
            let (read, gathered) =
                app.resources.work(&self.holder, reading).await.map_err(|_| StreamEnd::Early("busy"))?;
            watch = read;
            let Some(frame) = gathered?.take() else { break };
            self.pass_on(&frame).await?;
        }
        match watch.run().filter(|run| run.is_over()) {
            Some(run) => Err(StreamEnd::Over(run.phase())),
            None => Ok(()),
        }
    }
}
