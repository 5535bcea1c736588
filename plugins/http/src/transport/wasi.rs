//! Sending by `wasi:http`.

use std::{io, time::Duration};

use wasip2::{
    http::{
        outgoing_handler,
        types::{
            ErrorCode, Fields, IncomingBody, Method, OutgoingBody, OutgoingRequest, RequestOptions, Scheme,
            http_error_code,
        },
    },
    io::streams::{InputStream, OutputStream, StreamError},
};

use crate::{
    answer::Head,
    content::Content,
    fault::{Fault, Kind},
    patience::Patience,
    request::Request,
};

/// The most that is read at once, and written.
const PART: usize = 64 << 10;

/// An answer whose body is read part by part.
pub(crate) struct Answer {
    pub(crate) head: Head,
    /// Host and port, for messages.
    authority: String,
    stream: InputStream,
    // Behind the stream, which must go first.
    _body: IncomingBody,
}

impl Answer {
    pub(crate) fn read(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            match self.stream.blocking_read(PART as u64) {
                Ok(part) if part.is_empty() => {}
                Ok(part) => return Ok(Some(part)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    let lost = || {
                        Fault::new(
                            Kind::Connection,
                            format!("the body broke off: {}", error.to_debug_string()),
                        )
                    };
                    return Err(
                        http_error_code(&error).map_or_else(lost, |code| fault(&code, &self.authority))
                    );
                }
            }
        }
    }
}

pub(crate) fn send(request: &Request) -> Result<Answer, Fault> {
    let outgoing = outgoing(request)?;
    let body = outgoing.body().map_err(|()| Fault::new(Kind::Input, "no body can be sent"))?;
    let future = outgoing_handler::handle(outgoing, Some(options(request.patience)))
        .map_err(|code| fault(&code, &request.url.authority))?;
    write(body, request.body.as_ref());
    future.subscribe().block();
    let answered = future.get().and_then(Result::ok);
    let answered = answered.ok_or_else(|| Fault::new(Kind::Protocol, "the host gave no response"))?;
    let response = answered.map_err(|code| fault(&code, &request.url.authority))?;
    let headers = response.headers().entries();
    let text = |(name, value): (String, Vec<u8>)| {
        (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned())
    };
    let head = Head { status: response.status(), headers: headers.into_iter().map(text).collect() };
    let lost = |()| Fault::new(Kind::Protocol, "the response has no body to read");
    let body = response.consume().map_err(lost)?;
    let stream = body.stream().map_err(lost)?;
    Ok(Answer { head, authority: request.url.authority.clone(), stream, _body: body })
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, Fault> {
    let fields = Fields::new();
    for (name, value) in &request.headers {
        fields
            .append(name, value.as_bytes())
            .map_err(|why| Fault::new(Kind::Input, format!("the header `{name}` cannot be sent: {why}")))?;
    }
    if let Some(length) = request.content_length() {
        let _ = fields.set("content-length", &[length.to_string().into_bytes()]);
    }
    let outgoing = OutgoingRequest::new(fields);
    let scheme = if request.url.secure { Scheme::Https } else { Scheme::Http };
    let path = format!("{}{}", request.url.path, request.url.query);
    let parts = [
        ("method", outgoing.set_method(&method(&request.method))),
        ("scheme", outgoing.set_scheme(Some(&scheme))),
        ("host", outgoing.set_authority(Some(&request.url.authority))),
        ("path", outgoing.set_path_with_query(Some(&path))),
    ];
    match parts.into_iter().find(|(_, set)| set.is_err()) {
        Some((part, _)) => Err(Fault::new(Kind::Input, format!("its {part} cannot be sent"))),
        None => Ok(outgoing),
    }
}

fn method(word: &str) -> Method {
    match word {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn options(patience: Patience) -> RequestOptions {
    let nanos = |wait: Duration| Some(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
    let options = RequestOptions::new();
    // A host that takes no timeouts has its own.
    let _ = options.set_connect_timeout(nanos(patience.connect));
    let _ = options.set_first_byte_timeout(nanos(patience.read));
    let _ = options.set_between_bytes_timeout(nanos(patience.read));
    options
}

/// Sends the body. The response reports its errors.
fn write(body: OutgoingBody, content: Option<&Content>) {
    if let (Some(content), Ok(stream)) = (content, body.write()) {
        // A file that cannot be read any more leaves the body short, which the host reports.
        let _ = content.for_each(|part| write_all(&stream, part));
        let _ = stream.blocking_flush();
    }
    let _ = OutgoingBody::finish(body, None);
}

/// Writes as much at once as the host takes.
fn write_all(stream: &OutputStream, mut part: &[u8]) -> io::Result<()> {
    let closed = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    while !part.is_empty() {
        let room = usize::try_from(stream.check_write().map_err(closed)?).unwrap_or(usize::MAX);
        let (now, rest) = part.split_at(room.min(part.len()));
        if now.is_empty() {
            stream.subscribe().block();
            continue;
        }
        stream.write(now).map_err(closed)?;
        part = rest;
    }
    Ok(())
}

fn fault(code: &ErrorCode, authority: &str) -> Fault {
    let what = in_words(code, authority);
    let kind = match code {
        ErrorCode::DnsTimeout
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => Kind::Timeout,
        ErrorCode::DnsError(_)
        | ErrorCode::DestinationNotFound
        | ErrorCode::DestinationUnavailable
        | ErrorCode::DestinationIpUnroutable
        | ErrorCode::ConnectionRefused
        | ErrorCode::ConnectionTerminated
        | ErrorCode::HttpResponseIncomplete => Kind::Connection,
        ErrorCode::TlsProtocolError | ErrorCode::TlsCertificateError | ErrorCode::TlsAlertReceived(_) => {
            Kind::Tls
        }
        ErrorCode::HttpRequestDenied
        | ErrorCode::DestinationIpProhibited
        | ErrorCode::ConnectionLimitReached
        | ErrorCode::ConfigurationError
        | ErrorCode::HttpRequestBodySize(_)
        | ErrorCode::HttpRequestHeaderSectionSize(_)
        | ErrorCode::HttpResponseBodySize(_)
        | ErrorCode::HttpResponseHeaderSectionSize(_) => Kind::Grant,
        ErrorCode::HttpRequestMethodInvalid | ErrorCode::HttpRequestUriInvalid => Kind::Input,
        _ => Kind::Protocol,
    };
    Fault::new(kind, what)
}

fn in_words(code: &ErrorCode, authority: &str) -> String {
    let words = match code {
        ErrorCode::DnsTimeout => "timeout of asking for the address of {}",
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => "the name in {} is not known",
        ErrorCode::DestinationUnavailable => "no connection to {}: it cannot be reached",
        ErrorCode::DestinationIpUnroutable => "no connection to {}: there is no route to its address",
        ErrorCode::ConnectionTimeout => "timeout of connecting to {}",
        ErrorCode::ConnectionReadTimeout => "timeout of waiting for the response of {}",
        ErrorCode::ConnectionWriteTimeout => "timeout of sending to {}",
        ErrorCode::HttpResponseTimeout => "timeout of the whole request to {}",
        ErrorCode::ConnectionRefused => "{} refused the connection",
        ErrorCode::ConnectionTerminated => "{} closed the connection before it responded",
        ErrorCode::HttpResponseIncomplete => "the response of {} broke off",
        ErrorCode::TlsCertificateError => "the certificate is not trusted that {} shows",
        ErrorCode::TlsProtocolError => {
            "no TLS connection to {}: it speaks none, or no version that is spoken here"
        }
        ErrorCode::TlsAlertReceived(_) => "{} refused the TLS connection",
        ErrorCode::HttpProtocolError => "what {} sent is no HTTP",
        ErrorCode::HttpRequestDenied => "not sent",
        ErrorCode::DestinationIpProhibited => "not sent: the address of {} is not granted",
        ErrorCode::ConnectionLimitReached => "not sent: too many connections at once",
        ErrorCode::HttpRequestBodySize(_) => "more to send than this host allows",
        ErrorCode::HttpResponseBodySize(_) => "more to read than this host allows",
        ErrorCode::InternalError(Some(text)) => return format!("a fault of the host that sends: {text}"),
        other => return format!("{other:?}").replace("ErrorCode::", ""),
    };
    words.replace("{}", authority)
}
