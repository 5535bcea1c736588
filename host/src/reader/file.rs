//! Text from files and streams, no more of it than a document may have.

use std::{
    fs,
    io::{self, Read},
    path::Path as FilePath,
};

use phasm_engine::{path::Path, problem::Problem, problem::codes::source as entries, tree::Span};

use super::{MAX_DOCUMENT_BYTES, source::SourceText};
use phasm_files::open_regular;

/// The text of the file at `path`.
///
/// # Errors
/// When there is no such file, it may not be read or is no regular file, it has more than 16 MiB, or it is no text in UTF-8.
pub fn text_of(path: &FilePath) -> Result<String, Box<Problem>> {
    let kind = fs::metadata(path).map_err(|error| unreadable(&reason(&error), None))?;
    if kind.is_dir() {
        return Err(unreadable("a directory", Some("name the files in it")));
    }
    // Opening a pipe may block for ever, and a device may have no end.
    if !kind.is_file() {
        return Err(unreadable(
            "not a regular file but a pipe or device",
            Some("pass it to stdin and write `-`"),
        ));
    }
    text_from(open_regular(path).map_err(|error| unreadable(&reason(&error), None))?)
}

/// The text that `from` holds, to its end.
///
/// # Errors
/// When it cannot be read, has more than 16 MiB, or is no text in UTF-8.
pub fn text_from(from: impl Read) -> Result<String, Box<Problem>> {
    let most = u64::try_from(MAX_DOCUMENT_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let read = from.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&reason(&error), None))?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Box::new(too_long()));
    }
    decoded(bytes)
}

/// The problem of a text that has more than [`MAX_DOCUMENT_BYTES`].
pub(super) fn too_long() -> Problem {
    let message = format!("more than {MAX_DOCUMENT_BYTES} bytes of text; expected at most as many");
    Problem::new(&entries::TOO_LARGE, &Path::root(), Span::default(), message)
        .with_hint("pass large data as files that an executor reads")
}

fn unreadable(what: &str, hint: Option<&str>) -> Box<Problem> {
    let message = format!("{what}; expected a file that can be read");
    let problem = Problem::new(&entries::UNREADABLE, &Path::root(), Span::default(), message);
    Box::new(match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    })
}

fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        "no such file".to_owned()
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        "a file that may not be read".to_owned()
    } else {
        error.to_string()
    }
}

fn decoded(bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    if let Some((what, hint)) = foreign(&bytes) {
        return Err(no_text(what, hint, Span::default()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let at = String::from_utf8_lossy(before);
        let span = SourceText::new(&at).span(at.trim_start_matches('\u{feff}').len(), at.len());
        let byte = error.as_bytes().get(valid).copied().unwrap_or_default();
        let what = format!("byte 0x{byte:02X} is not UTF-8");
        no_text(&what, "save the file as UTF-8, not as Latin-1 or Windows-1252", span)
    })
}

fn no_text(what: &str, hint: &str, span: Span) -> Box<Problem> {
    let message = format!("{what}; expected text in UTF-8");
    Box::new(Problem::new(&entries::NOT_TEXT, &Path::root(), span, message).with_hint(hint))
}

/// Recognises bytes that are no text, by how they begin.
fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let utf_16 = ("text in UTF-16", "save the file as UTF-8");
    match bytes {
        [0, b'a', b's', b'm', ..] => Some((
            "a WebAssembly component",
            "a workflow file names it by `executor.type`; give the workflow file",
        )),
        [0xFF, 0xFE, ..]
        | [0xFE, 0xFF, ..]
        | [0, 1..=0x7F, 0, 1..=0x7F, ..]
        | [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some(utf_16),
        [0x1F, 0x8B, ..] | [b'P', b'K', 3, 4, ..] => Some(("an archive", "unpack it first")),
        _ => None,
    }
}
