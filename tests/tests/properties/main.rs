//! Laws of the pure functions: generated inputs against the specification, computed a second way.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod delays;
mod durations;
mod expressions;
mod phases;
mod readiness;
