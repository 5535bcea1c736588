//! Brackets and braces that do not close, or close too much.

use super::{Mistake, Stop, line::Line, quotes::quoted, shown};

/// Explains a mistake with brackets.
pub(super) fn bracket(stop: &Stop<'_>) -> Option<Mistake> {
    if stop.says(&["misplaced bracket"]) {
        return misplaced(stop);
    }
    match stop.bracket {
        Some(opening) => open(stop, opening),
        None => behind(stop),
    }
}

fn misplaced(stop: &Stop<'_>) -> Option<Mistake> {
    let sign = stop.rest().chars().next()?;
    let message = format!("`{sign}` closes nothing; expected none here");
    let hint = "remove it, or put the text that it belongs to in quotes".to_owned();
    Some(Mistake { at: stop.at..stop.at + sign.len_utf8(), message, hint })
}

fn open(stop: &Stop<'_>, opening: usize) -> Option<Mistake> {
    let sign = stop.text.get(opening..)?.chars().next()?;
    let closing = if sign == '[' { ']' } else { '}' };
    let (first, last) = (Line::holding(stop.text, opening)?, Line::holding(stop.text, stop.at)?);
    let is_left = first.start < last.start && last.indent() <= first.column();
    if is_left || stop.rest().trim().is_empty() {
        let message = format!("`{sign}` without its `{closing}`; expected it in this line, or further down");
        return Some(Mistake { at: opening..opening + 1, message, hint: close(first, closing) });
    }
    let found = stop.rest().chars().next().filter(|found| matches!(found, ']' | '}') && *found != closing);
    let message = match found {
        Some(found) => format!("`{found}` where `{closing}` belongs; expected `{closing}` for the `{sign}`"),
        None => format!("something between the elements; expected `,` or `{closing}`"),
    };
    let hint = match found {
        Some(_) => format!("write `{closing}`"),
        None => "separate elements with commas; put a text with `: `, `, `, brackets or braces in quotes"
            .to_owned(),
    };
    Some(Mistake { at: stop.at..stop.at + found.map_or(0, char::len_utf8), message, hint })
}

/// How to close what `line` opens.
fn close(line: Line<'_>, closing: char) -> String {
    let content = line.content().trim_end_matches(',');
    if content.ends_with(['[', '{']) {
        return format!("add the closing `{closing}`");
    }
    let mut missing = Vec::new();
    for c in content.chars() {
        match c {
            '[' => missing.push(']'),
            '{' => missing.push('}'),
            ']' | '}' => drop(missing.pop()),
            _ => {}
        }
    }
    let space = if content.contains("{ ") && closing == '}' { " " } else { "" };
    let closed = format!("{content}{space}{}", missing.into_iter().rev().collect::<String>());
    format!("close it: {}", shown(&closed, &format!("`{closing}`")))
}

/// `key: {{ a }}/b`: text behind a closing bracket.
fn behind(stop: &Stop<'_>) -> Option<Mistake> {
    let line = Line::holding(stop.text, stop.at)?;
    let sign = stop.text.get(line.start..stop.at)?.trim_end().chars().next_back()?;
    if !matches!(sign, ']' | '}') {
        return None;
    }
    let (key, value) = line.member()?;
    let message = format!("something behind the closing `{sign}`; expected the end of the value");
    let written = shown(&format!("{key}: {}", quoted(value)), "`\"…\"`");
    Some(Mistake {
        at: stop.at..line.end(),
        message,
        hint: format!("if it is text, put all of it in quotes: {written}"),
    })
}
