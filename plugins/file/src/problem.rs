//! Errors of the file system.

use std::io::Error;

use phasm_sdk::{files, prelude::*};

pub(crate) use phasm_sdk::files::is_granted;

const PLUGIN: &str = env!("CARGO_PKG_NAME");

/// The outcome where `path` could not be read, written, ….
pub(crate) fn refused(verb: &str, path: &str, why: &Error) -> Outcome {
    files::refused(PLUGIN, verb, path, why)
}
