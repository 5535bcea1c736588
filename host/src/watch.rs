//! Watching runs: subscribers, what attempts write, and spans for traces.

pub(crate) mod attempt_log;
pub(crate) mod hub;
pub(crate) mod observer;
pub mod spans;
