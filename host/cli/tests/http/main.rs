//! The shipped `http` against a server of its own: what is granted gets through, nothing else does, and what the server does becomes
//! what a document can go by.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use phasm::sandbox::Isolation;

mod approval;
#[expect(dead_code, reason = "other tests do more")]
#[path = "../attempt/mod.rs"]
mod attempt;
mod guest;
#[path = "../attempt/seed.rs"]
mod runs;
mod seed;
mod server;

/// Guests beside each other.
#[path = "."]
mod shared {
    const TIER: super::Isolation = super::Isolation::Shared;

    mod egress;
    mod grants;
    mod limits;
    mod lines;
    mod tls;
}

/// The same in processes of their own.
#[cfg(target_os = "linux")]
#[expect(clippy::duplicate_mod, reason = "they come to the same")]
#[path = "."]
mod process {
    const TIER: super::Isolation = super::Isolation::Process;

    mod egress;
    mod grants;
    mod limits;
    mod lines;
    mod tls;
}
