//! Requests of the host that are signed, with bodies of any size.

use std::{
    io,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use tokio::time::timeout;
use wasmtime_wasi_http::{Error, WasiBody};

use super::{
    aws_signature,
    config::SigningKey,
    exchange::Driver,
    file_body::FileBody,
    host_client::{HttpClient, USER_AGENT, grant_of, next_part, parse_url, read_body, shown},
    target::Target,
};

/// Time until the next part of a response, and until the whole of one that is read at once.
const PART_TIME: Duration = Duration::from_secs(60);

/// A request of the host to a service that takes signatures. Its host may be on an internal network.
#[derive(Debug)]
pub struct SignedRequest<'a> {
    /// Method, such as `GET`.
    pub method: &'static str,
    /// URL, with `https://` or `http://`, in which every character is escaped that has to be.
    pub url: &'a str,
    /// Headers of the request. They are signed if their names begin with `x-amz-`.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the request.
    pub body: Option<SignedBody>,
    /// Time until the head of the response, for which the body has to be sent.
    pub time: Duration,
}

/// Body of a signed request.
pub struct SignedBody {
    content: WasiBody,
    size: u64,
    /// In hexadecimal digits.
    sha256: String,
}

impl std::fmt::Debug for SignedBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedBody").field("size", &self.size).finish_non_exhaustive()
    }
}

impl SignedBody {
    /// Returns a body of text.
    #[must_use]
    pub fn text(text: String) -> Self {
        let (size, sha256) = (text.len() as u64, aws_signature::hash(text.as_bytes()));
        let content = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
        Self { content, size, sha256 }
    }

    /// Returns a body of `size` bytes of a file, whose SHA-256 is known in hexadecimal digits.
    #[must_use]
    pub fn file(file: FileBody, size: u64, sha256: String) -> Self {
        Self { content: file.map_err(broken_off).boxed_unsync(), size, sha256 }
    }
}

/// A response whose body is read part by part.
pub struct ResponseReader {
    /// Status, such as 200.
    pub status: u16,
    headers: HeaderMap,
    body: Incoming,
    /// Drives the connection.
    _driver: Driver,
}

impl std::fmt::Debug for ResponseReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseReader").field("status", &self.status).finish_non_exhaustive()
    }
}

impl ResponseReader {
    /// Returns the first header of that name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the next part of the body; none at its end.
    ///
    /// # Errors
    /// The message for the user when the connection fails or is silent.
    pub async fn part(&mut self) -> Result<Option<Bytes>, String> {
        let part = timeout(PART_TIME, next_part(&mut self.body)).await;
        part.map_err(|_| format!("no more of the response in {} s", PART_TIME.as_secs()))?
    }

    /// Reads the whole body, of at most `most` bytes.
    ///
    /// # Errors
    /// The message for the user when the connection fails, when the body is larger, and when it is not complete in time.
    pub async fn read(&mut self, most: u64) -> Result<Vec<u8>, String> {
        let body = timeout(PART_TIME, read_body(&mut self.body, most)).await;
        body.map_err(|_| format!("no complete response in {} s", PART_TIME.as_secs()))?
    }
}

impl HttpClient {
    /// Signs and sends a request, and returns the head of the response; follows no redirect.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn send_signed(
        &self,
        request: SignedRequest<'_>,
        key: &SigningKey,
    ) -> Result<ResponseReader, String> {
        let time = request.time;
        let timed_out = |_| format!("no response in {} s", time.as_secs());
        timeout(time, self.exchange_signed(request, key)).await.map_err(timed_out)?
    }

    async fn exchange_signed(
        &self,
        request: SignedRequest<'_>,
        key: &SigningKey,
    ) -> Result<ResponseReader, String> {
        let (target, uri) = parse_url(request.method, request.url)?;
        let request = signed(request, &target, &uri, key)?;
        let sent = self.send_to(&target, &grant_of(true), request).await;
        let (response, driver) = sent.map_err(|failure| shown(&target, &failure))?;
        let (parts, body) = response.into_parts();
        Ok(ResponseReader { status: parts.status.as_u16(), headers: parts.headers, body, _driver: driver })
    }
}

/// Builds a request with its signature.
fn signed(
    request: SignedRequest<'_>,
    target: &Target,
    uri: &Uri,
    key: &SigningKey,
) -> Result<Request<WasiBody>, String> {
    let SignedRequest { method, headers, body, .. } = request;
    let no_header = |_| "a header that cannot be sent".to_owned();
    let size = body.as_ref().map_or(0, |body| body.size);
    let mut all = HeaderMap::new();
    all.insert(header::HOST, HeaderValue::from_str(&target.authority()).map_err(no_header)?);
    all.insert(header::USER_AGENT, USER_AGENT);
    if matches!(method, "POST" | "PUT") {
        all.insert(header::CONTENT_LENGTH, size.into());
    }
    for (name, value) in headers {
        all.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).map_err(no_header)?);
    }
    let (body, hash) = match body {
        Some(SignedBody { content, sha256, .. }) => (content, sha256),
        None => (Empty::new().map_err(|never| match never {}).boxed_unsync(), aws_signature::hash(b"")),
    };
    let mut built = Request::new(body);
    *built.method_mut() = method.parse().map_err(|_| "a method that cannot be sent".to_owned())?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *built.uri_mut() = path.parse().map_err(|_| "a path that cannot be sent".to_owned())?;
    let signing = &key.signing;
    signing
        .sign(&key.secret, built.method(), uri, &mut all, &hash, SystemTime::now())
        .map_err(|failure| failure.why)?;
    *built.headers_mut() = all;
    Ok(built)
}

/// Returns the error of a body that cannot be read: the request ends with it.
fn broken_off(_: io::Error) -> Error {
    Error::InternalError(Some("the file cannot be read".to_owned()))
}
