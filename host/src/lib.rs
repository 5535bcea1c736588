//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.

pub mod builder;
pub mod clock;
pub mod config;
mod dispatcher;
mod driver;
pub mod executor;
mod host;
pub mod plugins;
pub mod reader;
pub mod sandbox;
pub mod secrets;
pub mod store;
mod watch;

pub use self::{
    driver::Refused,
    host::{Host, HostBuilder, OpenError, RunError, RunHandle, SubmitError, Waited},
    watch::{LogLine, Notice, ProgressNote},
};
pub use phasm_engine as engine;

/// The README's examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
