//! Faults before or during the response.

use phasm_sdk::prelude::*;

/// How a request can fail without an answer.
#[cfg_attr(
    not(any(test, target_arch = "wasm32")),
    expect(dead_code, reason = "there is no network natively")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Too late.
    Timeout,
    /// No connection, or none any more.
    Connection,
    /// No trust.
    Tls,
    /// Not granted, or over a limit of the host.
    Grant,
    /// Something that is no HTTP.
    Protocol,
    /// The request itself.
    Input,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }

    /// The outcome of `request`, which met this.
    pub(crate) fn outcome(self, request: &str) -> Outcome {
        let Self { kind, what } = self;
        let message = format!("{request}: {what}");
        let outcome = match kind {
            Kind::Timeout => Outcome::timeout(message),
            Kind::Connection | Kind::Tls | Kind::Grant | Kind::Protocol | Kind::Input => {
                Outcome::error(message)
            }
        };
        outcome.kind(kind.word()).retryable(matches!(kind, Kind::Timeout | Kind::Connection | Kind::Protocol))
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Tls => "tls",
            Self::Grant => "grant",
            Self::Protocol => "protocol",
            Self::Input => "input",
        }
    }
}
