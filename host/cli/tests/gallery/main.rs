//! The examples: each is written by `phasm init`, checked, and run by the command of its README against a peer on this machine.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[cfg(unix)]
#[expect(dead_code, reason = "other tests do more")]
#[path = "../postgres/database.rs"]
mod database;
mod listing;
mod local;
mod peer;
mod project;
#[cfg(unix)]
#[expect(dead_code, reason = "other tests do more")]
#[path = "../email/relay.rs"]
mod relay;
mod remote;
mod served;
#[cfg(unix)]
#[expect(dead_code, reason = "other tests do more")]
#[path = "../../../src/store/tests/server.rs"]
mod server;
