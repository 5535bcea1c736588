//! Connections of guests in a process that opens none: the process asks, and its parent connects by the same rules as for its own
//! guests.
//!
//! ```text
//!  child: view ──▶ TcpRelayClient ──look up, connect, read, write, shut, close──▶ TcpRelayServer ──▶ caller :parent
//!                       ◀──────────── started, data, written, broken ───────────────────┘
//! ```
//!
//! A piece is read when the process has asked for it, and the next one is written when the last has been. So nothing piles up, and
//! neither side waits for a receiver that does not read.

mod client;
mod messages;
mod server;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    client::TcpRelayClient,
    messages::{TcpEvent, TcpRequest},
    server::TcpRelayServer,
};
