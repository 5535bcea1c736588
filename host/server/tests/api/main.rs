//! The API through real sockets on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod bound;
mod client;
mod documented;
mod keys;
mod limits;
mod metrics;
mod notices;
mod page;
mod plugins;
mod remote;
mod runs;
mod saved;
mod secured;
mod shares;
mod strangers;
mod stream;
mod traced;
#[path = "../../../../tests/tests/schema/validator.rs"]
#[expect(dead_code, reason = "another test asks it what it has not met")]
mod validator;
mod values;
mod world;
