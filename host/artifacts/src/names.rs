//! Names and ids as parts of paths and keys.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters that stand for themselves.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Returns `text` without characters that mean something in paths and keys.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// Returns the text that was encoded as `name`; none if it was something else.
pub(crate) fn decoded(name: &str) -> Option<String> {
    Some(percent_decode_str(name).decode_utf8().ok()?.into_owned())
}
