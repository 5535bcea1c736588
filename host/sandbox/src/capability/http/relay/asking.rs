//! The side of whoever wants requests made: its guests, and the thread that hears what comes of them.

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
    messages::{Asked, Fields, Head, Id, OfRequest, PIECE, Part},
    parts::{Next, Remote, next},
};
use crate::capability::http::exchange::{Answered, Driver, Sending};

/// Has the parent of this process make its guests' requests.
pub(crate) struct Relay {
    tell: Box<dyn Fn(Asked<'_>) + Send + Sync>,
    under_way: Mutex<HashMap<Id, Ends>>,
    begun: AtomicU32,
}

/// Who waits for what is told of a request. No more is told than they asked for.
struct Ends {
    /// Until no other part is wanted.
    more: Option<Sender<()>>,
    head: Sender<Result<Came, Error>>,
    parts: Sender<Next>,
}

/// The head of an answer, and whether that is all of it.
type Came = (Response<()>, bool);

impl Relay {
    /// What is to be said goes to `tell`.
    pub(crate) fn new(tell: impl Fn(Asked<'_>) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { tell: Box::new(tell), under_way: Mutex::default(), begun: AtomicU32::new(0) })
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id, Ends>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the parent tells. What nobody waits for any more is passed over.
    ///
    /// # Errors
    /// When it is nothing that is ever told.
    pub(crate) fn hear(&self, told: OfRequest<'_>) -> io::Result<()> {
        match told {
            OfRequest::More(id) => {
                let under_way = self.under_way();
                let more = under_way.get(&id).and_then(|ends| ends.more.as_ref());
                // What is over has been sent to its end.
                more.map_or(Ok(()), |more| more.try_send(()).or(Ok(())))
            }
            OfRequest::Enough(id) => {
                self.under_way().get_mut(&id).iter_mut().for_each(|ends| ends.more = None);
                Ok(())
            }
            OfRequest::Answered(id, status, fields, is_all) => {
                let mut response = Response::new(());
                *response.status_mut() = StatusCode::from_u16(status).map_err(io::Error::other)?;
                *response.headers_mut() = fields.read()?;
                let ends = self.under_way();
                ends.get(&id)
                    .map_or(Ok(()), |ends| ends.head.try_send(Ok((response, is_all))).map_err(|_| excess()))
            }
            OfRequest::Failed(id, code) => {
                let ends = self.under_way();
                ends.get(&id)
                    .map_or(Ok(()), |ends| ends.head.try_send(Err(code.into())).map_err(|_| excess()))
            }
            OfRequest::Body(id, part) => {
                let part = part.read()?;
                let ends = self.under_way();
                ends.get(&id).map_or(Ok(()), |ends| ends.parts.try_send(part).map_err(|_| excess()))
            }
        }
    }

    /// Has `request` made, from now on.
    pub(in crate::capability::http) fn send(
        self: &Arc<Self>,
        request: Request<WasiBody>,
        options: RequestOptions,
    ) -> Sending {
        let (request, body) = request.into_parts();
        let id = self.begun.fetch_add(1, Relaxed);
        let (more, wanted) = channel(1);
        let (head, came) = channel(1);
        let (parts, coming) = channel(1);
        self.under_way().insert(id, Ends { more: Some(more), head, parts });
        let line = Arc::new(Line { relay: Arc::clone(self), id });
        line.tell(Asked::Begin(id, head_of(&request, options, !body.is_end_stream())));
        let sending = spawn(send_body(Arc::clone(&line), body, wanted));
        let driver = Box::new(async move {
            sending.await;
            Ok(())
        });
        Box::new(answered(line, came, coming, driver))
    }
}

fn excess() -> io::Error {
    io::Error::other("more was told than was asked for")
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

/// A request, until whoever it was made for has its end or wants nothing of it any more.
struct Line {
    relay: Arc<Relay>,
    id: Id,
}

impl Line {
    fn tell(&self, asked: Asked<'_>) {
        (self.relay.tell)(asked);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.relay.under_way().remove(&self.id);
        self.tell(Asked::GiveUp(self.id));
    }
}

async fn answered(
    line: Arc<Line>,
    mut came: Receiver<Result<Came, Error>>,
    coming: Receiver<Next>,
    driver: Driver,
) -> Result<Answered, Error> {
    // Whoever would have said it has gone.
    let (response, is_all) = came.recv().await.unwrap_or(Err(Error::ConnectionTerminated))?;
    let remote = Remote::new(coming, move || line.tell(Asked::More(line.id)));
    let body = if is_all { remote.ended() } else { remote };
    Ok((response.map(|()| body.boxed_unsync()), driver))
}

/// Sends the request's body as it is wanted, in pieces.
async fn send_body(line: Arc<Line>, mut body: WasiBody, mut wanted: Receiver<()>) {
    let mut rest = Bytes::new();
    while wanted.recv().await.is_some() {
        if rest.is_empty() {
            let next = select! {
                next = next(&mut body) => next,
                // Another part is not wanted before this one was: none is any more.
                _ = wanted.recv() => return,
            };
            match next {
                Part::Data(data) => rest = data.into_owned().into(),
                part @ (Part::Trailers(_) | Part::End | Part::Failed(_)) => {
                    let is_last = part.is_last();
                    line.tell(Asked::Body(line.id, part));
                    if is_last {
                        return;
                    }
                    continue;
                }
            }
        }
        let piece = rest.split_to(rest.len().min(PIECE));
        line.tell(Asked::Body(line.id, Part::Data((&*piece).into())));
    }
}
