//! Connections: how many, for how long, and what of them is read at most.

use std::{io, sync::Arc};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};

use crate::{config::ServerLimits, tls::Tls, write_timeout::WriteTimeout};

/// Fields of a head.
const MAX_HEADERS: usize = 64;
/// Size of a connection's write buffer, in bytes.
const WRITE_BUFFER_BYTES: usize = 64 << 10;

/// Accepts connections until it is told to stop, and lets requests end.
pub(crate) struct Acceptor {
    pub(crate) router: Router,
    pub(crate) limits: ServerLimits,
    pub(crate) tls: Option<Arc<Tls>>,
}

impl Acceptor {
    /// Accepts until `stop`, then gives what goes on its grace.
    pub(crate) async fn until(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let room = Arc::new(Semaphore::new(self.limits.connections));
        let grace = self.limits.grace;
        let (shared, ending) = (Arc::new(self), GracefulShutdown::new());
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accept(&listener, &room) => accepted,
            };
            match accepted {
                Ok((stream, place)) => shared.begin(stream, place, &ending),
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

    fn begin(self: &Arc<Self>, stream: TcpStream, place: OwnedSemaphorePermit, ending: &GracefulShutdown) {
        let (shared, watcher) = (Arc::clone(self), ending.watcher());
        // Frames of streams are small and must not be delayed.
        drop(stream.set_nodelay(true));
        tokio::spawn(async move {
            let stream = WriteTimeout::new(stream, shared.limits.write_time);
            match &shared.tls {
                None => shared.serve(stream, watcher).await,
                Some(tls) => {
                    let shaken = timeout(shared.limits.head_time, tls.acceptor().accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        shared.serve(stream, watcher).await;
                    }
                }
            }
            drop(place);
        });
    }

    async fn serve<S>(&self, stream: S, watcher: hyper_util::server::graceful::Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_time)
            .max_headers(MAX_HEADERS)
            .max_header_size(self.limits.head)
            .max_buf_size(self.limits.head.max(WRITE_BUFFER_BYTES));
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        // A client that breaks off, or says what is no HTTP, is owed nothing.
        drop(watcher.watch(connection).await);
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}
