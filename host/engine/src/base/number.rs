//! Numbers as they are written: read with all their digits, or not at all.

pub use phasm_number::{complaint, first_lost};
use serde::de::IgnoredAny;
use serde_json::Number;

/// The hint for a number that cannot be kept.
pub const HINT: &str = "quote it to pass it as text";

/// Returns the integer `digits` (with sign) in base `radix`, if it is one of 64 bits.
#[must_use]
pub fn integer(digits: &str, radix: u32) -> Option<Number> {
    let signed = i64::from_str_radix(digits, radix).map(Number::from).ok();
    signed.or_else(|| u64::from_str_radix(digits, radix).map(Number::from).ok())
}

/// Returns the double that a decimal number stands for, if it is finite and has all digits that are written.
#[must_use]
pub fn double(text: &str) -> Option<Number> {
    phasm_number::double(text).and_then(Number::from_f64)
}

/// Returns the number that `text` is, as JSON writes numbers.
#[must_use]
pub fn json(text: &str) -> Option<Number> {
    let is_integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_integer { integer(text, 10) } else { double(text) }
}

/// Returns the first number in a JSON text that cannot be kept. Nothing where `text` is no JSON.
#[must_use]
pub fn lost(text: &str) -> Option<&str> {
    let (_, number) = first_lost(text)?;
    serde_json::from_str::<IgnoredAny>(text).ok().map(|_| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-W20.
    #[test]
    fn a_number_is_lost_where_the_text_is_json() {
        for (text, expected) in [
            ("[18446744073709551616]", Some("18446744073709551616")),
            ("1e400", Some("1e400")),
            ("18446744073709551616 apples", None),
            ("+4918446744073709551616", None),
            ("[1]", None),
        ] {
            assert_eq!(lost(text), expected, "{text}");
        }
    }
}
