//! Errors of the file system in a granted directory, with messages that say how to fix them.

use std::{
    fs,
    io::{Error, ErrorKind},
    path::Path,
};

use crate::Outcome;

/// Errors that are regular results of a call.
const REGULAR_ERRORS: [(ErrorKind, &str, &str); 3] = [
    (ErrorKind::NotFound, "not-found", "it does not exist"),
    (ErrorKind::IsADirectory, "is-a-directory", "it is a directory"),
    (ErrorKind::NotADirectory, "not-a-directory", "a part of the path is not a directory"),
];

/// Returns the outcome where `path` could not be read, written, …: code 2 where that is a result, code 3 where a grant is missing.
/// The message names the grant of `plugin`.
pub fn refused(plugin: &str, verb: &str, path: &str, why: &Error) -> Outcome {
    let what = format!("cannot {verb} `{path}`");
    let kind = kind(path, why);
    if !is_granted(path) {
        not_granted(plugin, &what)
    } else if let Some((_, word, answer)) = REGULAR_ERRORS.iter().find(|(known, ..)| *known == kind) {
        Outcome::failed(format!("{what}: {answer}")).kind(word).retryable(false)
    } else if [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem].contains(&kind) {
        not_permitted(&what, why)
    } else if kind == ErrorKind::StorageFull {
        Outcome::error(format!("{what}: the disk is full")).kind("no-space")
    } else if kind == ErrorKind::QuotaExceeded {
        Outcome::error(format!("{what}: the quota of the directory is used up")).kind("no-space")
    } else {
        Outcome::error(format!("{what}: {why}")).kind("io")
    }
}

/// Whether a granted directory holds the path. Without one nothing above it is there, not even the root.
#[must_use]
pub fn is_granted(path: &str) -> bool {
    let there =
        |above: &Path| fs::metadata(if above == Path::new("") { Path::new(".") } else { above }).is_ok();
    Path::new(path).ancestors().any(there)
}

/// WASI opens directories as if they were files; only reading one fails, as a bad descriptor.
fn kind(path: &str, why: &Error) -> ErrorKind {
    const BAD_DESCRIPTOR: i32 = 8;
    let is_directory = || fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if why.raw_os_error() == Some(BAD_DESCRIPTOR) && is_directory() {
        ErrorKind::IsADirectory
    } else {
        why.kind()
    }
}

fn not_permitted(what: &str, why: &Error) -> Outcome {
    let message = format!(
        "{what}: not permitted ({why}); the path leads out of the granted directory, or the grant is read-only and a \
         read-write one is needed, or the file's own permissions forbid it"
    );
    Outcome::error(message).kind("grant").retryable(false)
}

/// Returns the outcome where `what` needs a directory that is not granted to `plugin`.
pub fn not_granted(plugin: &str, what: &str) -> Outcome {
    let message = format!(
        "{what}: it lies in no directory granted to this plugin; the operator grants one with `dirs` under \
         `[grants.{plugin}]` in the host's configuration"
    );
    Outcome::error(message).kind("grant").retryable(false)
}
