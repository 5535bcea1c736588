//! Counting of HTTP on the wire: every byte counts, and each is a sign of life.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{budget::Transfer, caller::Caller};

pub(super) struct Wire<S> {
    pub(super) stream: S,
    pub(super) caller: Arc<Caller>,
    pub(super) transfer: Arc<Transfer>,
}

fn full(_: impl std::fmt::Debug) -> io::Error {
    io::Error::other("a limit was reached")
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, caller, transfer } = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(stream).poll_read(context, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        if read > 0 {
            caller.transcript.activity();
        }
        Poll::Ready(caller.budget.receive(read, transfer).map_err(full))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { stream, caller, transfer } = self.get_mut();
        let written = ready!(Pin::new(stream).poll_write(context, bytes))?;
        caller.transcript.activity();
        Poll::Ready(caller.budget.send(written, transfer).map(|()| written).map_err(full))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
