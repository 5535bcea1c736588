//! Numbers: exact comparison across integers and doubles, and checked arithmetic.

use std::cmp::Ordering;

use crate::value::Number;

/// A number on its way through an operation. Integers are those of JSON, −2^63 to 2^64 − 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Num {
    Int(i128),
    /// Always finite.
    Float(f64),
}

/// The bounds of a double that `i128` represents exactly.
const I128_RANGE: f64 = 1.0e38;

impl From<&Number> for Num {
    fn from(number: &Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Self::Int(int.into()),
            (None, Some(int)) => Self::Int(int.into()),
            (None, None) => Self::Float(number.as_f64().unwrap_or_default()),
        }
    }
}

impl Num {
    pub(super) fn to_number(self) -> Option<Number> {
        match self {
            Self::Int(int) => {
                i64::try_from(int).map(Number::from).or_else(|_| u64::try_from(int).map(Number::from)).ok()
            }
            Self::Float(float) => Number::from_f64(float),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "what a double cannot hold is rounded, as everywhere")]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// This as an integer of 64 bits, if it is one by value.
    #[expect(clippy::cast_possible_truncation, reason = "only what fits is cast")]
    pub(super) fn whole(self) -> Option<i64> {
        match self {
            Self::Int(int) => i64::try_from(int).ok(),
            Self::Float(float) if float.fract() == 0.0 && float.abs() < 9.0e15 => Some(float as i64),
            Self::Float(_) => None,
        }
    }

    /// The order by value; `1` and `1.0` are equal, and no digits of large integers are lost.
    pub(super) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Int(a), Self::Float(b)) => int_to_float(a, b),
            (Self::Float(a), Self::Int(b)) => int_to_float(b, a).reverse(),
        }
    }

    /// `self operator other`.
    ///
    /// # Errors
    /// Why there is no result: a division by zero, or one that no number holds.
    pub(super) fn compute(self, operator: u8, other: Self) -> Result<Self, &'static str> {
        if matches!(operator, b'/' | b'%') && other.as_f64() == 0.0 {
            return Err("division by zero");
        }
        let result = match (self, other) {
            (Self::Int(a), Self::Int(b)) => integers(operator, a, b),
            (Self::Int(_) | Self::Float(_), Self::Int(_) | Self::Float(_)) => {
                Some(Self::Float(floats(operator, self.as_f64(), other.as_f64())))
            }
        };
        result.and_then(Self::checked).ok_or("the result is out of range")
    }

    /// `-self`.
    ///
    /// # Errors
    /// When it does not fit in 64 bits.
    pub(super) fn negate(self) -> Result<Self, &'static str> {
        Self::Int(0).compute(b'-', self)
    }

    /// Results are signed integers of 64 bits or finite.
    fn checked(self) -> Option<Self> {
        match self {
            Self::Int(int) => i64::try_from(int).is_ok().then_some(self),
            Self::Float(float) => float.is_finite().then_some(self),
        }
    }
}

fn integers(operator: u8, a: i128, b: i128) -> Option<Num> {
    Some(match operator {
        b'+' => Num::Int(a.checked_add(b)?),
        b'-' => Num::Int(a.checked_sub(b)?),
        b'*' => Num::Int(a.checked_mul(b)?),
        b'%' => Num::Int(a.checked_rem(b)?),
        _ if a.checked_rem(b)? == 0 => Num::Int(a.checked_div(b)?),
        _ => Num::Float(Num::Int(a).as_f64() / Num::Int(b).as_f64()),
    })
}

fn floats(operator: u8, a: f64, b: f64) -> f64 {
    match operator {
        b'+' => a + b,
        b'-' => a - b,
        b'*' => a * b,
        b'%' => a % b,
        _ => a / b,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the whole part is within the bounds checked before")]
fn int_to_float(int: i128, float: f64) -> Ordering {
    if float.abs() >= I128_RANGE {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let whole = float.trunc();
    int.cmp(&(whole as i128)).then_with(|| 0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
}
