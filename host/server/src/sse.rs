//! Server-sent events: what a stream is written to, and how it ends.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use futures_core::Stream;
use phasm::{Phase, RecoverError};
use serde_json::json;
use tokio::sync::mpsc;

use crate::streams::StreamGuard;

/// PieceStream that wait to be written to one client.
const MAX_QUEUED_PIECES: usize = 16;
/// A word after so long without one keeps whatever is in between from taking the connection for gone.
pub(crate) const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(25);

/// One client's stream.
pub(crate) struct EventSender {
    pieces: mpsc::Sender<Bytes>,
    last: Arc<Mutex<Option<Bytes>>>,
    patience: Duration,
    streaming: StreamGuard,
}

/// The stream is closed: its client has left, or was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosedStream;

/// Reason why a stream of a run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StreamEnd {
    /// The run has ended, with this phase.
    Over(Phase),
    /// The client has left, or the reason was sent.
    Left,
    /// The run may go on, but not this stream: `stopping`, `busy`, `slow`, `failed`.
    Early(&'static str),
}

impl From<ClosedStream> for StreamEnd {
    fn from(_: ClosedStream) -> Self {
        Self::Left
    }
}

impl From<RecoverError> for StreamEnd {
    fn from(error: RecoverError) -> Self {
        tracing::warn!(error = &error as &dyn std::error::Error, "a run cannot be followed");
        Self::Early("failed")
    }
}

/// Opens a stream of events: its response, and the sender of its pieces.
pub(crate) fn open(streaming: StreamGuard, patience: Duration) -> (EventSender, Response) {
    let (pieces, queued) = mpsc::channel(MAX_QUEUED_PIECES);
    let last = Arc::<Mutex<Option<Bytes>>>::default();
    let pieces_to_read = PieceStream { queued, last: Arc::clone(&last) };
    let mut response = Response::new(Body::from_stream(pieces_to_read));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // For proxies that would gather what is to be told at once.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    (EventSender { pieces, last, patience, streaming }, response)
}

impl EventSender {
    /// Writes a piece; a client that does not get on with reading is dropped, and told where to go on: after `seen`.
    pub(crate) async fn send(&self, piece: Bytes, seen: Option<u64>) -> Result<(), ClosedStream> {
        match self.pieces.send_timeout(piece, self.patience).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(ClosedStream),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                self.streaming.dropped();
                self.end(StreamEnd::Early("slow"), seen);
                Err(ClosedStream)
            }
        }
    }

    /// Sends the last event of the stream: the phase of the run, or why the stream ends before the run and the event behind which
    /// another stream goes on.
    pub(crate) fn end(&self, end: StreamEnd, seen: Option<u64>) {
        match end {
            StreamEnd::Over(phase) => {
                self.end_with(piece(None, "end", &json!({ "phase": phase.as_str() }).to_string()));
            }
            StreamEnd::Early(reason) => {
                let said = json!({ "reason": reason, "lastEventID": seen });
                self.end_with(piece(None, "end-of-stream", &said.to_string()));
            }
            StreamEnd::Left => {}
        }
    }

    pub(crate) fn end_with(&self, word: Bytes) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(word);
    }

    /// When the client has left.
    pub(crate) async fn left(&self) {
        self.pieces.closed().await;
    }
}

/// One event.
pub(crate) fn piece(id: Option<u64>, name: &str, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + name.len() + 40);
    write(&mut text, id, name, data);
    text.into()
}

/// Appends one event. `data` is JSON on one line.
pub(crate) fn write(text: &mut String, id: Option<u64>, name: &str, data: &str) {
    if let Some(id) = id {
        text.push_str(&format!("id: {id}\n"));
    }
    for part in ["event: ", name, "\ndata: ", data, "\n\n"] {
        text.push_str(part);
    }
}

/// PieceStream that wait to be written, and then the reason for the end.
struct PieceStream {
    queued: mpsc::Receiver<Bytes>,
    last: Arc<Mutex<Option<Bytes>>>,
}

impl Stream for PieceStream {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queued.poll_recv(cx).map(|piece| {
            let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
            piece.or_else(last).map(Ok)
        })
    }
}
