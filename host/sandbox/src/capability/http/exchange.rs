//! One request, from its grant to the head of its response.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri, header};
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use wasmtime_wasi::runtime::spawn;
use wasmtime_wasi_http::{DEFAULT_FORBIDDEN_HEADERS, Error, RequestOptions, WasiBody, io::TokioIo};

use super::{
    budget::Transfer,
    caller::Caller,
    connect,
    failure::{Failure, OverLimit},
    net::Permits,
    pending_request::PendingRequest,
    resolve,
    response_body::ResponseBody,
    secret_injection,
    target::Target,
    wire::Wire,
};
use crate::{
    executor::Level,
    trace::{TRACEPARENT, TRACESTATE, TraceContext},
};

/// Connect timeout of a request that sets none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Minimum size of hyper's buffer, in bytes.
const MIN_BUFFER_BYTES: usize = 8192;

/// The head of a response, and the driver that its body needs.
pub(super) type DrivenResponse = (Response<WasiBody>, Driver);
pub(super) type Driver = Box<dyn Future<Output = Result<(), Error>> + Send>;
/// Future of a request.
pub(super) type Sending = Box<dyn Future<Output = Result<DrivenResponse, Error>> + Send>;

/// A request that was checked before anything was awaited.
struct PreparedRequest {
    target: Target,
    request: Request<WasiBody>,
    options: RequestOptions,
    number: u32,
}

/// Starts a request of an attempt, or refuses it.
pub(super) fn begin(caller: &Arc<Caller>, request: Request<WasiBody>, options: RequestOptions) -> Sending {
    match prepare(caller, request, options) {
        Ok(prepared) => {
            let (method, number) = (prepared.target.method.as_str(), prepared.number);
            let span = tracing::info_span!(parent: &caller.attempt, "request", method, number);
            Box::new(exchange(Arc::clone(caller), prepared).instrument(span))
        }
        Err(Failure { error, why, .. }) => {
            if caller.refuse(&why) {
                caller.transcript.note(Level::Warn, &format!("request refused: {why}"));
            }
            Box::new(std::future::ready(Err(error)))
        }
    }
}

/// Checks a request.
///
/// # Errors
/// The reason why the request is not granted or cannot be sent.
fn prepare(
    caller: &Caller,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<PreparedRequest, Failure> {
    caller.budget.request().map_err(|over| caller.over(over))?;
    let (tenant, now) = (&caller.context.tenant, std::time::Instant::now());
    caller.net().quota.take(tenant, now).map_err(|over_quota| Failure::quota(&over_quota))?;
    let uri = request.uri();
    let secure = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let target = Target::new(request.method().as_str(), secure, authority, uri.path())
        .map_err(|why| Failure::refused(format!("{} to {}: {why}", request.method(), visible(authority))))?;
    caller.allows(&target)?;
    check_overrides(caller, &target, request.headers())?;
    secret_injection::check_url(&caller.secrets, &uri.to_string())?;
    check_framing(request.headers())?;
    Ok(PreparedRequest { target, request, options, number: caller.number() })
}

/// Headers by which frameworks take another method than the request's.
const METHOD_OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

/// Checks that a request is granted with every method that its headers ask for.
///
/// # Errors
/// The reason why one is not granted.
fn check_overrides(caller: &Caller, target: &Target, headers: &HeaderMap) -> Result<(), Failure> {
    for name in METHOD_OVERRIDES {
        for value in headers.get_all(name) {
            let named = |why: String| Failure::refused(format!("header {name}: {why}"));
            let method = value.to_str().map_err(|_| named("it is not text".to_owned()))?;
            let method = method.trim().to_ascii_uppercase();
            let other = target.with_method(&method).map_err(named)?;
            caller.allows(&other)?;
        }
    }
    Ok(())
}

/// Checks the headers that delimit a message. They are the host's to set, and only once. Guests cannot set them, but a
/// compromised process could.
fn check_framing(headers: &HeaderMap) -> Result<(), Failure> {
    let is_theirs = |name: &&HeaderName| **name != header::HOST && headers.contains_key(*name);
    if let Some(name) = DEFAULT_FORBIDDEN_HEADERS.iter().find(is_theirs) {
        return Err(Failure::refused(format!("the header {name} is the host's to say")));
    }
    let lengths: Vec<_> = headers.get_all(header::CONTENT_LENGTH).iter().collect();
    let is_length = |value: &&HeaderValue| {
        value
            .to_str()
            .is_ok_and(|text| text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u64>().is_ok())
    };
    if lengths.len() > 1 || !lengths.iter().all(is_length) {
        return Err(Failure::refused("its length is not one number"));
    }
    Ok(())
}

/// Returns enough of untrusted text to recognise it by.
fn visible(text: &str) -> String {
    // A password may stand before the `@`.
    let text = text.rsplit('@').next().unwrap_or_default();
    text.chars().filter(char::is_ascii_graphic).take(100).collect()
}

/// Sends a prepared request. Every request has a line in the log, however it ends.
async fn exchange(caller: Arc<Caller>, prepared: PreparedRequest) -> Result<DrivenResponse, Error> {
    let transfer = Arc::new(Transfer::default());
    let pending = PendingRequest::new(&caller, prepared.number, &prepared.target, &transfer);
    let deadline = Instant::now() + caller.limits().time;
    match send(&caller, prepared, deadline, &transfer).await {
        Ok(sent) => {
            pending.set_status(sent.response.status().as_u16());
            let SentRequest { response, driver, max_pause, permits } = sent;
            let body = |incoming| {
                ResponseBody::new(incoming, max_pause, deadline, pending, transfer, permits).boxed_unsync()
            };
            Ok((response.map(body), driver))
        }
        Err(failure) => {
            let failure = transfer.over().map_or(failure, |over| caller.over(over));
            pending.refuse(&failure);
            pending.end(Some(&failure.why));
            Err(failure.error)
        }
    }
}

struct SentRequest {
    response: Response<hyper::body::Incoming>,
    driver: Driver,
    max_pause: Duration,
    permits: Permits,
}

async fn send(
    caller: &Arc<Caller>,
    prepared: PreparedRequest,
    deadline: Instant,
    transfer: &Arc<Transfer>,
) -> Result<SentRequest, Failure> {
    let PreparedRequest { target, request, options, number } = prepared;
    let longest = caller.limits().time;
    let until =
        |wait: Option<Duration>, usual| deadline.min(Instant::now() + wait.unwrap_or(usual).min(longest));
    let request = timeout_at(deadline, build_request(caller, &target, request, number)).await;
    let request =
        request.map_err(timed_out(Error::ConnectionWriteTimeout, "waiting for the body to send"))??;
    let plugin = caller.net().of_plugin(&caller.context.tenant, caller.plugin());
    let places = caller.budget.connection(caller.net(), plugin);
    let waited = timeout_at(deadline, places).await;
    let permits =
        waited.map_err(timed_out(Error::ConnectionTimeout, "waiting for other connections to end"))?;
    let permits = permits.map_err(|over| caller.over(over))?;
    let connected =
        timeout_at(until(options.connect_timeout, CONNECT_TIMEOUT), open_connection(caller, &target)).await;
    let stream = connected.map_err(timed_out(Error::ConnectionTimeout, "connecting"))??;
    let wire = Wire { stream, caller: Arc::clone(caller), transfer: Arc::clone(transfer) };
    let (mut sender, driver) = handshake(Box::new(wire), caller.limits().headers).await?;
    let response = timeout_at(until(options.first_byte_timeout, longest), sender.send_request(request)).await;
    let response = response.map_err(timed_out(Error::ConnectionReadTimeout, "waiting for the response"))?;
    let response = response.map_err(|error| Failure::hyper(&error, true))?;
    Ok(SentRequest {
        response,
        driver,
        max_pause: options.between_bytes_timeout.unwrap_or(longest).min(longest),
        permits,
    })
}

fn timed_out<E>(error: Error, what: &'static str) -> impl FnOnce(E) -> Failure {
    move |_| Failure::new(error, format!("timeout of {what}"))
}

/// Connects to an address that may be reached.
async fn open_connection(caller: &Caller, target: &Target) -> Result<Box<dyn connect::Stream>, Failure> {
    let addresses = resolve::addresses(caller.net(), caller.grant(), target, caller.plugin()).await?;
    connect::connect(caller.net(), target, &addresses).await
}

pub(super) type HttpConnection = (http1::SendRequest<WasiBody>, Driver);

/// Starts HTTP on a connection, with headers of at most `headers` bytes. Returns the driver that the connection needs as well.
pub(super) async fn handshake(
    stream: Box<dyn connect::Stream>,
    headers: u64,
) -> Result<HttpConnection, Failure> {
    let buffer = usize::try_from(headers).unwrap_or(usize::MAX).max(MIN_BUFFER_BYTES);
    let handshake = http1::Builder::new().max_buf_size(buffer).handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|error| Failure::hyper(&error, true))?;
    let driver = spawn(async move { drop(connection.await) });
    let driver = Box::new(async move {
        driver.await;
        Ok(())
    });
    Ok((sender, driver))
}

/// Builds the request that is sent: to the checked host, with secrets filled in, and with its trace context.
async fn build_request(
    caller: &Caller,
    target: &Target,
    request: Request<WasiBody>,
    number: u32,
) -> Result<Request<WasiBody>, Failure> {
    let (mut parts, body) = request.into_parts();
    let invalid = |what: &'static str| move |_| Failure::new(Error::HttpRequestUriInvalid, what);
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = Uri::builder().path_and_query(path).build().map_err(invalid("its path cannot be sent"))?;
    let host = HeaderValue::from_str(&target.authority())
        .map_err(|_| Failure::refused("its host cannot be sent"))?;
    parts.headers.insert(header::HOST, host);
    set_trace_headers(&caller.span(number), &mut parts.headers);
    secret_injection::swap_headers(&caller.secrets, target, &mut parts.headers)?;
    let size: usize = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if (size + path_len(&parts.uri)) as u64 > caller.limits().headers {
        return Err(caller.over(OverLimit::Headers(caller.limits().headers)));
    }
    let body = secret_injection::swap_body(&caller.secrets, target, &mut parts.headers, body).await?;
    let body = secret_injection::sign(&caller.secrets, target, &mut parts, body).await?;
    Ok(Request::from_parts(parts, body))
}

/// Adds the trace context, unless the guest has set one.
fn set_trace_headers(span: &TraceContext, headers: &mut HeaderMap) {
    if headers.contains_key(TRACEPARENT) {
        return;
    }
    let state = span.state.as_ref().map(|state| (TRACESTATE, state.to_string()));
    for (name, value) in [(TRACEPARENT, span.parent())].into_iter().chain(state) {
        // A valid context is a valid header value.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

fn path_len(uri: &Uri) -> usize {
    uri.path_and_query().map_or(0, |path| path.as_str().len())
}
