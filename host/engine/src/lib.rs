//! The workflow engine of Phasm as a pure function.
//!
//! A document becomes a [`plan::Plan`]; a run of it is stepped with one input at a time and answers with events (what
//! happened, to be journaled) and commands (what to do once the events are durable). There is no clock, I/O or thread
//! in here: time is a parameter, and recovery is the very same `apply` over the journal.

mod base;
pub mod document;
pub mod event;
pub mod expr;
pub mod form;
mod knobs;
mod names;
pub mod plan;
pub mod problem;
pub mod run;

pub use base::suggest::did_you_mean;
pub use base::{outcome, path, phase, time, tree, value};
pub use form::parse_size;
pub use phasm_duration as duration;

pub(crate) use base::suggest;
