//! The child's side of relayed connections: its guests, and the thread that receives events.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc::{Receiver, Sender, channel},
};

use super::messages::{Id, MAX_NAME_BYTES, MAX_SENT_BYTES, StartResult, TcpEvent, TcpRequest};
use crate::{
    capability::sockets::{connection::Connection, failure::Failure},
    text::cut,
};

/// Client of relayed connections, in the child.
pub(crate) struct TcpRelayClient {
    send: Box<dyn Fn(TcpRequest<'_>) + Send + Sync>,
    under_way: Mutex<HashMap<Id, Waiters>>,
    begun: AtomicU32,
}

/// Channels to those who wait for events. Each event was asked for, so that there is always room.
struct Waiters {
    started: Sender<Result<StartResult, Failure>>,
    data: Sender<Result<Bytes, Failure>>,
    written: Sender<Result<(), Failure>>,
}

fn unexpected_event() -> io::Error {
    io::Error::other("it sent an event that was not asked for")
}

impl TcpRelayClient {
    /// Makes a client that sends requests with `send`.
    pub(crate) fn new(send: impl Fn(TcpRequest<'_>) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { send: Box::new(send), under_way: Mutex::default(), begun: AtomicU32::new(0) })
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id, Waiters>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event from the parent. Events that nothing waits for any more are dropped.
    ///
    /// # Errors
    /// Fails when the event was not asked for.
    pub(crate) fn receive(&self, event: TcpEvent<'_>) -> io::Result<()> {
        let waiting = self.under_way();
        let is_taken = match event {
            TcpEvent::Started(id, started) => {
                waiting.get(&id).is_none_or(|waiters| waiters.started.try_send(started).is_ok())
            }
            TcpEvent::Data(id, data) => {
                let data = data.map(|data| Bytes::from(data.into_owned()));
                waiting.get(&id).is_none_or(|waiters| waiters.data.try_send(data).is_ok())
            }
            TcpEvent::Written(id, written) => {
                waiting.get(&id).is_none_or(|waiters| waiters.written.try_send(written).is_ok())
            }
        };
        if is_taken { Ok(()) } else { Err(unexpected_event()) }
    }

    /// Has the parent look up a name.
    pub(in crate::capability::sockets) async fn look_up(
        self: Arc<Self>,
        name: String,
    ) -> Result<Vec<IpAddr>, Failure> {
        let name = cut(&name, MAX_NAME_BYTES);
        let (_handle, mut receivers) = self.begin(|id| TcpRequest::LookUp(id, name.into()));
        match receivers.started.recv().await {
            Some(Ok(StartResult::Found(addresses))) => Ok(addresses),
            Some(Err(failure)) => Err(failure),
            Some(Ok(StartResult::Connected(_))) | None => Err(Failure::Other),
        }
    }

    /// Has the parent connect to an address.
    pub(in crate::capability::sockets) async fn connect(
        self: Arc<Self>,
        address: SocketAddr,
    ) -> Result<Connection, Failure> {
        let (handle, Receivers { mut started, data, written }) =
            self.begin(|id| TcpRequest::Connect(id, address));
        match started.recv().await {
            Some(Ok(StartResult::Connected(local))) => Ok(Connection {
                input: Box::new(Reader {
                    handle: Arc::clone(&handle),
                    data,
                    is_asked: false,
                    ahead: Bytes::new(),
                    is_over: false,
                }),
                output: Box::new(Writer { handle, written, is_writing: false }),
                local,
            }),
            Some(Err(failure)) => Err(failure),
            Some(Ok(StartResult::Found(_))) | None => Err(Failure::Other),
        }
    }

    fn begin<'a>(self: Arc<Self>, request: impl FnOnce(Id) -> TcpRequest<'a>) -> (Arc<Handle>, Receivers) {
        let id = self.begun.fetch_add(1, Relaxed);
        let ((begun, started), (got, data), (sent, written)) = (channel(1), channel(1), channel(1));
        self.under_way().insert(id, Waiters { started: begun, data: got, written: sent });
        (self.send)(request(id));
        (Arc::new(Handle { relay: self, id }), Receivers { started, data, written })
    }
}

/// Ends of the channels of [`Waiters`].
struct Receivers {
    started: Receiver<Result<StartResult, Failure>>,
    data: Receiver<Result<Bytes, Failure>>,
    written: Receiver<Result<(), Failure>>,
}

/// A look-up or a connection. Dropping the last handle closes it.
struct Handle {
    relay: Arc<TcpRelayClient>,
    id: Id,
}

impl Handle {
    fn send(&self, request: TcpRequest<'_>) {
        (self.relay.send)(request);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.relay.under_way().remove(&self.id);
        self.send(TcpRequest::Close(self.id));
    }
}

/// Direction in which a guest receives.
struct Reader {
    handle: Arc<Handle>,
    data: Receiver<Result<Bytes, Failure>>,
    is_asked: bool,
    ahead: Bytes,
    is_over: bool,
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ahead.is_empty() && !this.is_over {
            if !this.is_asked {
                this.is_asked = true;
                this.handle.send(TcpRequest::Read(this.handle.id));
            }
            let data = ready!(this.data.poll_recv(context)).unwrap_or(Err(Failure::ConnectionReset));
            this.is_asked = false;
            this.is_over = data.as_ref().map_or(true, Bytes::is_empty);
            this.ahead = data?;
        }
        buffer.put_slice(&this.ahead.split_to(this.ahead.len().min(buffer.remaining())));
        Poll::Ready(Ok(()))
    }
}

/// Direction in which a guest sends.
struct Writer {
    handle: Arc<Handle>,
    written: Receiver<Result<(), Failure>>,
    is_writing: bool,
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(context))?;
        let piece = bytes.get(..MAX_SENT_BYTES).unwrap_or(bytes);
        self.is_writing = true;
        self.handle.send(TcpRequest::Write(self.handle.id, piece.into()));
        Poll::Ready(Ok(piece.len()))
    }

    /// Waits until the last piece is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_writing {
            let written = ready!(self.written.poll_recv(context));
            self.is_writing = false;
            written.unwrap_or(Err(Failure::ConnectionReset))?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        self.handle.send(TcpRequest::Shut(self.handle.id));
        Poll::Ready(Ok(()))
    }
}
