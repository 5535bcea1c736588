//! The parent's side of relayed requests. The child is not trusted: its messages may be anything.

use std::{collections::HashMap, io, sync::Arc};

use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Body as _;
use phasm_engine::usage::ResourceUsage;
use tokio::{
    join,
    sync::mpsc::{Receiver, Sender, channel, error::TrySendError},
};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::{RequestOptions, WasiBody};

use super::{
    messages::{Fields, Head, Id, MAX_PIECE_BYTES, Part, RelayEvent, RelayRequest},
    parts::{Next, Remote, next},
};
use crate::{
    attempt_context::AttemptContext,
    call_result::CallResult,
    capability::http::{
        HttpGrant,
        caller::AttemptRequests,
        exchange::{self, Driver, Sending},
        net::Net,
    },
    transcript::Transcript,
};

/// Maximum size of a URL, in addition to the limit on headers, in bytes.
const MAX_URL_BYTES: u64 = 128 << 10;

/// Encodes an event as a frame for the process.
type Encode = fn(RelayEvent<'_>) -> io::Result<Vec<u8>>;

/// Way to the process: a channel of frames, and their encoding.
#[derive(Clone)]
pub(crate) struct Outbox {
    frames: Sender<Vec<u8>>,
    encode: Encode,
}

impl Outbox {
    /// Makes an outbox that sends events to `frames` as `encode` writes them.
    pub(crate) fn new(frames: Sender<Vec<u8>>, encode: Encode) -> Self {
        Self { frames, encode }
    }

    /// Waits until there is room, and sends `event`. An event for a process that has ended is dropped.
    async fn send(&self, event: RelayEvent<'_>) {
        if let Ok(frame) = (self.encode)(event) {
            let _ = self.frames.send(frame).await;
        }
    }
}

/// Requests of one call. Dropping this ends them.
pub(crate) struct RelayServer {
    net: Arc<Net>,
    grant: HttpGrant,
    attempt: Arc<AttemptContext>,
    transcript: Arc<Transcript>,
    under_way: HashMap<Id, ActiveRequest>,
    /// Set once there was a request.
    own: Option<AttemptRequests>,
    outbox: Outbox,
}

/// A request in progress, and the channels to its tasks.
struct ActiveRequest {
    parts: Sender<Next>,
    more: Sender<()>,
    task: AbortOnDropJoinHandle<()>,
}

impl RelayServer {
    /// Makes the server of a call; events go to `outbox`.
    pub(crate) fn new(
        net: &Arc<Net>,
        grant: &HttpGrant,
        attempt: &Arc<AttemptContext>,
        transcript: &Arc<Transcript>,
        outbox: Outbox,
    ) -> Self {
        Self {
            net: Arc::clone(net),
            grant: grant.clone(),
            attempt: Arc::clone(attempt),
            transcript: Arc::clone(transcript),
            under_way: HashMap::new(),
            own: None,
            outbox,
        }
    }

    /// Takes a message of the process.
    ///
    /// # Errors
    /// Fails when no guest could cause the message.
    pub(crate) fn receive(&mut self, message: RelayRequest<'_>) -> io::Result<()> {
        match message {
            RelayRequest::Begin(id, head) => self.begin(id, &head),
            RelayRequest::Body(id, part) => {
                if matches!(&part, Part::Data(data) if data.len() > MAX_PIECE_BYTES)
                    || too_long(&part, self.headers())
                {
                    return Err(invalid_request());
                }
                // A request that is over is gone here, and the message may have crossed its end.
                let Some(request) = self.under_way.get(&id) else { return Ok(()) };
                pass_on(&request.parts, part.read()?)
            }
            RelayRequest::More(id) => {
                self.under_way.get(&id).map_or(Ok(()), |request| pass_on(&request.more, ()))
            }
            RelayRequest::GiveUp(id) => {
                self.under_way.remove(&id);
                Ok(())
            }
        }
    }

    fn headers(&self) -> u64 {
        self.net.config.limits.headers.saturating_add(MAX_URL_BYTES)
    }

    fn begin(&mut self, id: Id, head: &Head<'_>) -> io::Result<()> {
        self.under_way.retain(|_, request| !request.task.is_finished());
        let size = (head.uri.len() + head.fields.0.len()) as u64;
        // A guest cannot have more of them either.
        let is_one_more = self.under_way.len() < self.attempt.limits.resources as usize;
        if size > self.headers() || !is_one_more || self.under_way.contains_key(&id) {
            return Err(invalid_request());
        }
        let (parts, body) = channel(1);
        let (wants, wanted) = channel(1);
        let body = Remote::new(body, move || {
            // There is room, as the last one was received.
            let _ = wants.try_send(());
        });
        let (request, options) = read(head, body)?;
        let Self { net, grant, attempt, transcript, own, .. } = self;
        let own = own.get_or_insert_with(|| AttemptRequests::new(net, grant, attempt, transcript));
        let sending = exchange::begin(own.caller(), request, options);
        let (more, response_wanted) = channel(1);
        let events = EventSender { id, outbox: self.outbox.clone() };
        let task = spawn(run_request(events, sending, [wanted, response_wanted]));
        self.under_way.insert(id, ActiveRequest { parts, more, task });
        Ok(())
    }

    /// Ends the requests, and adds their refusals and usage to the result of the call.
    pub(crate) fn finish(mut self, ended: &mut CallResult) {
        self.under_way.clear();
        self.own.iter().for_each(|own| own.report_refusals(&mut ended.refusals));
        ended.metered = self.with(ended.metered);
    }

    /// Adds the bytes of relayed requests to the usage that the child reports.
    pub(crate) fn with(&self, metered: ResourceUsage) -> ResourceUsage {
        let (received, sent) = self.own.as_ref().map_or((0, 0), AttemptRequests::byte_counts);
        let bytes_in = metered.bytes_in.saturating_add(received);
        ResourceUsage { bytes_in, bytes_out: metered.bytes_out.saturating_add(sent), ..metered }
    }
}

fn invalid_request() -> io::Error {
    io::Error::other("it asks for requests as no guest can")
}

fn too_long(part: &Part<'_>, most: u64) -> bool {
    matches!(part, Part::Trailers(fields) if fields.0.len() as u64 > most)
}

/// Passes on a part that was asked for, for which there is room.
fn pass_on<T>(to: &Sender<T>, what: T) -> io::Result<()> {
    match to.try_send(what) {
        Err(TrySendError::Full(_)) => Err(invalid_request()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn read(head: &Head<'_>, body: Remote) -> io::Result<(Request<WasiBody>, RequestOptions)> {
    let [connect_timeout, first_byte_timeout, between_bytes_timeout] = head.timeouts;
    let options = RequestOptions { connect_timeout, first_byte_timeout, between_bytes_timeout };
    let body = if head.has_body {
        body.boxed_unsync()
    } else {
        Empty::new().map_err(|never| match never {}).boxed_unsync()
    };
    let mut request = Request::new(body);
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).map_err(io::Error::other)?;
    *request.uri_mut() = head.uri.parse::<Uri>().map_err(io::Error::other)?;
    *request.headers_mut() = head.fields.read()?;
    Ok((request, options))
}

/// Sends the events of one request.
struct EventSender {
    id: Id,
    outbox: Outbox,
}

impl EventSender {
    async fn send(&self, event: RelayEvent<'_>) {
        self.outbox.send(event).await;
    }

    /// Asks for the request's body as it is wanted.
    async fn ask(&self, mut wanted: Receiver<()>) {
        while wanted.recv().await.is_some() {
            self.send(RelayEvent::More(self.id)).await;
        }
        self.send(RelayEvent::Enough(self.id)).await;
    }

    /// Sends the response as it is asked for, and returns the driver that has to run until all is sent.
    async fn answer(&self, sending: Sending, mut wanted: Receiver<()>) -> Option<Driver> {
        let (response, driver) = match Box::into_pin(sending).await {
            Ok(answered) => answered,
            Err(error) => {
                self.send(RelayEvent::Failed(self.id, (&error).into())).await;
                return None;
            }
        };
        let (head, mut body) = response.into_parts();
        let is_all = body.is_end_stream();
        self.send(RelayEvent::Head(self.id, head.status.as_u16(), Fields::of(&head.headers), is_all)).await;
        while !is_all && wanted.recv().await.is_some() {
            let part = next(&mut body).await;
            let is_last = part.is_last();
            self.send(RelayEvent::Body(self.id, part)).await;
            if is_last {
                break;
            }
        }
        Some(driver)
    }
}

/// Makes a request, until its response has come and its body has gone.
async fn run_request(events: EventSender, sending: Sending, wants: [Receiver<()>; 2]) {
    let [body_wanted, response_wanted] = wants;
    join!(events.answer(sending, response_wanted), events.ask(body_wanted));
}
