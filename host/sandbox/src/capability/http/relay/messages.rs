//! Messages of relayed requests between a child and its parent.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

/// Number of a request within its process.
pub(super) type Id = u32;

/// Maximum size of a piece of a request's body, in bytes.
#[cfg(feature = "http")]
pub(super) const MAX_PIECE_BYTES: usize = 64 << 10;

/// Message of a child that wants requests made. Its parent does not trust it.
#[derive(Serialize, Deserialize)]
pub(crate) enum RelayRequest<'a> {
    /// Makes a request.
    Begin(Id, #[serde(borrow)] Head<'a>),
    /// Sends a part of its body, which was asked for.
    Body(Id, #[serde(borrow)] Part<'a>),
    /// Asks for the next part of the response's body.
    More(Id),
    /// Gives the request up.
    GiveUp(Id),
}

/// Event of a request, sent by the parent.
#[derive(Serialize, Deserialize)]
pub(crate) enum RelayEvent<'a> {
    /// Asks for the next part of the request's body.
    More(Id),
    /// Says that no more parts of it are wanted.
    Enough(Id),
    /// Carries the head of the response, and whether it has no body.
    Head(Id, u16, #[serde(borrow)] Fields<'a>, bool),
    /// Carries a part of the response's body, which was asked for.
    Body(Id, #[serde(borrow)] Part<'a>),
    /// Says that the request failed.
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
    /// Timeouts: to connect, to the first byte, and between two.
    pub(super) timeouts: [Option<Duration>; 3],
    pub(super) has_body: bool,
}

/// Headers or trailers, in one text as in HTTP, so that their number is bounded by the bytes that were sent.
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

/// Reason of the failure of a request or a body, as guests see it.
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
    /// An error that requests here never have.
    Other,
}

#[cfg(feature = "http")]
mod errors {
    use wasmtime_wasi_http::Error;

    use super::Code;

    /// Conversions in both directions.
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
