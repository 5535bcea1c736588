//! Requests of guests in a process that opens no connections: the process asks, and its parent makes the requests by the same
//! rules as those of its own guests.
//!
//! ```text
//!  child: hooks ──▶ RelayClient ──begin, part, more, give up──▶ RelayServer ──▶ exchange :parent
//!                       ◀─────── more, head, part, failed ────────┘
//! ```
//!
//! A part of a body is sent when its receiver has asked for it, one at a time in either direction. So nothing piles up, and
//! neither side waits for a receiver that does not read.

#[cfg(feature = "http")]
mod client;
mod messages;
#[cfg(feature = "http")]
mod parts;
#[cfg(feature = "http")]
mod server;
#[cfg(test)]
#[cfg(feature = "http")]
mod tests;

pub(crate) use self::messages::{RelayEvent, RelayRequest};
#[cfg(feature = "http")]
pub(crate) use self::{
    client::RelayClient,
    server::{Outbox, RelayServer},
};
