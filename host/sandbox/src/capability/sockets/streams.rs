//! Streams of a connection, as guests read and write them.

use std::{
    future::poll_fn,
    io::{self, ErrorKind},
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;
use tokio::io::{AsyncRead as _, AsyncWrite as _, AsyncWriteExt as _, ReadBuf};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::{
    background::Background,
    connection::{Input, Output},
};

/// Bytes that are read ahead of the guest, and that it may write at once.
const READ_BYTES: usize = 16 << 10;
const WRITE_BYTES: usize = 64 << 10;

fn failed(kind: ErrorKind) -> StreamError {
    StreamError::LastOperationFailed(io::Error::from(kind).into())
}

/// Direction in which a guest receives. Clones are the same stream.
#[derive(Clone)]
pub(super) struct Reader(Arc<Mutex<ReadState>>);

struct ReadState {
    /// Gone at the end.
    input: Option<Input>,
    ahead: Bytes,
    failed: Option<ErrorKind>,
}

impl Reader {
    pub(super) fn new(input: Input) -> Self {
        Self(Arc::new(Mutex::new(ReadState { input: Some(input), ahead: Bytes::new(), failed: None })))
    }

    fn state(&self) -> MutexGuard<'_, ReadState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives no more.
    pub(super) fn shut(&self) {
        *self.state() = ReadState { input: None, ahead: Bytes::new(), failed: None };
    }
}

impl ReadState {
    /// Waits for something to read, an error, or the end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(input) = self.input.as_mut().filter(|_| self.ahead.is_empty()) else {
            return Poll::Ready(());
        };
        let mut bytes = vec![0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = ready!(Pin::new(input).poll_read(context, &mut buffer));
        let count = buffer.filled().len();
        bytes.truncate(count);
        match read {
            Ok(()) if count > 0 => self.ahead = bytes.into(),
            Ok(()) => self.input = None,
            Err(error) => {
                self.input = None;
                self.failed = Some(error.kind());
            }
        }
        Poll::Ready(())
    }

    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let polled = self.poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            return Ok(Bytes::new());
        }
        if !self.ahead.is_empty() {
            return Ok(self.ahead.split_to(self.ahead.len().min(size)));
        }
        Err(self.failed.take().map_or(StreamError::Closed, failed))
    }
}

impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.state().read(size)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {
        poll_fn(|context| self.state().poll(context)).await;
    }
}

/// Direction in which a guest sends. Clones are the same stream.
#[derive(Clone)]
pub(super) struct Writer(Arc<Mutex<WriteState>>);

type WriteResult = Result<Output, ErrorKind>;

enum WriteState {
    Idle(Output),
    Writing(Background<Option<WriteResult>>),
    /// Sends the rest and the end.
    Shutting(Background<()>),
    Shut,
    Failed(ErrorKind),
}

impl Writer {
    pub(super) fn new(output: Output) -> Self {
        Self(Arc::new(Mutex::new(WriteState::Idle(output))))
    }

    fn state(&self) -> MutexGuard<'_, WriteState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends no more, once everything is sent.
    pub(super) fn shut(&self) {
        let mut state = self.state();
        *state = match mem::replace(&mut *state, WriteState::Shut) {
            WriteState::Idle(output) => WriteState::Shutting(Background::spawn(shut(output))),
            WriteState::Writing(mut writing) => WriteState::Shutting(Background::spawn(async move {
                writing.wait().await;
                if let Some(Some(Ok(output))) = writing.done().map(Option::take) {
                    shut(output).await;
                }
            })),
            other @ (WriteState::Shutting(_) | WriteState::Shut | WriteState::Failed(_)) => other,
        };
    }
}

async fn shut(mut output: Output) {
    // The other side may have gone.
    let _ = output.shutdown().await;
}

async fn write_all(mut output: Output, bytes: Bytes) -> WriteResult {
    let written = async {
        output.write_all(&bytes).await?;
        output.flush().await
    };
    match written.await {
        Ok(()) => Ok(output),
        Err(error) => Err(error.kind()),
    }
}

impl WriteState {
    /// Waits until there is nothing left to send.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Writing(writing) => {
                ready!(writing.poll(context));
                let written = writing.done().and_then(Option::take);
                *self = match written {
                    Some(Ok(output)) => Self::Idle(output),
                    Some(Err(kind)) => Self::Failed(kind),
                    None => Self::Shut,
                };
            }
            Self::Shutting(shutting) => {
                ready!(shutting.poll(context));
                *self = Self::Shut;
            }
            Self::Idle(_) | Self::Shut | Self::Failed(_) => {}
        }
        Poll::Ready(())
    }

    fn check(&mut self) -> StreamResult<usize> {
        let polled = self.poll(&mut Context::from_waker(Waker::noop()));
        match self {
            Self::Idle(_) => Ok(WRITE_BYTES),
            Self::Writing(_) | Self::Shutting(_) if polled.is_pending() => Ok(0),
            Self::Failed(ErrorKind::BrokenPipe) | Self::Writing(_) | Self::Shutting(_) | Self::Shut => {
                Err(StreamError::Closed)
            }
            Self::Failed(kind) => Err(failed(*kind)),
        }
    }

    fn write(&mut self, mut bytes: Bytes) -> StreamResult<()> {
        if self.check()? < bytes.len() {
            return Err(StreamError::trap("more is written than check-write allowed"));
        }
        let Self::Idle(mut output) = mem::replace(self, Self::Shut) else { return Ok(()) };
        // Most writes are done at once, and need no task.
        let mut context = Context::from_waker(Waker::noop());
        while !bytes.is_empty() {
            match Pin::new(&mut output).poll_write(&mut context, &bytes) {
                Poll::Ready(Ok(count)) if count > 0 => drop(bytes.split_to(count.min(bytes.len()))),
                Poll::Ready(Ok(_)) => {
                    *self = Self::Failed(ErrorKind::WriteZero);
                    return Err(failed(ErrorKind::WriteZero));
                }
                Poll::Ready(Err(error)) => {
                    *self = Self::Failed(error.kind());
                    return self.check().map(drop);
                }
                Poll::Pending => {
                    let writing = write_all(output, bytes);
                    *self = Self::Writing(Background::spawn(async move { Some(writing.await) }));
                    return Ok(());
                }
            }
        }
        match Pin::new(&mut output).poll_flush(&mut context) {
            Poll::Ready(Ok(())) => *self = Self::Idle(output),
            Poll::Ready(Err(error)) => {
                *self = Self::Failed(error.kind());
                return self.check().map(drop);
            }
            Poll::Pending => {
                let writing = write_all(output, bytes);
                *self = Self::Writing(Background::spawn(async move { Some(writing.await) }));
            }
        }
        Ok(())
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.state().write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        match &*self.state() {
            WriteState::Failed(kind) => Err(failed(*kind)),
            WriteState::Shut => Err(StreamError::Closed),
            WriteState::Idle(_) | WriteState::Writing(_) | WriteState::Shutting(_) => Ok(()),
        }
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.state().check()
    }

    /// Waits until everything is sent, as the guest believes that it is.
    async fn cancel(&mut self) {
        self.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {
        poll_fn(|context| self.state().poll(context)).await;
    }
}
