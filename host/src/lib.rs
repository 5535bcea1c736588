//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.

pub mod executor;
pub mod plugins;
pub mod sandbox;
pub mod store;
pub mod reader;
