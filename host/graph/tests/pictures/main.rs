//! Pictures of runs: what is drawn, where, and in which words.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod geometry;
mod loops;
mod markup;
mod samples;
mod times;
mod world;
