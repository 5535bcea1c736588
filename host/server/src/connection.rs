//! Connections: how many, for how long, and what of them is read at most.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::Router;
use hyper::{Request, body::Incoming, server::conn::http1, service::Service as _, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use phasm::fair_queue::{FairQueue, Holder, Place};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

use crate::{
    config::ServerLimits, resources::address, tls::Tls, turns::in_turns, write_timeout::WriteTimeout,
};

/// Fields of a head.
const MAX_HEADERS: usize = 64;
/// Size of a connection's write buffer, in bytes.
const WRITE_BUFFER_BYTES: usize = 64 << 10;
/// Written to a client whose address has its share of the connections, before its request is read.
const NO_PLACE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Accepts connections until it is told to stop, and lets requests end.
pub(crate) struct Acceptor {
    pub(crate) router: Router,
    pub(crate) limits: ServerLimits,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Places for connections.
    pub(crate) places: FairQueue,
    /// Turns on the threads that serve requests.
    pub(crate) turns: FairQueue,
}

/// A connection, as its requests find it among their extensions.
#[derive(Clone, Debug)]
pub(crate) struct Connection(Arc<Mutex<Place>>);

impl Connection {
    /// Returns the holder that the connection counts for now: its address, or the caller of its last request.
    pub(crate) fn holder(&self) -> Holder {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).holder().clone()
    }

    /// Counts the connection for that caller from now on. Returns false if the caller has its share of connections.
    pub(crate) fn claim(&self, caller: &Holder) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).hand_over(caller)
    }
}

impl Acceptor {
    /// Accepts until `stop`, then gives what goes on its grace.
    pub(crate) async fn until(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let grace = self.limits.grace;
        let (shared, ending) = (Arc::new(self), GracefulShutdown::new());
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => shared.begin(stream, peer, &ending),
                // The connection is gone again, or there are no file descriptors left until other connections close.
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    sleep(std::time::Duration::from_millis(50)).await;
                }
            }
        }
        drop(listener);
        if timeout(grace, ending.shutdown()).await.is_err() {
            tracing::warn!("requests that did not end in time are cut off");
        }
    }

    fn begin(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, ending: &GracefulShutdown) {
        let (shared, watcher) = (Arc::clone(self), ending.watcher());
        // Frames of streams are small and must not be delayed.
        drop(stream.set_nodelay(true));
        tokio::spawn(async move {
            let holder = address(peer.ip());
            let entered = timeout(shared.limits.body_time, shared.places.enter(&holder)).await;
            let Ok(Ok(place)) = entered else { return shared.turn_away(&stream) };
            let connection = Connection(Arc::new(Mutex::new(place)));
            let stream = WriteTimeout::new(stream, shared.limits.write_time);
            match &shared.tls {
                None => shared.serve(stream, connection, watcher).await,
                Some(tls) => {
                    let accepted = in_turns(&shared.turns, &holder, tls.acceptor().accept(stream));
                    let shaken = timeout(shared.limits.head_time, accepted).await;
                    if let Ok(Ok(stream)) = shaken {
                        shared.serve(stream, connection, watcher).await;
                    }
                }
            }
        });
    }

    /// Says why a connection ends at once, if that can be said without a handshake.
    fn turn_away(&self, stream: &TcpStream) {
        if self.tls.is_none() {
            // The buffer of a new socket has room, or the client is gone.
            let _written = stream.try_write(NO_PLACE);
        }
    }

    /// Serves a connection, which has its place until it ends.
    async fn serve<S>(
        &self,
        stream: S,
        connection: Connection,
        watcher: hyper_util::server::graceful::Watcher,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_time)
            .max_headers(MAX_HEADERS)
            .max_header_size(self.limits.head)
            .max_buf_size(self.limits.head.max(WRITE_BUFFER_BYTES));
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(connection.clone());
            router.call(request)
        });
        let served = http.serve_connection(TokioIo::new(stream), service);
        // A client that breaks off, or says what is no HTTP, is owed nothing.
        drop(watcher.watch(served).await);
    }
}
