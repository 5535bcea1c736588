//! What the file system refuses, in words that say how to mend it.

use std::io::{Error, ErrorKind};

use phasm_sdk::prelude::*;

/// What the file system may answer without anything being wrong with the call.
const ANSWERS: [(ErrorKind, &str, &str); 3] = [
    (ErrorKind::NotFound, "not-found", "it does not exist"),
    (ErrorKind::IsADirectory, "is-a-directory", "it is a directory"),
    (ErrorKind::NotADirectory, "not-a-directory", "a part of the path is not a directory"),
];

/// Why `path` could not be read, written, …: code 2 where that is an answer, code 3 where a grant is missing.
pub(crate) fn refused(verb: &str, path: &str, why: &Error) -> Outcome {
    let what = format!("cannot {verb} `{path}`");
    if let Some((_, kind, answer)) = ANSWERS.iter().find(|(kind, ..)| *kind == why.kind()) {
        Outcome::failed(format!("{what}: {answer}")).kind(kind).retryable(false)
    } else if is_outside_of_grants(why) {
        not_granted(&what)
    } else if [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem].contains(&why.kind()) {
        not_permitted(&what, why)
    } else {
        Outcome::error(format!("{what}: {why}")).kind("io")
    }
}

fn not_permitted(what: &str, why: &Error) -> Outcome {
    let message = format!(
        "{what}: not permitted ({why}); the path leads out of the granted directory, or the grant is read-only and a \
         read-write one is needed, or the file's own permissions forbid it"
    );
    Outcome::error(message).kind("grant").retryable(false)
}

fn not_granted(what: &str) -> Outcome {
    let message = format!(
        "{what}: it lies in no directory granted to this plugin; whoever runs the workflow grants one with `dirs` under \
         `[grants.file]` in the host's configuration"
    );
    Outcome::error(message).kind("grant").retryable(false)
}

/// wasi-libc looks for a granted directory that holds the path; without one it says so, or ENOTCAPABLE.
fn is_outside_of_grants(why: &Error) -> bool {
    const NOT_CAPABLE: i32 = 76;
    why.raw_os_error() == Some(NOT_CAPABLE) || why.to_string().contains("pre-opened")
}
