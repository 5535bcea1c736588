//! Sockets: TCP connections of a guest to the hosts of its grant. There is no listening and no UDP.
//!
//! ```text
//!  guest ── wasi:sockets ──▶ lookup: name, grant, count ─▶ resolver: one look-up ─▶ addresses that may be reached, remembered
//!                       └──▶ socket: address ─▶ caller: grant, remembered addresses, count ─▶ connect, in time
//!                                                │
//!                                                ▼
//!                            streams ◀─▶ direction: every byte counts
//! ```
//!
//! A socket of a guest is a socket of the system only once it is connected.

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "what grants say is read without it, too"))]

#[cfg(not(feature = "http"))]
mod absent;
#[cfg(feature = "http")]
mod background;
#[cfg(feature = "http")]
mod budget;
#[cfg(feature = "http")]
mod caller;
#[cfg(feature = "http")]
mod connection;
#[cfg(feature = "http")]
mod connection_log;
#[cfg(feature = "http")]
mod dial;
#[cfg(feature = "http")]
mod dialer;
#[cfg(feature = "http")]
mod direction;
#[cfg(feature = "http")]
mod failure;
mod grant;
#[cfg(feature = "http")]
mod lookup;
mod pattern;
#[cfg(all(feature = "http", target_os = "linux"))]
mod relay;
#[cfg(feature = "http")]
mod socket;
#[cfg(feature = "http")]
mod streams;
#[cfg(feature = "http")]
mod view;

#[cfg(not(feature = "http"))]
pub(super) use self::absent::link;
#[cfg(not(feature = "http"))]
pub(crate) use self::absent::{HasSockets, Sockets, SocketsView};
#[cfg(all(feature = "http", target_os = "linux"))]
pub(crate) use self::relay::{TcpEvent, TcpRelayClient, TcpRelayServer, TcpRequest};
#[cfg(feature = "http")]
pub(super) use self::view::link;
#[cfg(feature = "http")]
pub(crate) use self::view::{HasSockets, Network, Sockets, SocketsView};
pub use self::{
    grant::TcpGrant,
    pattern::{NotATcpPattern, TcpPattern},
};
