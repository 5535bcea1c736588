//! The workflow engine of Phasm as a pure function.
//!
//! A document becomes a [`plan::Plan`]; a run of it is stepped with one input at a time and answers with events (what
//! happened, to be journaled) and commands (what to do once the events are durable). There is no clock, I/O or thread
//! in here: time is a parameter, and recovery is the very same `apply` over the journal.

pub mod document;
pub mod event;
pub mod expr;
pub mod form;
pub mod outcome;
pub mod path;
pub mod phase;
pub mod plan;
pub mod policy;
pub mod problem;
pub mod retry;
pub mod run;
mod suggest;
pub mod time;
pub mod timeout;
pub mod tree;
pub mod value;

pub use form::parse_size;
pub use phasm_duration as duration;
pub use suggest::did_you_mean;
