//! The child's side of relayed requests: its guests, and the thread that receives events.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, request};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::{
    select,
    sync::mpsc::{Receiver, Sender, channel},
};
use wasmtime_wasi::runtime::spawn;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::{
    messages::{Fields, Head, Id, MAX_PIECE_BYTES, Part, RelayEvent, RelayRequest},
    parts::{Next, Remote, next},
};
use crate::capability::http::exchange::{DrivenResponse, Driver, Sending};

/// Client of relayed requests, in the child.
pub(crate) struct RelayClient {
    send: Box<dyn Fn(RelayRequest<'_>) + Send + Sync>,
    under_way: Mutex<HashMap<Id, Waiters>>,
    begun: AtomicU32,
}

/// Channels to the tasks that wait for events of one request. Each event was asked for, so that there is always room.
struct Waiters {
    /// Dropped once no other part is wanted.
    more: Option<Sender<()>>,
    head: Sender<Result<ResponseHead, Error>>,
    parts: Sender<Next>,
}

/// Head of a response, and whether it has no body.
type ResponseHead = (Response<()>, bool);

impl RelayClient {
    /// Makes a client that sends requests with `send`.
    pub(crate) fn new(send: impl Fn(RelayRequest<'_>) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { send: Box::new(send), under_way: Mutex::default(), begun: AtomicU32::new(0) })
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id, Waiters>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event from the parent. Events that no task waits for any more are dropped.
    ///
    /// # Errors
    /// Fails when the event was not asked for.
    pub(crate) fn receive(&self, event: RelayEvent<'_>) -> io::Result<()> {
        match event {
            RelayEvent::More(id) => {
                let under_way = self.under_way();
                let more = under_way.get(&id).and_then(|ends| ends.more.as_ref());
                // A request that is over has sent its body to the end.
                more.map_or(Ok(()), |more| more.try_send(()).or(Ok(())))
            }
            RelayEvent::Enough(id) => {
                self.under_way().get_mut(&id).iter_mut().for_each(|ends| ends.more = None);
                Ok(())
            }
            RelayEvent::Head(id, status, fields, is_all) => {
                let mut response = Response::new(());
                *response.status_mut() = StatusCode::from_u16(status).map_err(io::Error::other)?;
                *response.headers_mut() = fields.read()?;
                let ends = self.under_way();
                ends.get(&id).map_or(Ok(()), |ends| {
                    ends.head.try_send(Ok((response, is_all))).map_err(|_| unexpected_event())
                })
            }
            RelayEvent::Failed(id, code) => {
                let ends = self.under_way();
                ends.get(&id).map_or(Ok(()), |ends| {
                    ends.head.try_send(Err(code.into())).map_err(|_| unexpected_event())
                })
            }
            RelayEvent::Body(id, part) => {
                let part = part.read()?;
                let ends = self.under_way();
                ends.get(&id).map_or(Ok(()), |ends| ends.parts.try_send(part).map_err(|_| unexpected_event()))
            }
        }
    }

    /// Has the parent make `request`, starting now.
    pub(in crate::capability::http) fn send(
        self: &Arc<Self>,
        request: Request<WasiBody>,
        options: RequestOptions,
    ) -> Sending {
        let (request, body) = request.into_parts();
        let id = self.begun.fetch_add(1, Relaxed);
        let (more, wanted) = channel(1);
        let (head, head_received) = channel(1);
        let (parts, parts_received) = channel(1);
        self.under_way().insert(id, Waiters { more: Some(more), head, parts });
        let handle = Arc::new(RequestHandle { relay: Arc::clone(self), id });
        handle.send(RelayRequest::Begin(id, head_of(&request, options, !body.is_end_stream())));
        let sending = spawn(send_body(Arc::clone(&handle), body, wanted));
        let driver = Box::new(async move {
            sending.await;
            Ok(())
        });
        Box::new(answered(handle, head_received, parts_received, driver))
    }
}

fn unexpected_event() -> io::Error {
    io::Error::other("it sent an event that was not asked for")
}

fn head_of(
    request: &request::Parts,
    RequestOptions { connect_timeout, first_byte_timeout, between_bytes_timeout }: RequestOptions,
    has_body: bool,
) -> Head<'_> {
    Head {
        method: request.method.as_str().into(),
        uri: request.uri.to_string().into(),
        fields: Fields::of(&request.headers),
        timeouts: [connect_timeout, first_byte_timeout, between_bytes_timeout],
        has_body,
    }
}

/// A request in progress. Dropping the last handle gives the request up.
struct RequestHandle {
    relay: Arc<RelayClient>,
    id: Id,
}

impl RequestHandle {
    fn send(&self, request: RelayRequest<'_>) {
        (self.relay.send)(request);
    }
}

impl Drop for RequestHandle {
    fn drop(&mut self) {
        self.relay.under_way().remove(&self.id);
        self.send(RelayRequest::GiveUp(self.id));
    }
}

async fn answered(
    handle: Arc<RequestHandle>,
    mut head_received: Receiver<Result<ResponseHead, Error>>,
    parts_received: Receiver<Next>,
    driver: Driver,
) -> Result<DrivenResponse, Error> {
    // Without a sender the connection is gone.
    let (response, is_all) = head_received.recv().await.unwrap_or(Err(Error::ConnectionTerminated))?;
    let remote = Remote::new(parts_received, move || handle.send(RelayRequest::More(handle.id)));
    let body = if is_all { remote.ended() } else { remote };
    Ok((response.map(|()| body.boxed_unsync()), driver))
}

/// Sends the request's body in pieces, as it is asked for.
async fn send_body(handle: Arc<RequestHandle>, mut body: WasiBody, mut wanted: Receiver<()>) {
    let mut rest = Bytes::new();
    while wanted.recv().await.is_some() {
        if rest.is_empty() {
            let next = select! {
                next = next(&mut body) => next,
                // Another part is not asked for before this one, so the channel has closed: no more is wanted.
                _ = wanted.recv() => return,
            };
            match next {
                Part::Data(data) => rest = data.into_owned().into(),
                part @ (Part::Trailers(_) | Part::End | Part::Failed(_)) => {
                    let is_last = part.is_last();
                    handle.send(RelayRequest::Body(handle.id, part));
                    if is_last {
                        return;
                    }
                    continue;
                }
            }
        }
        let piece = rest.split_to(rest.len().min(MAX_PIECE_BYTES));
        handle.send(RelayRequest::Body(handle.id, Part::Data((&*piece).into())));
    }
}
