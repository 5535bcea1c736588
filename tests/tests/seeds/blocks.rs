//! Every code block of the seeds, word for word, planned and run: what each must lead to.
//!
//! The blocks stand in `tests/seeds/`; a test here wraps them in what a fragment lacks and in nothing more.

mod aether;
mod noetl;
pub(crate) mod play;
mod steep;
