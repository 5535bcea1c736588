//! HTTP: requests of a guest to the hosts of its grant, and to no others.
//!
//! ```text
//!  guest ── wasi:http ──▶ hooks: target, grant, count        (refused: reported to the guest, and logged)
//!                          │ a task of its own, gone with the guest
//!                          ▼
//!                 secret_injection: placeholders → secrets
//!                 resolve: one look-up ─▶ addresses that may be reached ─▶ connect to one of these ─▶ TLS
//!                          │
//!                          ▼
//!                 wire: every byte counted; response_body: bounded in time, part by part
//! ```
//!
//! The host follows no redirect: if the guest follows one, that is a request like any other.

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "what grants say is read without it, too"))]

#[cfg(not(feature = "http"))]
mod absent;
#[cfg(feature = "http")]
mod aws_signature;
#[cfg(feature = "http")]
mod budget;
#[cfg(feature = "http")]
mod caller;
mod config;
#[cfg(feature = "http")]
mod connect;
#[cfg(feature = "http")]
mod exchange;
#[cfg(feature = "http")]
mod failure;
#[cfg(feature = "http")]
mod file_body;
mod grant;
#[cfg(feature = "http")]
mod hooks;
#[cfg(feature = "http")]
mod host_client;
#[cfg(feature = "http")]
mod net;
mod path;
mod pattern;
#[cfg(feature = "http")]
mod pending_request;
#[cfg(feature = "http")]
mod quota;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(feature = "http")]
mod request_log;
#[cfg(feature = "http")]
mod resolve;
#[cfg(feature = "http")]
mod response_body;
#[cfg(feature = "http")]
mod secret_injection;
#[cfg(feature = "http")]
mod signed_request;
mod target;
#[cfg(feature = "http")]
mod tls;
#[cfg(feature = "http")]
mod wire;

#[cfg(not(feature = "http"))]
pub(crate) use self::absent::HasHttp;
#[cfg(not(feature = "http"))]
pub(super) use self::absent::link;
#[cfg(not(feature = "http"))]
pub(crate) use self::absent::{Http, Net};
#[cfg(all(not(feature = "http"), target_os = "linux"))]
pub(crate) use self::absent::{Outbox, RelayClient, RelayServer};
#[cfg(feature = "http")]
pub(super) use self::hooks::link;
#[cfg(feature = "http")]
pub(super) use self::net::Permits;
#[cfg(all(feature = "http", target_os = "linux"))]
pub(crate) use self::relay::{Outbox, RelayClient, RelayServer};
#[cfg(target_os = "linux")]
pub(crate) use self::relay::{RelayEvent, RelayRequest};
pub use self::{
    config::{AwsSigning, EgressSecret, HttpConfig, HttpLimits, SigningKey},
    grant::HttpGrant,
    pattern::{HttpPattern, NotAPattern},
};
#[cfg(feature = "http")]
pub use self::{
    file_body::FileBody,
    host_client::{HttpAnswer, HttpClient, HttpRequest},
    signed_request::{ResponseReader, SignedBody, SignedRequest},
};
#[cfg(feature = "http")]
pub(crate) use self::{
    hooks::{Connection, HasHttp, Http},
    net::Net,
};
