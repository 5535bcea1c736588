//! Projects in scripting languages are built by the tools that this machine has: here tools that are scripts.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod javascript;
mod machine;
mod python;
