//! Requests of the host itself, by the rules for those of guests.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, Uri, header, uri::Scheme};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use phasm_files::Size;
use tokio::time::timeout;
use wasmtime_wasi_http::WasiBody;

use super::{HttpConfig, HttpGrant, connect, exchange, failure::Failure, net::Net, resolve, target::Target};

/// Name of the host in its requests.
pub(super) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("phasm/", env!("CARGO_PKG_VERSION")));

/// Client for requests of the host itself. A host has one reading, its address is checked before a connection is made,
/// certificates are verified, and everything is bounded.
pub struct HttpClient {
    net: Net,
}

/// A request of the host.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// Method, such as `GET`.
    pub method: &'static str,
    /// URL, with `https://` or `http://`.
    pub url: String,
    /// Headers of the request.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the request.
    pub body: Vec<u8>,
    /// Maximum size of a response's body, in bytes; a larger one is an error.
    pub most: u64,
    /// Whether the host may be on an internal network (private, loopback and so on).
    pub inside: bool,
}

/// Response to a request.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    /// Status, such as 200.
    pub status: u16,
    headers: http::HeaderMap,
    /// The whole body.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// Returns the first header of that name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl HttpClient {
    /// Makes a client with the roots, addresses, and limits on time and headers of a configuration.
    #[must_use]
    pub fn new(config: HttpConfig) -> Self {
        Self { net: Net::new(config, &crate::tenants::Tenants::default()) }
    }

    /// Sends a request and reads the response; follows no redirect.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpAnswer, String> {
        self.send_with(request, &[]).await
    }

    /// [`Self::send`] with additional headers whose names are not known at compile time.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn send_with(
        &self,
        request: HttpRequest,
        more: &[(String, String)],
    ) -> Result<HttpAnswer, String> {
        let time = self.net.config.limits.time;
        let timed_out = |_| format!("no complete response within {} s", time.as_secs());
        timeout(time, self.exchange(request, more)).await.map_err(timed_out)?
    }

    /// Sends a request and reads the head of the response, without its body; follows no redirect. A host that the URL names by
    /// address, or as `localhost`, may be on an internal network.
    ///
    /// # Errors
    /// The message for the user, without the URL, which may hold a secret.
    pub async fn head(&self, request: HttpRequest) -> Result<HttpAnswer, String> {
        let time = self.net.config.limits.time;
        let timed_out = |_| format!("no response within {} s", time.as_secs());
        let (target, uri) =
            parse_url(request.method, &request.url).map_err(|_| "its URL cannot be used".to_owned())?;
        let grant =
            HttpGrant { allow: target.pattern().parse().into_iter().collect(), ..grant_of(request.inside) };
        let response =
            timeout(time, self.start(request, &[], &target, &uri, &grant)).await.map_err(timed_out)?;
        let (response, _driver) = response.map_err(|failure| without_grant_hint(&failure.why).to_owned())?;
        let (parts, _) = response.into_parts();
        Ok(HttpAnswer { status: parts.status.as_u16(), headers: parts.headers, body: Vec::new() })
    }

    async fn exchange(&self, request: HttpRequest, more: &[(String, String)]) -> Result<HttpAnswer, String> {
        let (target, uri) = parse_url(request.method, &request.url)?;
        let (most, grant) = (request.most, grant_of(request.inside));
        let response = self.start(request, more, &target, &uri, &grant).await;
        let (response, _driver) = response.map_err(|failure| shown(&target, &failure))?;
        read(response, most).await.map_err(|why| format!("{}: {why}", target.shown()))
    }

    /// Sends the request, and returns the head of the response and the driver that its body needs.
    async fn start(
        &self,
        request: HttpRequest,
        more: &[(String, String)],
        target: &Target,
        uri: &Uri,
        grant: &HttpGrant,
    ) -> Result<(Response<Incoming>, exchange::Driver), Failure> {
        let request = build_request(request, more, target, uri).map_err(Failure::refused)?;
        self.send_to(target, grant, request).await
    }

    /// Connects to the target, and sends a request that was built for it.
    pub(super) async fn send_to(
        &self,
        target: &Target,
        grant: &HttpGrant,
        request: Request<WasiBody>,
    ) -> Result<(Response<Incoming>, exchange::Driver), Failure> {
        let addresses = resolve::addresses(&self.net, grant, target, "").await?;
        let stream = connect::connect(&self.net, target, &addresses).await?;
        let (mut sender, driver) = exchange::handshake(stream, self.net.config.limits.headers).await?;
        let sent = sender.send_request(request).await;
        Ok((sent.map_err(|error| Failure::hyper(&error, true))?, driver))
    }
}

/// Returns the target of a URL, and the URL's parts.
///
/// # Errors
/// The message for the user, with the URL.
pub(super) fn parse_url(method: &str, url: &str) -> Result<(Target, Uri), String> {
    let uri: Uri = url.parse().map_err(|error| format!("{url}: no URL: {error}"))?;
    let secure = uri.scheme() == Some(&Scheme::HTTPS);
    if !secure && uri.scheme() != Some(&Scheme::HTTP) {
        return Err(format!("{url}: neither `https` nor `http`"));
    }
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    Ok((Target::new(method, secure, authority, uri.path())?, uri))
}

/// Returns the grant of a request of the host. With `inside`, addresses of internal networks may be reached.
pub(super) fn grant_of(inside: bool) -> HttpGrant {
    let all = ["0.0.0.0/0", "::/0"].iter().filter_map(|all| all.parse().ok());
    let networks = if inside { all.collect() } else { Vec::new() };
    HttpGrant { allow: Vec::new(), networks }
}

/// Returns the message for the user of a request that failed.
pub(super) fn shown(target: &Target, failure: &Failure) -> String {
    format!("{}: {}", target.shown(), without_grant_hint(&failure.why))
}

/// Removes the part that applies only to a guest's grant.
fn without_grant_hint(why: &str) -> &str {
    why.split("; `http-networks").next().unwrap_or(why)
}

fn build_request(
    request: HttpRequest,
    more: &[(String, String)],
    target: &Target,
    uri: &Uri,
) -> Result<Request<WasiBody>, String> {
    let text =
        |value: &str| HeaderValue::from_str(value).map_err(|_| "a header that cannot be sent".to_owned());
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let body = Full::new(Bytes::from(request.body)).map_err(|never| match never {}).boxed_unsync();
    let mut built = Request::new(body);
    *built.method_mut() = request.method.parse().map_err(|_| "a method that cannot be sent".to_owned())?;
    *built.uri_mut() = path.parse().map_err(|_| "a path that cannot be sent".to_owned())?;
    let headers = built.headers_mut();
    headers.insert(header::HOST, text(&target.authority())?);
    headers.insert(header::USER_AGENT, USER_AGENT);
    for (name, value) in &request.headers {
        headers.insert(HeaderName::from_static(name), text(value)?);
    }
    for (name, value) in more {
        let name = HeaderName::from_bytes(name.as_bytes());
        headers.insert(name.map_err(|_| "a header that cannot be sent".to_owned())?, text(value)?);
    }
    Ok(built)
}

async fn read(response: Response<Incoming>, most: u64) -> Result<HttpAnswer, String> {
    let (parts, mut incoming) = response.into_parts();
    let body = read_body(&mut incoming, most).await?;
    Ok(HttpAnswer { status: parts.status.as_u16(), headers: parts.headers, body })
}

/// Reads a whole body, of at most `most` bytes.
///
/// # Errors
/// The message for the user.
pub(super) async fn read_body(incoming: &mut Incoming, most: u64) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(part) = next_part(incoming).await? {
        if (body.len() + part.len()) as u64 > most {
            return Err(format!("a response larger than {}", Size(most)));
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// Returns the next part of a body; none at its end.
///
/// # Errors
/// The message for the user.
pub(super) async fn next_part(incoming: &mut Incoming) -> Result<Option<Bytes>, String> {
    loop {
        let Some(frame) = incoming.frame().await else { return Ok(None) };
        let frame =
            frame.map_err(|error| without_grant_hint(&Failure::hyper(&error, false).why).to_owned())?;
        if let Ok(part) = frame.into_data() {
            return Ok(Some(part));
        }
    }
}
