//! Colons without their space, with a space too many, and not at all.

use super::{
    Mistake, Stop,
    indentation::{dash, shifted},
    line::Line,
    quotes::quoted,
    shown,
};

/// Explains an unexpected `: `.
pub(super) fn colon(stop: &Stop<'_>) -> Option<Mistake> {
    if stop.says(&["block sequence entries are not allowed"]) {
        return list_in_line(stop);
    }
    if !stop.says(&["mapping values are not allowed", "simple key expect"]) {
        return None;
    }
    let line = Line::holding(stop.text, stop.at)?;
    if let Some(found) = second_in_line(stop, line) {
        return Some(found);
    }
    let above = line.above(stop.text).next()?;
    dash(above)
        .or_else(|| missing_space(above))
        .or_else(|| indented(line, above))
        .or_else(|| missing(above, stop.text))
}

/// `tasks: - a`
fn list_in_line(stop: &Stop<'_>) -> Option<Mistake> {
    let line = Line::holding(stop.text, stop.at)?;
    let (key, _) = line.member()?;
    let message = "a list in the line of its key; expected it below".to_owned();
    let hint = format!(
        "end the line behind {} and begin each element on a line of its own with `- `",
        shown(&format!("{key}:"), "the colon")
    );
    Some(Mistake { at: stop.at..line.end(), message, hint })
}

/// `a: see: this`
fn second_in_line(stop: &Stop<'_>, line: Line<'_>) -> Option<Mistake> {
    let (key, value) = line.member()?;
    let first = line.start + line.column() + key.len();
    if stop.at <= first || value.is_empty() {
        return None;
    }
    let message = "a second `: ` in this line; expected one key and its value".to_owned();
    let hint = match shown(&format!("{key}: {}", quoted(value)), "") {
        written if written.is_empty() => "put the text in quotes".to_owned(),
        written => format!("put the text in quotes: {written}"),
    };
    Some(Mistake { at: stop.at..stop.at + 1, message, hint })
}

/// `entrypoint:main`
fn missing_space(above: Line<'_>) -> Option<Mistake> {
    let content = above.content();
    let start = above.start + above.column();
    let (key, value) = content.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !is_key || value.is_empty() || value.starts_with(' ') {
        return None;
    }
    let message = format!(
        "no space behind the colon of {}; expected a key and its value",
        shown(content, "the line above")
    );
    let hint = format!("write {}", shown(&format!("{key}: {value}"), "a space behind the colon"));
    Some(Mistake { at: start..start + content.len(), message, hint })
}

/// A line that starts further right than the one above, which has a value already.
fn indented(line: Line<'_>, above: Line<'_>) -> Option<Mistake> {
    let (_, value) = above.member()?;
    let column = above.column();
    (!value.is_empty() && line.indent() > column).then(|| shifted(line, above, column))
}

/// `entrypoint main`, or a key alone.
fn missing(above: Line<'_>, text: &str) -> Option<Mistake> {
    let content = above.content();
    if above.member().is_some() || content.contains(['"', '\'', '[', '{']) {
        return None;
    }
    let start = above.start + above.column();
    let before = above.above(text).find(|before| before.indent() <= above.indent());
    let is_item = before.is_some_and(|b| b.indent() == above.indent() && b.column() > b.indent());
    let meant = match content.split_once(' ') {
        _ if is_item => format!("- {content}"),
        Some((key, value)) => format!("{key}: {}", value.trim_start()),
        None => format!("{content}:"),
    };
    let message = match is_item {
        true => {
            format!("no dash in front of {}; expected the list's next element", shown(content, "this line"))
        }
        false => format!("no colon in {}; expected a key", shown(content, "this line")),
    };
    Some(Mistake {
        at: start..start + content.len(),
        message,
        hint: format!("write {}", shown(&meant, "it as a member")),
    })
}
