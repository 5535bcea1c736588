//! Counting of a connection: every byte counts, and each is a sign of life.

use std::{
    io,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{caller::Caller, connection_log::Transfer};
use crate::{capability::http::Permits, limits::LimitError};

/// A connection that is open. Dropping it gives its places back, and logs its end.
pub(super) struct OpenConnection {
    caller: Arc<Caller>,
    number: u64,
    transfer: Arc<Transfer>,
    _places: Permits,
}

impl OpenConnection {
    /// Enters a connection of `caller` that is shown as `shown` into its log.
    pub(super) fn new(caller: &Arc<Caller>, shown: String, places: Permits) -> Arc<Self> {
        let transfer = Arc::new(Transfer::default());
        let number = caller.begin(shown, &transfer);
        Arc::new(Self { caller: Arc::clone(caller), number, transfer, _places: places })
    }

    fn over(&self, over: LimitError) -> io::Error {
        let why = self.caller.over(over);
        self.caller.end(self.number, Some(&why));
        io::Error::other(why)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.caller.end(self.number, None);
    }
}

/// One direction of a connection.
pub(super) struct Direction<S> {
    pub(super) stream: S,
    pub(super) open: Arc<OpenConnection>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Direction<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, open } = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(stream).poll_read(context, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        if read > 0 {
            open.caller.transcript.activity();
        }
        open.transfer.received.fetch_add(read as u64, Relaxed);
        Poll::Ready(open.caller.budget.receive(read).map_err(|over| open.over(over)))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Direction<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { stream, open } = self.get_mut();
        let budget = &open.caller.budget;
        let allowed = budget.send(bytes.len()).map_err(|over| open.over(over))?;
        let polled = Pin::new(stream).poll_write(context, bytes.get(..allowed).unwrap_or(bytes));
        let written = match &polled {
            Poll::Ready(Ok(written)) => *written,
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        budget.give_back(allowed.saturating_sub(written));
        if written > 0 {
            open.transfer.sent.fetch_add(written as u64, Relaxed);
            open.caller.transcript.activity();
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
