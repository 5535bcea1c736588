//! Logs of attempts: stored ones, and lines while they are written.

use std::sync::Arc;

use axum::{body::Bytes, http::StatusCode, response::Response};
use phasm::{
    Notice, RecoverError, Watch,
    engine::{
        event::{Event, Fence, TaskId},
        run::Run,
    },
    is_named, journal,
    store::AttemptLog,
    store::view::LogView,
    tasks_named,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::{
    problem_response::ProblemResponse,
    request::{RequestContext, json},
    sse::{self, ClosedStream, EventSender, KEEP_ALIVE_INTERVAL},
    state::AppState,
};

/// A page ends behind so many bytes.
const MAX_PAGE_BYTES: usize = 16 << 20;

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
        return context.in_turn(async move |context| page(&context, &whose, after).await).await;
    }
    let streaming = context.app.streams.enter(&context.caller)?;
    let next = last.map_or(0, |last| last.saturating_add(1));
    let watch = context.app.host.watch(&row.head.run_id, next).await?;
    let (outlet, response) = sse::open(streaming, context.app.config.limits.write_time);
    let following = LogStream { app: Arc::clone(&context.app), watch, whose, outlet, seen: last };
    tokio::spawn(following.follow());
    Ok(response)
}

/// Stored logs, in the order of tasks.
async fn page(
    context: &RequestContext,
    whose: &LogFilter,
    after: usize,
) -> Result<Response, ProblemResponse> {
    let handle = context.handle().await?;
    let (store, run_id) = (context.app.host.store(), handle.id());
    let run = journal::replay(run_id, &store.load(run_id).await?, |_, _, _, _| {})?;
    if let Some(name) = &whose.task
        && tasks_named(&run, name).next().is_none()
    {
        return Err(ProblemResponse::no_task(handle.id(), name));
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

/// One client that follows the logs of a run.
struct LogStream {
    app: Arc<AppState>,
    watch: Watch,
    whose: LogFilter,
    outlet: EventSender,
    /// The event whose log it was told last.
    seen: Option<u64>,
}

impl LogStream {
    async fn follow(mut self) {
        let stops = self.app.stops();
        let mut stops = std::pin::pin!(stops);
        let mut quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
        loop {
            let notice = tokio::select! {
                biased;
                () = &mut stops => return self.outlet.end("stopping", self.seen),
                () = self.outlet.left() => return,
                notice = self.watch.next() => notice,
                () = sleep_until(quiet) => {
                    quiet = Instant::now() + KEEP_ALIVE_INTERVAL;
                    if self.outlet.send(Bytes::from_static(b":\n\n"), self.seen).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            let told = match notice {
                Ok(Some(notice)) => self.tell(notice).await,
                Ok(None) => return self.end(),
                Err(error) => Err(error),
            };
            match told {
                Ok(Ok(())) => {}
                Ok(Err(ClosedStream)) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a run cannot be followed");
                    return self.outlet.end("failed", self.seen);
                }
            }
        }
    }

    /// Lines as they are written, and of an attempt that has ended all that is kept.
    async fn tell(&mut self, notice: Notice) -> Result<Result<(), ClosedStream>, RecoverError> {
        match notice {
            Notice::Log(line) if self.means_line(&line.task, line.attempt) => {
                let text = serde_json::to_string(&*line).unwrap_or_default();
                Ok(self.outlet.send(sse::piece(None, "line", &text), self.seen).await)
            }
            Notice::Missed(count) => {
                let text = json!({ "count": count }).to_string();
                Ok(self.outlet.send(sse::piece(None, "missed", &text), self.seen).await)
            }
            Notice::Record(told) => {
                for (event, seq) in told.body.iter().zip(told.first_seq..) {
                    // The record that holds what it had last may hold more.
                    let is_new = self.seen.is_none_or(|seen| seq > seen);
                    if let Event::AttemptEnded(ended) = event
                        && is_new
                        && let Err(left) = self.tell_kept(ended.fence, seq).await?
                    {
                        return Ok(Err(left));
                    }
                }
                Ok(Ok(()))
            }
            Notice::Log(_) | Notice::Progress(_) => Ok(Ok(())),
        }
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

    async fn tell_kept(&mut self, fence: Fence, seq: u64) -> Result<Result<(), ClosedStream>, RecoverError> {
        let Fence { task, attempt, dispatch } = fence;
        let logs = match self.watch.run() {
            Some(run) if self.means(run, task, attempt) => {
                self.app.host.store().logs(run.id(), Some(task.0)).await?
            }
            Some(_) | None => return Ok(Ok(())),
        };
        let Some(log) = logs.iter().find(|log| (log.attempt, log.dispatch) == (attempt, dispatch)) else {
            return Ok(Ok(()));
        };
        let text = self.watch.run().map(|run| log_json(run, log).to_string()).unwrap_or_default();
        let told = self.outlet.send(sse::piece(Some(seq), "log", &text), self.seen).await;
        self.seen = Some(seq);
        Ok(told)
    }

    fn end(&self) {
        match self.watch.run().filter(|run| run.is_over()) {
            Some(run) => {
                let said = json!({ "phase": run.phase().as_str() }).to_string();
                self.outlet.end_with(sse::piece(None, "end", &said));
            }
            None => self.outlet.end("stopping", self.seen),
        }
    }
}
