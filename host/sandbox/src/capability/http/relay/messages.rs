//! Messages of relayed requests between a child and its parent.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

/// Numbers a request among those of a process.
pub(super) type Id = u32;

/// The largest piece of a request's body that goes over at once.
#[cfg(feature = "http")]
pub(super) const MAX_PIECE_BYTES: usize = 64 << 10;

/// Message of a child that wants requests made. Its parent does not trust it.
#[derive(Serialize, Deserialize)]
pub(crate) enum RelayRequest<'a> {
    /// To make a request.
    Begin(Id, #[serde(borrow)] Head<'a>),
    /// A part of its body, which was asked for.
    Body(Id, #[serde(borrow)] Part<'a>),
    /// For the next part of the answer's body.
    More(Id),
    /// Nothing any more.
    GiveUp(Id),
}

/// Event of a request, sent by the parent.
#[derive(Serialize, Deserialize)]
pub(crate) enum RelayEvent<'a> {
    /// The next part of the request's body is wanted.
    More(Id),
    /// No other part of it is.
    Enough(Id),
    /// The head of the answer, and whether that is all of it.
    Head(Id, u16, #[serde(borrow)] Fields<'a>, bool),
    /// A part of the answer's body, which was asked for.
    Body(Id, #[serde(borrow)] Part<'a>),
    /// There is no answer.
    Failed(Id, Code),
}

/// A request without its body.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow)]
    pub(super) method: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) uri: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) fields: Fields<'a>,
    /// For a connection, for the first byte, and between two.
    pub(super) timeouts: [Option<Duration>; 3],
    pub(super) has_body: bool,
}

/// Headers, or trailers: in one text as HTTP has them, so that there are never more of them than bytes were sent.
#[derive(Serialize, Deserialize)]
pub(crate) struct Fields<'a>(#[serde(borrow)] pub(super) Cow<'a, [u8]>);

/// A part of a body.
#[derive(Serialize, Deserialize)]
pub(crate) enum Part<'a> {
    Data(#[serde(borrow)] Cow<'a, [u8]>),
    Trailers(#[serde(borrow)] Fields<'a>),
    End,
    Failed(Code),
}

/// Why a request or a body came to nothing, as far as guests are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Code {
    ConnectionLimitReached,
    ConnectionReadTimeout,
    ConnectionRefused,
    ConnectionTerminated,
    ConnectionTimeout,
    ConnectionWriteTimeout,
    DestinationIpProhibited,
    DestinationIpUnroutable,
    DestinationNotFound,
    DestinationUnavailable,
    DnsTimeout,
    HttpProtocolError,
    HttpRequestBodySize(Option<u64>),
    HttpRequestDenied,
    HttpRequestHeaderSectionSize(Option<u32>),
    HttpRequestUriInvalid,
    HttpResponseBodySize(Option<u64>),
    HttpResponseHeaderSectionSize(Option<u32>),
    HttpResponseIncomplete,
    HttpResponseTimeout,
    TlsCertificateError,
    TlsProtocolError,
    /// Nothing that requests come to here.
    Other,
}

#[cfg(feature = "http")]
mod errors {
    use wasmtime_wasi_http::Error;

    use super::Code;

    /// The same both ways.
    macro_rules! codes {
        ($($plain:ident)*; $($sized:ident)*) => {
            impl From<&Error> for Code {
                fn from(error: &Error) -> Self {
                    match error {
                        $(Error::$plain => Self::$plain,)*
                        $(Error::$sized(size) => Self::$sized(*size),)*
                        _ => Self::Other,
                    }
                }
            }

            impl From<Code> for Error {
                fn from(code: Code) -> Self {
                    match code {
                        $(Code::$plain => Self::$plain,)*
                        $(Code::$sized(size) => Self::$sized(size),)*
                        Code::Other => Self::InternalError(None),
                    }
                }
            }
        };
    }

    codes!(
        ConnectionLimitReached ConnectionReadTimeout ConnectionRefused ConnectionTerminated ConnectionTimeout
        ConnectionWriteTimeout DestinationIpProhibited DestinationIpUnroutable DestinationNotFound
        DestinationUnavailable DnsTimeout HttpProtocolError HttpRequestDenied HttpRequestUriInvalid
        HttpResponseIncomplete HttpResponseTimeout TlsCertificateError TlsProtocolError;
        HttpRequestBodySize HttpRequestHeaderSectionSize HttpResponseBodySize HttpResponseHeaderSectionSize
    );
}
