//! A cell as a text or as a number, by what an input says that it is.

use std::cmp::Ordering;

use phasm_sdk::prelude::*;

use crate::{decimal::Decimal, table::shown};

inputs! {
    /// How cells are compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CellType {
        /// Comparison as texts, character by character.
        Text = "text",
        /// Comparison as numbers: JSON's, and texts that are one.
        Number = "number",
    }
}

/// A value of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CellValue {
    Text(String),
    Number(Decimal),
}

impl CellValue {
    /// The order of two values of one type; those of different types do not meet.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

/// Whether a cell has no value: absent, null, or an empty text.
pub(crate) fn is_empty(cell: Option<&Json>) -> bool {
    cell.is_none_or(|cell| matches!(cell.as_str().trim(), "null" | "\"\""))
}

/// Reads a cell as a type; the error says what it is instead.
pub(crate) fn read(cell: &Json, as_type: CellType) -> Result<CellValue, String> {
    let json = cell.as_str().trim();
    match as_type {
        CellType::Text if json.starts_with('"') => {
            cell.parse().map(CellValue::Text).map_err(|_| format!("expected a text, got {}", shown(cell)))
        }
        CellType::Text => {
            let hint = if is_number(json) { "; `type: number` compares numbers" } else { "" };
            Err(format!("expected a text, got {}{hint}", shown(cell)))
        }
        CellType::Number => {
            let text = if json.starts_with('"') { cell.parse().unwrap_or_default() } else { json.to_owned() };
            let number = if is_number(&text) { Decimal::read(&text) } else { None };
            number.map(CellValue::Number).ok_or_else(|| {
                let hint = if is_number(&text) { " with at most 36 digits" } else { "" };
                format!("expected a number{hint}, got {}", shown(cell))
            })
        }
    }
}

/// A cell as something that equals another cell or not, for groups and joins. Numbers and texts are never equal, 1 and 1.0 are.
pub(crate) fn identity(cell: Option<&Json>) -> Result<(&'static str, String), String> {
    let Some(cell) = cell else { return Ok(("null", String::new())) };
    let json = cell.as_str().trim();
    if json.starts_with('"') {
        return Ok(("text", cell.parse().map_err(|_| format!("expected a value, got {}", shown(cell)))?));
    }
    match json {
        "null" => Ok(("null", String::new())),
        "true" | "false" => Ok(("boolean", json.to_owned())),
        _ if is_number(json) => match Decimal::read(json) {
            Some(number) => Ok(("number", number.to_string())),
            None => Err(format!("expected a number with at most 36 digits, got {}", shown(cell))),
        },
        _ => Err(format!("expected a text, a number, a boolean or null, got {}", shown(cell))),
    }
}

/// Whether a text is a number as JSON writes them: no blanks, no leading zeros, no thousands separators.
pub(crate) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at).unwrap_or_default(), unsigned.get(at + 1..)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
