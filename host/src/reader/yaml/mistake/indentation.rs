//! Lines that start where they should not.

use super::{Mistake, Stop, line::Line, shown};

/// A tab where spaces belong.
pub(super) fn tab(stop: &Stop<'_>) -> Option<Mistake> {
    let line = Line::holding(stop.text, stop.at)?;
    let speaks_of_tabs = stop.says(&["tab"]);
    let below = || line.below(stop.text).filter(|_| speaks_of_tabs);
    let line = Some(line).filter(|line| is_tabbed(*line)).or_else(|| below().filter(|line| is_tabbed(*line)));
    let Some(line) = line else {
        let is_meant = speaks_of_tabs && stop.rest().starts_with('\t');
        return is_meant.then(|| mistake(stop.at..stop.at + 1, "write spaces instead".to_owned()));
    };
    let start = line.start + line.indent();
    let tabs = line.from(line.indent()).len() - line.text.trim_start_matches([' ', '\t']).len();
    Some(mistake(start..start + tabs, format!("begin the line with {} instead", meant(line, stop.text))))
}

fn mistake(at: std::ops::Range<usize>, hint: String) -> Mistake {
    Mistake { at, message: "a tab in the indentation; expected spaces".to_owned(), hint }
}

fn is_tabbed(line: Line<'_>) -> bool {
    line.from(line.indent()).starts_with('\t') && !line.text.trim().is_empty()
}

/// The indentation that continues the lines above.
fn meant(line: Line<'_>, text: &str) -> String {
    let Some(above) = line.above(text).find(|line| !is_tabbed(*line)) else { return "none".to_owned() };
    let opens = above.member().is_some_and(|(_, value)| value.is_empty() || value.starts_with(['|', '>']));
    spaces(above.column() + if opens { 2 } else { 0 })
}

fn spaces(number: usize) -> String {
    match number {
        0 => "no space".to_owned(),
        1 => "1 space".to_owned(),
        _ => format!("{number} spaces"),
    }
}

/// A line in a column of its own.
pub(super) fn column(stop: &Stop<'_>) -> Option<Mistake> {
    let line = Line::holding(stop.text, stop.at)?;
    let found = line.indent();
    if !stop.says(&["parsing a block"]) {
        return None;
    }
    let beside = line.above(stop.text).find(|above| above.indent() == found);
    if let Some(mistake) = beside.and_then(dash) {
        return Some(mistake);
    }
    if stop.at != line.start + found {
        return None;
    }
    let is_item = line.from(found).starts_with('-');
    let mut open = open_columns(line, stop.text);
    // A list's dash goes with a dash, a key with a key.
    open.sort_by_key(|(column, above)| (column.abs_diff(found), (above.name(*column) == "-") != is_item));
    let (column, above) = open.first().copied()?;
    if column == found {
        return missing_dash(stop, line);
    }
    Some(shifted(line, above, column))
}

/// Every column in which something above `line` still is open, and where it starts.
fn open_columns<'a>(line: Line<'a>, text: &'a str) -> Vec<(usize, Line<'a>)> {
    let mut open: Vec<(usize, Line<'a>)> = Vec::new();
    for above in line.above(text) {
        let least = open.last().map_or(usize::MAX, |(column, _)| *column);
        open.extend(above.columns().into_iter().rev().filter(|column| *column < least).map(|c| (c, above)));
        if open.last().is_some_and(|(column, _)| *column == 0) {
            break;
        }
    }
    open
}

/// `line` stands beside the line `above`, whose column it misses.
pub(super) fn shifted(line: Line<'_>, above: Line<'_>, column: usize) -> Mistake {
    let found = line.indent();
    let (name, other) = (shown(line.name(found), "this line"), shown(above.name(column), "the one above"));
    let message = format!(
        "{name} starts in column {}, and {other} above it in column {}; expected the same column",
        found + 1,
        column + 1
    );
    let hint = match found.checked_sub(column) {
        Some(more) => format!("remove {} in front of {name}", spaces(more)),
        None => format!(
            "add {} in front of {name}, or remove as many in front of {other}",
            spaces(column - found)
        ),
    };
    Mistake { at: line.start + found..line.end(), message, hint }
}

/// `-name: main`
pub(super) fn dash(line: Line<'_>) -> Option<Mistake> {
    let rest = line.content().strip_prefix('-').filter(|rest| rest.starts_with(char::is_alphabetic))?;
    let start = line.start + line.column();
    let message = "a dash without a space behind it; expected `- `".to_owned();
    Some(Mistake {
        at: start..start + 1,
        message,
        hint: format!("write {}", shown(&format!("- {rest}"), "`- `")),
    })
}

/// The column is that of a list's dashes.
fn missing_dash(stop: &Stop<'_>, line: Line<'_>) -> Option<Mistake> {
    let above = line.above(stop.text).find(|above| above.indent() == line.indent())?;
    if !stop.says(&["'-'"]) || above.column() == above.indent() {
        return None;
    }
    let name = shown(line.name(line.indent()), "this line");
    let message = format!("{name} in the column of the list's dashes; expected `- ` and the next element");
    let more = spaces(above.column() - above.indent());
    let hint = format!("write `- ` in front of it, or, if it belongs to the element above, {more}");
    Some(Mistake { at: line.start + line.indent()..line.end(), message, hint })
}
