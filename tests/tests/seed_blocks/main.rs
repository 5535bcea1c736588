//! Every code block of the seeds, word for word, planned and run: what each must lead to.
//!
//! The blocks stand in `tests/seeds/`; a test here wraps them in what a fragment lacks and in nothing more.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod aether;
mod noetl;
mod play;
mod steep;
