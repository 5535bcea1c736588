//! Words, colours and lengths of time for people.

use std::{borrow::Cow, fmt::Display};

use anstyle::{AnsiColor, Style};
use console::measure_text_width;
pub(crate) use phasm::engine::text::elapsed;
use phasm::engine::{event::Reason, phase::Phase, text::is_hidden, value::Value};

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Something that went wrong.
pub(crate) fn bad(text: impl Display) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}

/// Something doubtful.
pub(crate) fn doubtful(text: impl Display) -> String {
    styled(AnsiColor::Yellow.on_default(), text)
}

/// Emphasised text.
pub(crate) fn bold(text: impl Display) -> String {
    styled(Style::new().bold(), text)
}

/// Text of little importance.
pub(crate) fn dim(text: impl Display) -> String {
    styled(Style::new().dimmed(), text)
}

/// The colour of a phase.
pub(crate) fn colour(phase: Phase) -> Style {
    match phase {
        Phase::Created | Phase::Skipped => Style::new().dimmed(),
        Phase::Ready | Phase::Running => AnsiColor::Cyan.on_default(),
        Phase::Suspended => AnsiColor::Blue.on_default(),
        Phase::Succeeded => AnsiColor::Green.on_default(),
        Phase::Failed | Phase::Error => AnsiColor::Red.on_default(),
        Phase::Timeout => AnsiColor::Magenta.on_default(),
        Phase::Cancelled => AnsiColor::Yellow.on_default(),
    }
}

/// The word of a phase for people.
fn word(phase: Phase) -> &'static str {
    // A task that waits for a response. Events and JSON have the phase.
    if phase == Phase::Suspended { "Waiting" } else { phase.as_str() }
}

/// A phase in its colour.
pub(crate) fn phase(phase: Phase) -> String {
    styled(colour(phase), word(phase))
}

/// How something ended, and why where the phase alone does not say: `Failed (retry-exhausted)`. A clock that ran out is a timeout,
/// also where the phase is Cancelled.
pub(crate) fn ended(ended: Phase, reason: Option<Reason>) -> String {
    let counts_as = Reason::counts_as(ended, reason);
    let reason = reason.map(Reason::for_people);
    match reason {
        Some(reason) if counts_as != ended => {
            format!("{} ({ended}, {reason})", styled(colour(counts_as), "Timed out"))
        }
        Some(reason) => format!("{} ({reason})", phase(ended)),
        None => phase(ended),
    }
}

/// A good end with remarks on what did not succeed.
pub(crate) fn remarked(ended: String, remarks: &[impl AsRef<str>]) -> String {
    let remarks: Vec<&str> = remarks.iter().map(AsRef::as_ref).collect();
    if remarks.is_empty() { ended } else { format!("{ended}, {}", doubtful(clean(&remarks.join(", ")))) }
}

/// Text from strangers without what would steer the terminal, or show it as what it is not.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_hidden(c) && c != '\t';
    if !text.contains(harmful) {
        return text.into();
    }
    let mut cleaned = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if harmful(c) { cleaned.extend(c.escape_default()) } else { cleaned.push(c) }
    }
    cleaned.into()
}

/// Escapes a text for printing. Among invisible characters only line feeds, tabs and colours stay; the others are escaped as in JSON.
/// JSON with such characters in texts and keys only keeps its meaning.
pub(crate) fn printed(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_hidden(c) && c != '\t' && c != '\n';
    if !text.contains(harmful) {
        return text.into();
    }
    let mut printed = String::with_capacity(text.len() + 16);
    for (at, c) in text.char_indices() {
        let is_colour = || c == '\u{1b}' && text.get(at..).is_some_and(begins_colour);
        if harmful(c) && !is_colour() {
            printed += &format!("\\u{:04x}", u32::from(c));
        } else {
            printed.push(c);
        }
    }
    printed.into()
}

fn begins_colour(text: &str) -> bool {
    let rest = text
        .strip_prefix("\u{1b}[")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
    rest.is_some_and(|rest| rest.starts_with('m'))
}

/// At most `most` characters of one line.
pub(crate) fn short(text: &str, most: usize) -> Cow<'_, str> {
    let cleaned = clean(text);
    match cleaned.char_indices().nth(most) {
        None => cleaned,
        Some((end, _)) => format!("{}…", cleaned.get(..end).unwrap_or_default()).into(),
    }
}

/// Characters of a message: a refusal ends with the line of the configuration that grants what was refused.
pub(crate) const MAX_MESSAGE_CHARS: usize = 600;

/// A message on one line behind what leads to it; nothing, if there is none.
pub(crate) fn after(lead: &str, message: &str) -> String {
    if message.is_empty() { String::new() } else { format!("{lead}{}", short(message, MAX_MESSAGE_CHARS)) }
}

/// Returns a message without the refusals of a guest, which stand at its end and are reported elsewhere.
pub(crate) fn without_refusals(message: &str) -> &str {
    match message.split_once("; refused: ") {
        Some((message, _)) => message,
        None if message.starts_with("refused: ") => "refused",
        None => message,
    }
}

/// A value on one line: text as it is, everything else as JSON.
pub(crate) fn value(value: &Value, most: usize) -> String {
    match value {
        Value::String(text) => short(text, most).into_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            short(&value.to_json(), most).into_owned()
        }
    }
}

/// Lines of cells that stand below each other.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let pad = " ".repeat(width.saturating_sub(measure_text_width(cell)));
            format!("{cell}{pad}")
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Rows below a dim header; nothing if there are no rows.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let lines: Vec<_> = [header.map(dim)].into_iter().chain(rows).collect();
    if lines.len() > 1 { columns(&lines) } else { String::new() }
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_one_sees() {
        let rows = [["a", "bb", "c"], ["日本", "b", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "a     bb  c\n日本  b\n");
        assert_eq!(
            anstream::adapter::strip_str(&columns(&[[bad("a"), "b".to_owned()]])).to_string(),
            "a  b\n"
        );
    }

    #[test]
    fn strangers_do_not_steer_the_terminal() {
        assert_eq!(clean("plain\ttext ü"), "plain\ttext ü");
        assert_eq!(clean("\u{1b}[2Jgone\r\n\u{9b}x"), "\\u{1b}[2Jgone\\r\\n\\u{9b}x");
        assert_eq!(clean("a\u{202e}b\u{2028}c"), "a\\u{202e}b\\u{2028}c");
        assert_eq!(short("abcdef", 3), "abc…");
        assert_eq!(short("abc", 3), "abc");
    }

    /// R-L9: every character there is, as value and key.
    #[test]
    fn json_comes_out_as_it_went_in() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for characters in all.chunks(4096) {
            let texts = characters.iter().map(|c| (format!("{c}x"), serde_json::json!(format!("{c}{c}"))));
            let value = serde_json::Value::Object(texts.collect());
            let out = anstream::adapter::strip_str(&printed(&value.to_string())).to_string();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap(), value);
        }
    }

    #[test]
    fn only_colours_get_through() {
        let coloured = bad("a\tb\n");
        assert_eq!(printed(&coloured), coloured);
        let rows = [
            ("\u{1b}[2Jx", "\\u001b[2Jx"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("gone\rok", "gone\\u000dok"),
            ("\u{202e}lufmrah\u{9b}1m", "\\u202elufmrah\\u009b1m"),
        ];
        for (text, expected) in rows {
            assert_eq!(printed(text), expected);
        }
    }

    #[test]
    fn values_stand_on_one_line() {
        assert_eq!(value(&"a\nb".into(), 10), "a\\nb");
        assert_eq!(value(&vec![Value::from(1), Value::Null].into(), 10), "[1,null]");
    }
}
