//! Failures of look-ups and connections, as guests see them.

use std::io::{self, ErrorKind};

use serde::{Deserialize, Serialize};
use wasmtime_wasi::p2::bindings::sockets::network::ErrorCode;

/// Reason of a failure. Reasons for people are in the log and in the refusals of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Failure {
    AccessDenied,
    InvalidArgument,
    Timeout,
    NewSocketLimit,
    RemoteUnreachable,
    ConnectionRefused,
    ConnectionReset,
    NameUnresolvable,
    ResolverUnavailable,
    Other,
}

impl From<Failure> for ErrorCode {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::AccessDenied => Self::AccessDenied,
            Failure::InvalidArgument => Self::InvalidArgument,
            Failure::Timeout => Self::Timeout,
            Failure::NewSocketLimit => Self::NewSocketLimit,
            Failure::RemoteUnreachable => Self::RemoteUnreachable,
            Failure::ConnectionRefused => Self::ConnectionRefused,
            Failure::ConnectionReset => Self::ConnectionReset,
            Failure::NameUnresolvable => Self::NameUnresolvable,
            Failure::ResolverUnavailable => Self::TemporaryResolverFailure,
            Failure::Other => Self::Unknown,
        }
    }
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        let kind = error.kind();
        let is_unreachable = [
            ErrorKind::HostUnreachable,
            ErrorKind::NetworkUnreachable,
            ErrorKind::NetworkDown,
            ErrorKind::AddrNotAvailable,
        ];
        if kind == ErrorKind::ConnectionRefused {
            Self::ConnectionRefused
        } else if kind == ErrorKind::TimedOut {
            Self::Timeout
        } else if is_unreachable.contains(&kind) {
            Self::RemoteUnreachable
        } else if [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe]
            .contains(&kind)
        {
            Self::ConnectionReset
        } else {
            Self::Other
        }
    }
}

impl From<Failure> for io::Error {
    /// Returns the error of a stream.
    fn from(failure: Failure) -> Self {
        let kind = match failure {
            Failure::AccessDenied => ErrorKind::PermissionDenied,
            Failure::InvalidArgument => ErrorKind::InvalidInput,
            Failure::Timeout => ErrorKind::TimedOut,
            Failure::RemoteUnreachable => ErrorKind::HostUnreachable,
            Failure::ConnectionRefused => ErrorKind::ConnectionRefused,
            Failure::ConnectionReset => ErrorKind::ConnectionReset,
            Failure::NewSocketLimit
            | Failure::NameUnresolvable
            | Failure::ResolverUnavailable
            | Failure::Other => ErrorKind::Other,
        };
        kind.into()
    }
}
