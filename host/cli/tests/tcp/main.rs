//! A program of Rust's standard library that connects by TCP: what is granted gets through, nothing else does, and everything has a
//! limit.
#![expect(clippy::unwrap_used, reason = "tests")]

use phasm::sandbox::Isolation;

#[expect(dead_code, reason = "other tests do more")]
#[path = "../attempt/mod.rs"]
mod attempt;
mod guest;
mod server;

/// Guests beside each other.
#[path = "."]
mod shared {
    const TIER: super::Isolation = super::Isolation::Shared;

    mod grants;
    mod limits;
}

/// The same in processes of their own.
#[cfg(target_os = "linux")]
#[expect(clippy::duplicate_mod, reason = "they come to the same")]
#[path = "."]
mod process {
    const TIER: super::Isolation = super::Isolation::Process;

    mod grants;
    mod limits;
}
