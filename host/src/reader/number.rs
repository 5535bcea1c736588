//! Numbers that can be kept as they are written.

use phasm_engine::value::Number;

/// The integer `digits` (with sign) in base `radix`, if it is one of 64 bits.
pub(super) fn integer(digits: &str, radix: u32) -> Option<Number> {
    let signed = i64::from_str_radix(digits, radix).map(Number::from).ok();
    signed.or_else(|| u64::from_str_radix(digits, radix).map(Number::from).ok())
}

/// The double nearest to a decimal number, if it is finite.
pub(super) fn double(text: &str) -> Option<Number> {
    text.parse().ok().and_then(Number::from_f64)
}

/// The hint for a number that cannot be stored exactly.
pub(super) const HINT: &str = "quote it to pass it as text";

/// The message for a number that cannot be stored exactly.
pub(super) fn complaint(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("number {shown}{more} cannot be kept exactly; expected an integer of 64 bits or a finite double")
}
