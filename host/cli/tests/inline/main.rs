//! The executors `python` and `script`, which run code of a workflow, and seed 002's example of the first. They are built by tools of
//! their languages.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

#[expect(dead_code, reason = "other tests do more")]
#[path = "../attempt/mod.rs"]
mod attempt;
#[expect(dead_code, reason = "other tests do more")]
#[path = "../cli/bench.rs"]
mod bench;
mod code;
mod guest;
#[path = "../attempt/seed.rs"]
mod runs;
mod seed;
