//! Phasm as a library: sandboxed WebAssembly executors, declarative workflows, one process.

pub mod builder;
pub mod executor;
