//! Projects in Python, JavaScript and Go are built by the tools that this machine has: here tools that are scripts, and a go command.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod go;
mod javascript;
mod machine;
mod python;
