//! Quotes that are missing, in the wrong place, or of the wrong kind.

use super::{Mistake, Stop, line::Line, shown};

/// `value` as YAML text in quotes.
pub(super) fn quoted(value: &str) -> String {
    if !value.contains(['"', '\\']) {
        format!("\"{value}\"")
    } else {
        format!("'{}'", value.replace('\'', "''"))
    }
}

/// The value that starts at `start`, to the end of its line, or of its place between brackets.
pub(super) fn value_at<'a>(stop: &Stop<'a>, start: usize, from: usize) -> &'a str {
    let Some(line) = Line::holding(stop.text, from) else { return "" };
    let behind = stop.text.get(from..line.end()).unwrap_or_default();
    let is_inside = stop.bracket.is_some_and(|bracket| bracket >= line.start);
    let end = if is_inside { behind.find([',', ']', '}']) } else { behind.find(" #") };
    let end = from + end.unwrap_or(behind.len());
    stop.text.get(start..end).unwrap_or_default().trim_end()
}

/// A quote that nothing closes.
pub(super) fn unclosed(stop: &Stop<'_>) -> Option<Mistake> {
    if !stop.says(&["in quoted scalar", "quoted scalar, found unexpected"]) {
        return None;
    }
    Some(never_closed(stop, stop.at))
}

fn never_closed(stop: &Stop<'_>, opening: usize) -> Mistake {
    let quote = stop.text.get(opening..).and_then(|text| text.chars().next()).unwrap_or('"');
    let written = value_at(stop, opening, opening);
    let text = written.strip_prefix(quote).unwrap_or_default();
    let hint = match shown(text, "") {
        text if text.is_empty() => format!("add the closing `{quote}`"),
        _ => format!("close it in its line: `{quote}{text}{quote}`"),
    };
    let message = format!("text in quotes without an end; expected a closing `{quote}`");
    Mistake { at: opening..opening + written.len().max(1), message, hint }
}

/// Something behind a closing quote.
pub(super) fn trailing(stop: &Stop<'_>) -> Option<Mistake> {
    if !stop.says(&["invalid trailing content"]) {
        return None;
    }
    let text = stop.text.get(..stop.at)?.trim_end();
    let quote = text.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let closing = text.len() - 1;
    let opening = opening(text.get(..closing)?, quote)?;
    if stop.text.get(opening..closing)?.contains(['\n', '\r']) {
        return Some(never_closed(stop, opening));
    }
    let value = value_at(stop, opening, stop.at);
    let inner = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    let is_apostrophe = closing + 1 == stop.at && stop.rest().starts_with(char::is_alphanumeric);
    let hint = match inner.filter(|_| is_apostrophe) {
        Some(inner) => within(inner, quote),
        None => format!("put quotes around all of it: {}", shown(&around(value), "`'…'`")),
    };
    let message =
        format!("text ends at this `{quote}`, and something stands behind it; expected the end of the value");
    Some(Mistake { at: closing..closing + 1, message, hint })
}

/// The quote that `closing` closes.
fn opening(before: &str, quote: char) -> Option<usize> {
    let mut rest = before;
    loop {
        let at = rest.rfind(quote)?;
        let earlier = rest.get(..at)?;
        let is_pair = quote == '\'' && earlier.ends_with('\'');
        let slashes = earlier.len() - earlier.trim_end_matches('\\').len();
        if is_pair {
            rest = earlier.get(..earlier.len() - 1)?;
        } else if quote == '"' && slashes % 2 == 1 {
            rest = earlier;
        } else {
            return Some(at);
        }
    }
}

/// A text that holds the quote it stands in.
fn within(inner: &str, quote: char) -> String {
    let doubled = if quote == '\'' { inner.replace('\'', "''") } else { inner.replace('"', "\\\"") };
    let escaped = shown(&format!("{quote}{doubled}{quote}"), "the quote twice");
    let other = if quote == '\'' { '"' } else { '\'' };
    if inner.contains(other) || inner.contains('\\') {
        return format!("write {escaped}");
    }
    format!("write {}, or {escaped}", shown(&format!("{other}{inner}{other}"), "the other quotes"))
}

/// `value`, which holds quotes, in quotes.
fn around(value: &str) -> String {
    if value.contains('\'') && !value.contains(['"', '\\']) {
        format!("\"{value}\"")
    } else {
        format!("'{}'", value.replace('\'', "''"))
    }
}

/// A backslash that begins no escape.
pub(super) fn escape(stop: &Stop<'_>) -> Option<Mistake> {
    if !stop.says(&["escape character", "hexadecimal number", "character escape code"]) {
        return None;
    }
    let text = stop.rest().strip_prefix('"')?;
    let found = wrong_escape(text)?;
    let sign = text.get(found + 1..)?.chars().next()?;
    let start = stop.at + 1 + found;
    let message = format!("`\\{sign}` where no such escape is; expected `\\\\` for a backslash");
    let inner = text.split(['"', '\n', '\r']).next().unwrap_or_default();
    let written = format!("'{}'", inner.replace('\'', "''"));
    let hint = format!("in single quotes a backslash is itself: write {}", shown(&written, "`'…'`"));
    Some(Mistake { at: start..start + 1 + sign.len_utf8(), message, hint })
}

/// The first backslash that begins no escape of YAML.
fn wrong_escape(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        if c != '\\' {
            continue;
        }
        let (_, letter) = characters.next()?;
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ if "0abt\tnvfre \"/\\N_LP\n\r".contains(letter) => continue,
            _ => return Some(at),
        };
        let code = text.get(at + 2..at + 2 + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        if code.and_then(char::from_u32).is_none() {
            return Some(at);
        }
    }
    None
}
