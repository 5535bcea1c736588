//! Logs of attempts: stored ones, and lines while they are written.

use std::{convert::Infallible, sync::Arc};

use axum::{body::Bytes, http::StatusCode, response::Response};
use phasm::{
    Notice, RecoverError, Watch, WatchSignal,
    engine::{
        event::{Event, Fence, TaskId},
        run::Run,
    },
    fair_queue::Holder,
    is_named,
    store::AttemptLog,
    store::view::LogView,
    tasks_named,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    resources::Resource,
    runs::events::MAX_CATCH_UP_TIME,
    sse::{self, ClosedStream, EventSender, KEEP_ALIVE_INTERVAL, StreamEnd},
    state::AppState,
};

/// A page ends behind so many bytes.
const MAX_PAGE_BYTES: usize = 16 << 20;
/// A turn of a stream ends behind so many bytes.
const FULL_TURN_BYTES: usize = 64 << 10;

/// Filter of the logs.
#[derive(Clone, Debug, Default)]
struct LogFilter {
    task: Option<String>,
    attempt: Option<u32>,
}

pub(crate) async fn logs(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let task = context.query.text("task");
    let attempt =
        context.query.count("attempt", 1, u32::MAX as usize).and_then(|number| number.try_into().ok());
    let after = context.query.count("after", 0, u32::MAX as usize).unwrap_or(0);
    let stream = context.query.flag("stream") || context.wants_stream();
    context.query.done()?;
    let last = context.last_event()?;
    let row = context.run().await?;
    let whose = LogFilter { task, attempt };
    if !stream {
        return context.on_work_thread(async move |context| page(&context, &whose, after).await).await;
    }
    let streaming = context.app.streams.enter(&context.caller)?;
    let next = last.map_or(0, |last| last.saturating_add(1));
    let watch = context.app.host.watch(&row.head.run_id, next).await?;
    let (outlet, response) = sse::open(streaming, context.app.config.limits.write_time);
    let app = &context.app;
    let following = LogStream { app: Arc::clone(app), holder: context.holder.clone(), outlet, seen: last };
    let reader = LogReader { app: Arc::clone(app), watch, whose, seen: last };
    tokio::spawn(following.follow(reader));
    Ok(response)
}

/// Stored logs, in the order of tasks.
async fn page(
    context: &RequestContext,
    whose: &LogFilter,
    after: usize,
) -> Result<Response, ProblemResponse> {
    let row = context.run().await?;
    let (store, run_id) = (context.app.host.store(), &row.head.run_id);
    let (run, _) = context.app.host.outline(run_id, None, &context.holder, |_, _| {}).await?;
    if let Some(name) = &whose.task
        && tasks_named(&run, name).next().is_none()
    {
        return Err(ProblemResponse::no_task(run_id, name));
    }
    let (mut logs, mut bytes, mut next) = (Vec::new(), 0, None);
    let tried = run.tasks().iter().filter(|task| !task.attempts.is_empty());
    let named = tried.filter(|task| whose.task.as_ref().is_none_or(|name| is_named(&run, task, name)));
    for task in named.filter(|task| task.id.0 as usize >= after) {
        if bytes > MAX_PAGE_BYTES {
            next = Some(task.id.0);
            break;
        }
        for log in store.logs(run_id, Some(task.id.0)).await? {
            if whose.attempt.is_none_or(|attempt| attempt == log.attempt) {
                bytes += log.text.len();
                logs.push(log_json(&run, &log));
            }
        }
    }
    Ok(json(StatusCode::OK, &json!({ "logs": logs, "next": next })))
}

fn log_json(run: &Run, log: &AttemptLog) -> Value {
    serde_json::to_value(LogView::of(run, log, &String::from_utf8_lossy(&log.text))).unwrap_or_default()
}

/// One piece of a stream, and the event that the client has had with it.
struct LogPiece {
    text: Bytes,
    seq: Option<u64>,
}

/// A reader of the logs of a run.
struct LogReader {
    app: Arc<AppState>,
    watch: Watch,
    whose: LogFilter,
    /// The event whose log it has read last.
    seen: Option<u64>,
}

impl LogReader {
    /// Reads logs until they fill a piece of a stream, or all that is recorded was read.
    async fn read_on(mut self) -> (Self, Result<Vec<LogPiece>, RecoverError>) {
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while bytes < FULL_TURN_BYTES {
            let read = match self.watch.known().await {
                Ok(Some(notice)) => self.pieces(notice).await,
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match read {
                Ok(read) => {
                    bytes += read.iter().map(|piece| piece.text.len()).sum::<usize>();
                    pieces.extend(read);
                }
                Err(error) => return (self, Err(error)),
            }
        }
        (self, Ok(pieces))
    }

    /// Lines as they are written, and of an attempt that has ended all that is kept.
    async fn pieces(&mut self, notice: Notice) -> Result<Vec<LogPiece>, RecoverError> {
        let mut pieces = Vec::new();
        match notice {
            Notice::Log(line) if self.means_line(&line.task, line.attempt) => {
                let text = serde_json::to_string(&*line).unwrap_or_default();
                pieces.push(LogPiece { text: sse::piece(None, "line", &text), seq: None });
            }
            Notice::Missed(count) => {
                let text = json!({ "count": count }).to_string();
                pieces.push(LogPiece { text: sse::piece(None, "missed", &text), seq: None });
            }
            Notice::Record(told) => {
                for (event, seq) in told.body.iter().zip(told.first_seq..) {
                    // The record that holds what it had last may hold more.
                    let is_new = self.seen.is_none_or(|seen| seq > seen);
                    if let Event::AttemptEnded(ended) = event
                        && is_new
                    {
                        pieces.extend(self.kept(ended.fence, seq).await?);
                    }
                }
            }
            Notice::Log(_) | Notice::Progress(_) => {}
        }
        Ok(pieces)
    }

    fn means_line(&self, task: &str, attempt: u32) -> bool {
        let whose = &self.whose;
        let same = |name: &String| *name == task || task.rsplit('/').next() == Some(name);
        whose.attempt.is_none_or(|wanted| wanted == attempt) && whose.task.as_ref().is_none_or(same)
    }

    fn means(&self, run: &Run, id: TaskId, attempt: u32) -> bool {
        let named = |name: &String| run.task(id).is_some_and(|task| is_named(run, task, name));
        self.whose.attempt.is_none_or(|wanted| wanted == attempt)
            && self.whose.task.as_ref().is_none_or(named)
    }

    async fn kept(&mut self, fence: Fence, seq: u64) -> Result<Option<LogPiece>, RecoverError> {
        let Fence { task, attempt, dispatch } = fence;
        let logs = match self.watch.run() {
            Some(run) if self.means(run, task, attempt) => {
                self.app.host.store().logs(run.id(), Some(task.0)).await?
            }
            Some(_) | None => return Ok(None),
        };
        let Some(log) = logs.iter().find(|log| (log.attempt, log.dispatch) == (attempt, dispatch)) else {
            return Ok(None);
        };
        let text = self.watch.run().map(|run| log_json(run, log).to_string()).unwrap_or_default();
        self.seen = Some(seq);
        Ok(Some(LogPiece { text: sse::piece(Some(seq), "log", &text), seq: Some(seq) }))
    }
}

/// One client that follows the logs of a run.
struct LogStream {
    app: Arc<AppState>,
    holder: Holder,
    outlet: EventSender,
    /// The event whose log it was told last.
    seen: Option<u64>,
}

impl LogStream {
    async fn follow(mut self, reader: LogReader) {
        let Err(end) = self.tell_all(reader).await;
        self.outlet.end(end, self.seen);
    }

    async fn tell_all(&mut self, mut reader: LogReader) -> Result<Infallible, StreamEnd> {
        let app = Arc::clone(&self.app);
        let stops = app.stops();
        let mut stops = std::pin::pin!(stops);
        let mut quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
        loop {
            let heard = tokio::select! {
                biased;
                () = &mut stops => return Err(StreamEnd::Early("stopping")),
                () = self.outlet.left() => return Err(StreamEnd::Left),
                heard = reader.watch.heard() => heard?,
                () = sleep_until(quiet) => {
                    quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
                    self.outlet.send(Bytes::from_static(b":\n\n"), self.seen).await?;
                    continue;
                }
            };
            match heard {
                WatchSignal::Notice(notice) => {
                    let pieces = reader.pieces(notice).await?;
                    self.send(pieces).await?;
                }
                WatchSignal::Unread => {
                    let caught_up = timeout(MAX_CATCH_UP_TIME, self.catch_up(reader)).await;
                    reader = caught_up.unwrap_or(Err(StreamEnd::Early("slow")))?;
                }
                WatchSignal::Nothing => {
                    let ended = reader.watch.run().filter(|run| run.is_over());
                    // No process runs it, if it has not ended.
                    return Err(
                        ended.map_or(StreamEnd::Early("stopping"), |run| StreamEnd::Over(run.phase()))
                    );
                }
            }
        }
    }

    /// Tells what is in the store. Reading takes turns, and sending does not: a client that reads slowly keeps no thread.
    async fn catch_up(&mut self, mut reader: LogReader) -> Result<LogReader, StreamEnd> {
        let app = Arc::clone(&self.app);
        let place = app.resources.queue(Resource::CatchUp).enter(&self.holder).await;
        let _place = place.map_err(|_full| StreamEnd::Early("busy"))?;
        loop {
            let read = app.resources.work(&self.holder, reader.read_on()).await;
            let (read, pieces) = read.map_err(|_full| StreamEnd::Early("busy"))?;
            reader = read;
            let pieces = pieces?;
            if pieces.is_empty() {
                return Ok(reader);
            }
            self.send(pieces).await?;
        }
    }

    async fn send(&mut self, pieces: Vec<LogPiece>) -> Result<(), ClosedStream> {
        for LogPiece { text, seq } in pieces {
            self.outlet.send(text, self.seen).await?;
            self.seen = seq.or(self.seen);
        }
        Ok(())
    }
}
