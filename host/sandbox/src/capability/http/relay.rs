//! Requests of guests in a process that opens no connections: it asks, and the process that started it makes them, by the same rules as
//! those of its own guests.
//!
//! ```text
//!  child: hooks ──▶ Relay ──begin, part, more, give up──▶ Requests ──▶ exchange :parent
//!                     ◀───── more, answered, part, failed ────┘
//! ```
//!
//! A part of a body goes over when whoever wants it has asked for it, one at a time in either direction: nothing piles up, and nobody
//! waits for one who does not listen.

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
