//! Cutting text to a limit in bytes.

/// Returns at most `max_bytes` bytes of `text`, cut at the edge of a character.
pub(super) fn cut(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}
