//! The API through real sockets on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod client;
mod page;
mod remote;
mod runs;
mod world;
