//! Rules of the code base that a program can check: no circles of files, plain English, types that are nouns.
//!
//! `tests/limits.rs` holds the limits, `cargo run -p phasm-tidy` prints the figures.

pub mod circles;
pub mod figures;
pub mod language;
mod modules;
pub mod names;
pub mod source;
mod tokens;
