//! The sandbox against guests that misbehave in every way there is; the guests are in `tests/guests`.

#![expect(clippy::unwrap_used, reason = "tests")]

mod cache;
mod compiled;
mod faults;
mod harness;
mod isolation;
mod limits;
mod memory;
mod plugins;
mod time;
mod unsafe_code;
