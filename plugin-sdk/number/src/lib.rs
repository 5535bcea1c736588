//! Decimal numbers of texts: whether a double keeps all their digits.
//!
//! Every text that becomes a value goes through here, in the host and in executors: a number that silently became another one would be
//! an id that belongs to another person.

/// Significant digits up to which every decimal of a normal double is kept.
const SAFE_DIGITS: usize = f64::DIGITS as usize;

/// The smallest double around which [`SAFE_DIGITS`] are kept; below there are fewer.
const SAFE_MAGNITUDE: f64 = 1e-290;

/// Maximum number of digits in the shortest form of a double.
const MAX_SHORTEST_DIGITS: usize = 17;

/// Maximum number of significant digits that a double has when it is written out.
const MAX_DIGITS: usize = 767;

/// Characters of a number that a message repeats.
const MAX_SHOWN_CHARS: usize = 40;

/// Returns the double that a decimal number stands for, if it is finite and has all digits that are written.
#[must_use]
pub fn double(text: &str) -> Option<f64> {
    text.parse().ok().filter(|double| keeps(text, *double))
}

/// Whether a number, as JSON writes numbers, is an integer of 64 bits or a double with all its digits.
#[must_use]
pub fn is_kept(number: &str) -> bool {
    if number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
    } else {
        double(number).is_some()
    }
}

/// Describes a number that cannot be kept.
#[must_use]
pub fn complaint(text: &str) -> String {
    let shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("number {shown}{more} cannot be kept exactly; expected an integer of 64 bits or a finite double")
}

/// Returns the first number of a JSON text that is not kept, and its place in bytes. The text has to be JSON.
#[must_use]
pub fn first_lost(json: &str) -> Option<(usize, &str)> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_text(bytes, at),
            b'-' | b'0'..=b'9' => {
                let rest = json.get(at..).unwrap_or_default();
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let number = rest.get(..length).unwrap_or_default();
                // Most numbers are short, and none of those without an exponent loses anything.
                let is_safe = length <= SAFE_DIGITS && !number.contains(['e', 'E']);
                if !is_safe && !is_kept(number) {
                    return Some((at, number));
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the quote is that closes the text opened at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
        at += if *byte == b'\\' { 2 } else { 1 };
    }
    at
}

fn is_part(c: char) -> bool {
    matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')
}

/// Whether `double` is written so: in its shortest form, or rounded to as many digits as `text` has.
fn keeps(text: &str, double: f64) -> bool {
    let written = Decimal::of(text);
    if written.digits.is_empty() || !double.is_finite() {
        return double == 0.0;
    }
    let digits = written.precision;
    if digits <= SAFE_DIGITS && double.abs() >= SAFE_MAGNITUDE {
        return true;
    }
    if digits > MAX_DIGITS {
        return false;
    }
    let rounded = Decimal::of(&format!("{:.*e}", digits - 1, double.abs()));
    // The shortest form is the only one that most programs write, and not always the nearest of as many digits.
    let is_shortest =
        || digits <= MAX_SHORTEST_DIGITS && Decimal::of(&format!("{:e}", double.abs())).is(&written);
    rounded.is(&written) || is_shortest() || written.is_tie_above(double)
}

/// A decimal number without its sign.
#[derive(Debug)]
struct Decimal {
    /// The digits without zeros around them.
    digits: String,
    /// Number of digits that count: zeros before the point do, unless there is an exponent, those at the end of a fraction do not.
    precision: usize,
    /// The power of ten of the first digit.
    exponent: i64,
}

impl Decimal {
    fn is(&self, other: &Self) -> bool {
        (&self.digits, self.exponent) == (&other.digits, other.exponent)
    }

    /// Whether the double is halfway between this number and the one before of as many digits. Languages differ about which of the
    /// two they write: the shortest form of 2^-24 ends in 3, and with as many digits to even it ends in 2.
    fn is_tie_above(&self, double: f64) -> bool {
        let mut before = self.digits.clone().into_bytes();
        before.resize(self.precision, b'0');
        for digit in before.iter_mut().rev() {
            if *digit > b'0' {
                *digit -= 1;
                break;
            }
            *digit = b'9';
        }
        let before = String::from_utf8(before).unwrap_or_default();
        let halfway = Self::of(&format!("0.{before}5e{}", self.exponent.saturating_add(1)));
        halfway.is(&Self::of(&format!("{:.*e}", MAX_DIGITS - 1, double.abs())))
    }

    fn of(text: &str) -> Self {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_matches('0');
        let is_plain = mantissa.len() == unsigned.len();
        let counted =
            if is_plain { [whole, fraction.trim_end_matches('0')].concat() } else { digits.to_owned() };
        let precision = counted.trim_start_matches('0').len().max(digits.len());
        let leading = all.len() - all.trim_start_matches('0').len();
        let power = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        // An exponent that fits in no integer belongs to no finite double but zero, which has no digits.
        let exponent = exponent.parse::<i64>().unwrap_or_default();
        let first = exponent.saturating_add(power(whole.len())).saturating_sub(power(leading) + 1);
        Self { digits: digits.to_owned(), precision, exponent: first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_kept_have_all_their_digits() {
        for text in [
            "0",
            "-0",
            "1",
            "1.0",
            "1.50",
            "0.1",
            "-0.30000000000000004",
            "1e3",
            "1E+300",
            "1e23",
            "123456789012345.25",
            "9223372036854775807",
            "18446744073709551615",
            "-9223372036854775808",
            "9007199254740993",
            "0e999",
            "0.000",
            "5e-324",
            // Halfway between two numbers of as many digits: either.
            "5.960464477539063e-08",
            "5.960464477539062e-8",
            "-5.960464477539063E-8",
            "0.00000005960464477539063",
            "9.5367431640625e-7",
            "0.1000000000000000055511151231257827021181583404541015630",
            "2.2250738585072014e-308",
            "1.7976931348623157e308",
            "0.10000000000000001",
            "0.1000000000000000055511151231257827021181583404541015625",
            "1e-290",
            "0.10000000000000000000000000",
            "10000000000000000000000.0",
        ] {
            assert!(is_kept(text), "{text}");
        }
    }

    /// R-W20: the shortest form of every double is kept, powers of two among them, which are often halfway, and with as many digits
    /// as there may be.
    #[test]
    fn the_forms_of_a_double_are_kept() {
        let powers = (1..2047_u64).map(|exponent| exponent << 52);
        let subnormal = (0..52).map(|bit| 1_u64 << bit);
        let mut seed = 1_u64;
        let others = (0..20_000).map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 1
        });
        for double in
            powers.chain(subnormal).chain(others).map(f64::from_bits).filter(|double| double.is_finite())
        {
            for text in [
                format!("{double:e}"),
                format!("{double:.16e}"),
                format!("{double:.20e}"),
                format!("-{double:.766e}"),
            ] {
                assert!(is_kept(&text), "{text}");
            }
        }
    }

    /// R-W20.
    #[test]
    fn numbers_that_would_become_others_are_not_read() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "123456789012345678901234567890.0",
            "9007199254740993.0",
            "9007199254740993e0",
            "900719925474099.31",
            "9223372036854775810.0",
            "100000000000000000000000.0",
            "3.14159265358979323846",
            "0.99999999999999999999",
            "1e400",
            "-1e400",
            "1e-400",
            "1.2345e-322",
            "1e99999999999999999999",
            "1e-99999999999999999999",
        ] {
            assert!(!is_kept(text), "{text}");
        }
        let long = format!("0.{}1", "0".repeat(800));
        assert!(!is_kept(&long));
        assert!(!is_kept(&format!("1.{}1", "0".repeat(800))));
    }

    #[test]
    fn the_first_lost_number_of_a_text_is_found_with_its_place() {
        let rows = [
            (r#"{"a":[1,2.5,"18446744073709551616"]}"#, None),
            (r#"{"a":[1,18446744073709551616, 1e400]}"#, Some((8, "18446744073709551616"))),
            (r#"{"18446744073709551616\"": "\\", "b": -1e400}"#, Some((38, "-1e400"))),
            ("18446744073709551616", Some((0, "18446744073709551616"))),
        ];
        for (text, expected) in rows {
            assert_eq!(first_lost(text), expected, "{text}");
        }
    }
}
