//! Scalars and tags of YAML 1.2's core schema.

use std::sync::Arc;

use phasm_engine::tree::TreeNode;

use crate::reader::number;

/// A scalar that cannot be kept.
#[derive(Debug, PartialEq)]
pub(super) enum ScalarError {
    /// A number outside what can be kept exactly.
    Number,
    /// A tag outside the core schema, or one that the text does not fit.
    Tag,
}

/// The value of a scalar without a tag, or with the tag `!`.
pub(super) fn resolve(text: &str, plain: bool) -> Result<TreeNode, ScalarError> {
    if plain { resolve_plain(text) } else { Ok(TreeNode::String(text.into())) }
}

/// The value of a scalar with the full tag `tag`.
pub(super) fn resolve_tagged(text: &str, tag: &str) -> Result<TreeNode, ScalarError> {
    let string = || Ok(TreeNode::String(Arc::from(text)));
    let node = match tag.strip_prefix("tag:yaml.org,2002:") {
        None if tag == "!" => return string(),
        None => return Err(ScalarError::Tag),
        Some("str") => return string(),
        Some("float") => return float(text),
        Some(kind @ ("null" | "bool" | "int")) => (kind, resolve_plain(text)?),
        Some(_) => return Err(ScalarError::Tag),
    };
    match node {
        ("null", node @ TreeNode::Null) | ("bool", node @ TreeNode::Bool(_)) => Ok(node),
        ("int", TreeNode::Number(n)) if !n.is_f64() => Ok(TreeNode::Number(n)),
        _ => Err(ScalarError::Tag),
    }
}

fn float(text: &str) -> Result<TreeNode, ScalarError> {
    match resolve_plain(text)? {
        TreeNode::Number(n) if n.is_f64() => Ok(TreeNode::Number(n)),
        TreeNode::Number(n) => {
            number::double(&n.to_string()).map(TreeNode::Number).ok_or(ScalarError::Number)
        }
        TreeNode::Null
        | TreeNode::Bool(_)
        | TreeNode::String(_)
        | TreeNode::Array(_)
        | TreeNode::Object(_) => Err(ScalarError::Tag),
    }
}

fn resolve_plain(text: &str) -> Result<TreeNode, ScalarError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Ok(TreeNode::Null),
        "true" | "True" | "TRUE" => Ok(TreeNode::Bool(true)),
        "false" | "False" | "FALSE" => Ok(TreeNode::Bool(false)),
        _ if is_not_finite(text) => Err(ScalarError::Number),
        _ => resolve_number(text).unwrap_or_else(|| Ok(TreeNode::String(text.into()))),
    }
}

/// `None` when the text is no number of the core schema.
fn resolve_number(text: &str) -> Option<Result<TreeNode, ScalarError>> {
    let kept = if let Some(digits) = prefixed(text, "0x", 16) {
        number::integer(digits, 16)
    } else if let Some(digits) = prefixed(text, "0o", 8) {
        number::integer(digits, 8)
    } else if is_digits(unsigned(text)) {
        number::integer(text, 10)
    } else if is_float(unsigned(text)) {
        number::double(text)
    } else {
        return None;
    };
    Some(kept.map(TreeNode::Number).ok_or(ScalarError::Number))
}

/// The digits behind a prefix, if there are only digits.
fn prefixed<'a>(text: &'a str, prefix: &str, radix: u32) -> Option<&'a str> {
    let digits = text.strip_prefix(prefix)?;
    (!digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))).then_some(digits)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits
        && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        && exponent.is_none_or(|exponent| is_digits(unsigned(exponent)))
}

fn is_not_finite(text: &str) -> bool {
    matches!(text, ".nan" | ".NaN" | ".NAN") || matches!(unsigned(text), ".inf" | ".Inf" | ".INF")
}

#[cfg(test)]
mod tests {
    use phasm_engine::value::Number;

    use super::*;

    fn number(text: &str) -> String {
        match resolve(text, true) {
            Ok(TreeNode::Number(n)) => n.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn numbers_of_the_core_schema() {
        let rows = [
            ("0", "0"),
            ("-0", "0"),
            ("+12", "12"),
            ("017", "17"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("0xffffffffffffffff", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5e1", "-5.0"),
            ("+1.5E-3", "0.0015"),
            ("1e3", "1000.0"),
        ];
        for (text, expected) in rows {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_kept() {
        let rows = [
            "1e400",
            "1e-400",
            "9007199254740993.0",
            "-1e400",
            "18446744073709551616",
            "-9223372036854775809",
            "0x10000000000000000",
            ".inf",
            "-.Inf",
            "+.INF",
            ".nan",
        ];
        for text in rows {
            assert_eq!(resolve(text, true), Err(ScalarError::Number), "{text}");
        }
    }

    #[test]
    fn everything_else_is_text() {
        let rows = [
            "0x",
            "0o8",
            "0b1",
            "0X1F",
            "-0x1F",
            "1_000",
            "1e",
            "e3",
            ".",
            "-",
            "+",
            "1.2.3",
            "inf",
            "nan",
            "NaN",
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "2001-01-01",
            "1:30",
            "tRue",
            "nULL",
        ];
        for text in rows {
            assert_eq!(resolve(text, true), Ok(TreeNode::String(text.into())), "{text}");
        }
        assert_eq!(resolve("1", false), Ok(TreeNode::String("1".into())));
    }

    #[test]
    fn tags_of_the_core_schema() {
        let core = |kind: &str, text: &str| resolve_tagged(text, &format!("tag:yaml.org,2002:{kind}"));
        assert_eq!(core("str", "1"), Ok(TreeNode::String("1".into())));
        assert_eq!(core("int", "0x10"), Ok(TreeNode::Number(16.into())));
        assert_eq!(core("float", "1"), Ok(TreeNode::Number(Number::from_f64(1.0).unwrap())));
        assert_eq!(core("bool", "true"), Ok(TreeNode::Bool(true)));
        assert_eq!(core("null", ""), Ok(TreeNode::Null));
        assert_eq!(resolve_tagged("1", "!"), Ok(TreeNode::String("1".into())));
        for (kind, text) in
            [("int", "1.5"), ("int", "x"), ("float", "x"), ("bool", "1"), ("null", "x"), ("set", "x")]
        {
            assert_eq!(core(kind, text), Err(ScalarError::Tag), "{kind} {text}");
        }
        assert_eq!(resolve_tagged("x", "!env"), Err(ScalarError::Tag));
    }
}
