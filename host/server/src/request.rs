//! One request on its way to what carries it out.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{FromRequestParts as _, RawPathParams, Request},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use phasm::{
    RunHandle,
    fair_queue::{Holder, Place},
    sandbox::trace::{TRACEPARENT, TRACESTATE, TraceContext},
    store::RunRow,
};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    auth::caller::{Caller, Role},
    connection::Connection,
    problem_response::ProblemResponse,
    query::{Query, nul_faults},
    resources::{self, Resource, RouteAccess, too_many},
    state::AppState,
    turns::in_turns,
};

/// The last event that a client of a stream has had.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Size of a body, in bytes, up to which its memory is that of its connection.
const SMALL_BODY_BYTES: u64 = 64 << 10;

/// One request of an authorized caller.
pub(crate) struct RequestContext {
    pub(crate) app: Arc<AppState>,
    pub(crate) caller: Caller,
    /// The holder that the request counts for in fair shares.
    pub(crate) holder: Holder,
    pub(crate) query: Query,
    /// Resources that the route uses.
    uses: &'static [Resource],
    /// Places that the request has until it is carried out.
    places: Vec<Place>,
    /// Set while the request is carried out in its turn: it must not wait for another one.
    has_turn: bool,
    path: Vec<(String, String)>,
    parts: Parts,
    /// Body until it is read. The mutex makes the request `Sync`, which a body is not.
    body: Mutex<Option<Body>>,
}

impl RequestContext {
    /// # Errors
    /// Unless the caller has that role, and a share of the connections.
    pub(crate) async fn of(
        app: Arc<AppState>,
        request: Request,
        access: RouteAccess,
    ) -> Result<Self, (Option<Caller>, ProblemResponse)> {
        let RouteAccess { needs, uses } = access;
        let (mut parts, body) = request.into_parts();
        let connection = parts.extensions.get::<Connection>();
        let (caller, holder) = match needs {
            Some(needed) => {
                let caller = app.auth.authenticate(&parts.headers).map_err(|refused| (None, refused))?;
                caller.may(needed).map_err(|refused| (Some(caller.clone()), refused))?;
                let holder = resources::holder(&app.host, &caller);
                if connection.is_some_and(|connection| !connection.claim(&holder)) {
                    let refused = too_many(Resource::Connections).with(header::CONNECTION, "close");
                    return Err((Some(caller), refused));
                }
                (caller, holder)
            }
            None => {
                let caller = Caller { key: None, role: Role::Read, namespaces: Arc::default() };
                (caller, connection.map_or_else(resources::unknown, Connection::holder))
            }
        };
        let path = RawPathParams::from_request_parts(&mut parts, &()).await;
        let path = path.map(|found| found.iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
        let path: Vec<(String, String)> = path.unwrap_or_default();
        let query = Query::read(parts.uri.query());
        let faults = [nul_faults("path", &path), query.nul_faults()].concat();
        if !faults.is_empty() {
            return Err((Some(caller), ProblemResponse::faults(faults)));
        }
        let (places, body) = (Vec::new(), Mutex::new(Some(body)));
        Ok(Self { app, caller, holder, query, uses, places, has_turn: false, path, parts, body })
    }

    /// Waits for a place of a resource, which the request has until it is carried out.
    ///
    /// # Errors
    /// 429 if there is none in time.
    pub(crate) async fn enter(&mut self, resource: Resource) -> Result<(), ProblemResponse> {
        debug_assert!(self.uses.contains(&resource), "{} is not a parameter of this route", resource.word());
        let place = self.app.resources.enter(resource, &self.holder).await?;
        self.places.push(place);
        Ok(())
    }

    /// Gives back the places that the request has: its body is read, and it only waits.
    pub(crate) fn leave(&mut self) {
        self.places.clear();
    }

    /// Does work on a document of so many bytes; that on a large one in its turn.
    ///
    /// # Errors
    /// 429 if the caller has as many requests waiting as it may.
    pub(crate) async fn work_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ProblemResponse> {
        debug_assert!(self.uses.contains(&Resource::Work), "work is not among the resources of the route");
        if self.has_turn {
            Ok(work.await)
        } else {
            self.app.resources.work_on(&self.holder, bytes, work).await
        }
    }

    /// Carries out the request in turns on the threads that serve requests.
    pub(crate) async fn in_turns<F: Future>(self, serve: impl FnOnce(Self) -> F) -> F::Output {
        let (app, holder) = (Arc::clone(&self.app), self.holder.clone());
        in_turns(app.resources.queue(Resource::Turns), &holder, serve(self)).await
    }

    /// Waits for room for a large value.
    ///
    /// # Errors
    /// 429 if there is none in time.
    pub(crate) async fn room(&self, bytes: u64) -> Result<Place, ProblemResponse> {
        debug_assert!(
            self.uses.contains(&Resource::Values),
            "values are not among the resources of the route"
        );
        self.app.resources.room(&self.holder, bytes).await
    }

    /// Carries out the rest of the request in its turn.
    ///
    /// # Errors
    /// 429 if the caller has as many requests waiting as it may, and the errors of `rest`.
    pub(crate) async fn on_work_thread<F>(mut self, rest: impl FnOnce(Self) -> F) -> F::Output
    where
        F: Future<Output = Result<Response, ProblemResponse>> + Send + 'static,
    {
        debug_assert!(self.uses.contains(&Resource::Work), "work is not among the resources of the route");
        let (app, holder) = (Arc::clone(&self.app), self.holder.clone());
        self.has_turn = true;
        app.resources.work(&holder, rest(self)).await?
    }

    /// A part of the path.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.path.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Returns the caller's trace context, if the request has a valid one (W3C Trace Context).
    pub(crate) fn trace(&self) -> Option<TraceContext> {
        let mut parents = self.headers().get_all(TRACEPARENT).iter();
        let parent = parents.next()?.to_str().ok().filter(|_| parents.next().is_none())?;
        let states: Result<Vec<&str>, _> =
            self.headers().get_all(TRACESTATE).iter().map(HeaderValue::to_str).collect();
        TraceContext::read(parent, states.ok().map(|states| states.join(",")).as_deref())
    }

    pub(crate) fn path_and_query(&self) -> (&str, Option<&str>) {
        (self.parts.uri.path(), self.parts.uri.query())
    }

    /// The media type of the body, without its parameters.
    pub(crate) fn content_type(&self) -> Option<String> {
        let whole = self.header(&header::CONTENT_TYPE)?;
        Some(whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Says where the next page is, which begins behind that.
    pub(crate) fn link_next(&self, response: &mut Response, cursor: &str) {
        let (path, query) = self.path_and_query();
        let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let others = query.filter(|(key, _)| key != "cursor");
        let mut query = form_urlencoded::Serializer::new(String::new());
        link_next(response, path, &query.extend_pairs(others).append_pair("cursor", cursor).finish());
    }

    /// Whether the client would rather have events than one answer.
    pub(crate) fn wants_stream(&self) -> bool {
        self.header(&header::ACCEPT).is_some_and(|accept| accept.contains("text/event-stream"))
    }

    /// The event that the client of a stream has had last.
    ///
    /// # Errors
    /// 400 for what is no number of one.
    pub(crate) fn last_event(&self) -> Result<Option<u64>, ProblemResponse> {
        let Some(given) = self.parts.headers.get(&LAST_EVENT_ID) else { return Ok(None) };
        let number = given.to_str().ok().and_then(|text| text.trim().parse::<u32>().ok());
        let detail = "Last-Event-ID: expected the number of an event of the stream";
        number
            .map(|number| Some(number.into()))
            .ok_or_else(|| ProblemResponse::new(StatusCode::BAD_REQUEST, detail))
    }

    /// The whole body.
    ///
    /// # Errors
    /// 413 and 408 beyond the limits, 400 if it breaks off.
    pub(crate) async fn bytes(&mut self) -> Result<Bytes, ProblemResponse> {
        let limits = self.app.config.limits;
        self.bytes_within(limits.body, limits.body_time).await
    }

    /// The whole body, which is a plugin.
    ///
    /// # Errors
    /// The errors of [`Self::bytes`].
    pub(crate) async fn upload(&mut self) -> Result<Bytes, ProblemResponse> {
        let limits = self.app.config.limits;
        self.bytes_within(limits.upload, limits.upload_time).await
    }

    async fn bytes_within(&mut self, most: usize, time: Duration) -> Result<Bytes, ProblemResponse> {
        let body = self.take_body();
        // A body whose declared length is too large is not read.
        if body.size_hint().lower() > most as u64 {
            return Err(too_large(most));
        }
        let is_small = body.size_hint().upper().is_some_and(|bytes| bytes <= SMALL_BODY_BYTES);
        if !is_small && self.places.is_empty() {
            self.enter(Resource::Bodies).await?;
        }
        let read = timeout(time, Limited::new(body, most).collect()).await.map_err(|_late| too_slow(time))?;
        Ok(read.map_err(|error| broken(&*error, most))?.to_bytes())
    }

    pub(crate) fn take_body(&mut self) -> Body {
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        body.take().unwrap_or_default()
    }

    /// The run of the path.
    ///
    /// # Errors
    /// 404 if there is none that exists for the caller.
    pub(crate) async fn run(&self) -> Result<RunRow, ProblemResponse> {
        let run_id = self.segment("run");
        let row = self.app.host.store().get(run_id).await?;
        row.filter(|row| self.caller.sees(&row.head.namespace)).ok_or_else(|| ProblemResponse::no_run(run_id))
    }

    /// A handle to the run of the path, for the caller: what is asked of the run is recorded with the caller's name.
    ///
    /// # Errors
    /// The errors of [`Self::run`].
    pub(crate) async fn handle(&self) -> Result<RunHandle, ProblemResponse> {
        let row = self.run().await?;
        Ok(self.app.host.run_of(&row).by(self.caller.requester()).counted_for(self.holder.clone()))
    }
}

pub(crate) fn too_slow(time: Duration) -> ProblemResponse {
    let detail = format!("the body took longer than {}s", time.as_secs());
    ProblemResponse::new(StatusCode::REQUEST_TIMEOUT, detail).with(header::CONNECTION, "close")
}

pub(crate) fn too_large(most: usize) -> ProblemResponse {
    let detail = format!("the body has more than {most} bytes, which is the most");
    ProblemResponse::new(StatusCode::PAYLOAD_TOO_LARGE, detail).with(header::CONNECTION, "close")
}

fn broken(error: &(dyn std::error::Error + Send + Sync + 'static), most: usize) -> ProblemResponse {
    if error.is::<LengthLimitError>() {
        return too_large(most);
    }
    ProblemResponse::new(StatusCode::BAD_REQUEST, "the body breaks off, or is no body at all")
}

/// `value` as JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    json_text(status, text_of(value).into())
}

/// The JSON text of a value, with a line feed.
pub(crate) fn text_of(value: &impl Serialize) -> Vec<u8> {
    // Responses have string keys and finite numbers only: this cannot fail.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// A response of JSON that was written before.
pub(crate) fn json_text(status: StatusCode, text: Bytes) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Says where the next page is.
pub(crate) fn link_next(response: &mut Response, path: &str, query: &str) {
    if let Ok(link) = HeaderValue::from_str(&format!("<{path}?{query}>; rel=\"next\"")) {
        response.headers_mut().insert(header::LINK, link);
    }
}
