//! Numbers of texts: kept with all their digits, or refused. The host refuses outputs with any other number (code 3).

use serde::de::IgnoredAny;

pub use phasm_number::{complaint, is_kept};

/// Returns the first number in a JSON text that is neither an integer of 64 bits nor a double with all its digits, and its place in
/// bytes. Nothing where `text` is no JSON.
#[must_use]
pub fn lost(text: &str) -> Option<(usize, &str)> {
    let lost = phasm_number::first_lost(text)?;
    serde_json::from_str::<IgnoredAny>(text).ok().map(|_| lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_lost_where_the_text_is_json() {
        assert_eq!(lost("[18446744073709551616]"), Some((1, "18446744073709551616")));
        assert_eq!(lost("18446744073709551616 apples"), None);
        assert_eq!(lost("[18446744073709551615, 0.1]"), None);
    }
}
