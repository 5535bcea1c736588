//! The shipped `postgres` against a PostgreSQL server of its own: values, errors as the server makes them, limits, and seed 002's
//! example.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use phasm::sandbox::Isolation;

#[path = "../attempt/mod.rs"]
mod attempt;
mod database;
mod guest;
#[path = "../attempt/seed.rs"]
mod runs;
mod seed;
#[expect(dead_code, reason = "other tests do more")]
#[path = "../../../src/store/tests/server.rs"]
mod server;
mod statements;
mod values;

/// Guests beside each other.
#[path = "."]
mod shared {
    const TIER: super::Isolation = super::Isolation::Shared;

    mod access;
}

/// The same in processes of their own.
#[cfg(target_os = "linux")]
#[expect(clippy::duplicate_mod, reason = "they come to the same")]
#[path = "."]
mod process {
    const TIER: super::Isolation = super::Isolation::Process;

    mod access;
}
