//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.

pub mod executor;
pub mod reader;
