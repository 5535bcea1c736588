//! Failures of requests, for the guest and for people.

use std::io::{self, ErrorKind};

use phasm_files::Size;
use wasmtime_wasi_http::Error;

use super::quota::OverQuota;
use crate::limits::{Limit, LimitError, Owner};

/// Limit on requests that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverLimit {
    /// A limit of the attempt.
    Limit(LimitError),
    /// The limit on the headers of one message, in bytes.
    Headers(u64),
}

pub(super) struct Failure {
    /// Error for the guest.
    pub(super) error: Error,
    /// Reason for people.
    pub(super) why: String,
    /// Whether an operator could lift the refusal; if so, it is reported where operators look first.
    pub(super) refusal: bool,
}

impl Failure {
    pub(super) fn new(error: Error, why: impl Into<String>) -> Self {
        Self { error, why: why.into(), refusal: false }
    }

    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self { error: Error::HttpRequestDenied, why: why.into(), refusal: true }
    }

    pub(super) fn address(why: impl Into<String>) -> Self {
        Self { error: Error::DestinationIpProhibited, why: why.into(), refusal: true }
    }

    pub(super) fn tls(why: impl Into<String>, untrusted: bool) -> Self {
        Self::new(if untrusted { Error::TlsCertificateError } else { Error::TlsProtocolError }, why)
    }

    pub(super) fn over(over: OverLimit, named: Owner<'_>) -> Self {
        let (error, why) = match over {
            OverLimit::Limit(exceeded) => (denied(exceeded), exceeded.message(named)),
            OverLimit::Headers(limit) => (
                Error::HttpRequestHeaderSectionSize(None),
                format!("limit of {} of headers reached (`headers`) under `[http]`", Size(limit)),
            ),
        };
        Self { error, why, refusal: true }
    }

    pub(super) fn quota(over_quota: &OverQuota) -> Self {
        Self::refused(over_quota.to_string())
    }

    pub(super) fn connection(error: &io::Error) -> Self {
        let kind = error.kind();
        let code = if kind == ErrorKind::ConnectionRefused {
            Error::ConnectionRefused
        } else if kind == ErrorKind::TimedOut {
            Error::ConnectionTimeout
        } else if [ErrorKind::HostUnreachable, ErrorKind::NetworkUnreachable].contains(&kind) {
            Error::DestinationIpUnroutable
        } else if [ErrorKind::NetworkDown, ErrorKind::AddrNotAvailable].contains(&kind) {
            Error::DestinationUnavailable
        } else {
            Error::ConnectionTerminated
        };
        Self::new(code, error.to_string())
    }

    /// Converts an error of hyper: before a response (`head`), or amid its body.
    pub(super) fn hyper(error: &hyper::Error, head: bool) -> Self {
        let code = if error.is_parse_too_large() {
            Error::HttpResponseHeaderSectionSize(None)
        } else if error.is_parse() {
            Error::HttpProtocolError
        } else if head {
            Error::ConnectionTerminated
        } else {
            Error::HttpResponseIncomplete
        };
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::new(code, format!("{error}{cause}"))
    }
}

fn denied(LimitError { limit, ceiling }: LimitError) -> Error {
    if limit == Limit::HttpConnections {
        Error::ConnectionLimitReached
    } else if limit == Limit::HttpSent {
        Error::HttpRequestBodySize(Some(ceiling.most))
    } else if limit == Limit::HttpReceived {
        Error::HttpResponseBodySize(Some(ceiling.most))
    } else {
        Error::HttpRequestDenied
    }
}
