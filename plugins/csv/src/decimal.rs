//! Decimal numbers, with all their digits.

use std::{cmp::Ordering, fmt};

/// Digits of a number that is read. A sum has room for some more.
const MAX_DIGITS: usize = 36;

/// A number `mantissa` / 10^`scale`, without zeros at the end of its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    mantissa: i128,
    scale: u32,
}

impl Decimal {
    pub(crate) const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// Reads a number as JSON writes them; `None` if it has too many digits.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?.parse::<i64>().ok()),
            None => (text, Some(0)),
        };
        let (sign, unsigned) = number.strip_prefix('-').map_or((1, number), |unsigned| (-1, unsigned));
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self::ZERO);
        }
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent?)?;
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        // Digits in front of the point and behind it, without zeros that do not count.
        let scale = scale.checked_sub(zeros)?;
        let missing = usize::try_from((-scale).max(0)).ok()?;
        if significant.len().checked_add(missing)? > MAX_DIGITS || scale > i64::try_from(MAX_DIGITS).ok()? {
            return None;
        }
        let mantissa = significant.parse::<i128>().ok()?.checked_mul(power(u32::try_from(missing).ok()?)?)?;
        Some(Self { mantissa: sign * mantissa, scale: u32::try_from(scale.max(0)).ok()? })
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let sum = self.mantissa_at(scale)?.checked_add(other.mantissa_at(scale)?)?;
        Some(Self { mantissa: sum, scale }.normal())
    }

    fn mantissa_at(self, scale: u32) -> Option<i128> {
        self.mantissa.checked_mul(power(scale.checked_sub(self.scale)?)?)
    }

    fn normal(mut self) -> Self {
        while self.scale > 0 && self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Divides by a count: the decimal if it ends within 17 significant digits, else a decimal whose nearest double is the nearest
    /// of the quotient.
    pub(crate) fn divided_by(self, count: u64) -> String {
        const ENOUGH_DIGITS: u32 = 25;
        let divisor = u128::from(count.max(1));
        let negative = if self.mantissa < 0 { "-" } else { "" };
        let mut quotient = self.mantissa.unsigned_abs() / divisor;
        let mut rest = self.mantissa.unsigned_abs() % divisor;
        let mut scale = self.scale;
        let mut digits = if quotient == 0 { 0 } else { quotient.ilog10() + 1 };
        while rest != 0 && digits < ENOUGH_DIGITS && scale < 400 {
            // The divisor has 64 bits, so ten times the rest fits; the quotient has 25 digits at most.
            rest *= 10;
            quotient = quotient * 10 + rest / divisor;
            rest %= divisor;
            scale += 1;
            digits = if quotient == 0 { 0 } else { quotient.ilog10() + 1 };
        }
        // A digit for the rest decides between two doubles that are equally near.
        let sticky = if rest == 0 { "" } else { "1" };
        let extra = u32::from(rest != 0);
        let written = format!("{quotient}{sticky}");
        let (whole, fraction) = point(&written, scale + extra);
        let text = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
        format!("{negative}{text}")
    }
}

/// Puts the point into digits, `scale` of which are behind it.
fn point(digits: &str, scale: u32) -> (String, String) {
    let scale = usize::try_from(scale).unwrap_or(usize::MAX);
    let padded = format!("{digits:0>width$}", width = scale.saturating_add(1));
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let whole = |number: &Self| number.mantissa / power(number.scale).unwrap_or(i128::MAX);
        whole(self).cmp(&whole(other)).then_with(|| {
            let scale = self.scale.max(other.scale);
            // Behind equal whole parts both fractions have at most 36 digits.
            let fraction = |number: &Self| {
                let rest = number.mantissa % power(number.scale).unwrap_or(i128::MAX);
                rest.saturating_mul(power(scale - number.scale).unwrap_or(i128::MAX))
            };
            fraction(self).cmp(&fraction(other))
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = point(&self.mantissa.unsigned_abs().to_string(), self.scale);
        let sign = if self.mantissa < 0 { "-" } else { "" };
        if fraction.is_empty() { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).unwrap()
    }

    #[test]
    fn numbers_keep_their_digits() {
        for (text, written) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.50", "1.5"),
            ("100", "100"),
            ("1e2", "100"),
            ("-12.5E-3", "-0.0125"),
            ("123456789012345678901234567890.123456", "123456789012345678901234567890.123456"),
            ("1e35", "100000000000000000000000000000000000"),
            ("1e-36", "0.000000000000000000000000000000000001"),
            ("0e999999999999999999999", "0"),
        ] {
            assert_eq!(read(text).to_string(), written, "{text}");
        }
        for text in
            ["1e36", "1e-37", "1e999999999999999999999", "1e-999999999", &"9".repeat(37), "0.1e-99999"]
        {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }

    #[test]
    fn sums_and_orders_are_exact() {
        assert_eq!(read("0.1").plus(read("0.2")), Some(read("0.3")));
        assert_eq!(read("9007199254740993").plus(read("-1e-3")).unwrap().to_string(), "9007199254740992.999");
        assert_eq!(read(&"9".repeat(36)).plus(read("1e-36")), None);
        for (less, more) in [("-1", "1"), ("1.1", "1.11"), ("-1.11", "-1.1"), ("0.9", "10"), ("-0.5", "0")] {
            assert!(read(less) < read(more), "{less} {more}");
        }
        assert!(read(&"9".repeat(36)) > read("1e-36"));
    }

    #[test]
    fn quotients_are_exact_or_the_nearest_double() {
        for (sum, count, expected) in [("1", 2, "0.5"), ("-9", 3, "-3"), ("0.3", 3, "0.1"), ("0", 7, "0")] {
            assert_eq!(read(sum).divided_by(count), expected);
        }
        for (sum, count, nearest) in [("1", 3, 1.0 / 3.0), ("-2", 3, -2.0 / 3.0), ("10", 7, 10.0 / 7.0)] {
            assert_eq!(read(sum).divided_by(count).parse::<f64>().unwrap(), nearest);
        }
        assert!(read(&"9".repeat(36)).divided_by(u64::MAX).parse::<f64>().unwrap() > 5e16);
    }
}
