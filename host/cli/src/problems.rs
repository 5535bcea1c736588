//! Problems and warnings, for people and for programs.

use std::path::Path;

use phasm::{
    engine::problem::{
        Problem,
        codes::{executors, source, warnings},
    },
    store::view::ProblemView,
};
use serde::Serialize;

use crate::{
    command_line,
    exit::Exit,
    failure::Failure,
    plugins::dirs,
    terminal::{
        screen::{ClosedOutput, Screen},
        text,
    },
};

/// Columns of a source line that are shown around a problem.
const MAX_EXCERPT_COLUMNS: usize = 100;

/// A text with problems: what it is called, and what it says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

/// Errors and warnings in several texts.
#[derive(Debug, Default)]
pub(super) struct ProblemReport {
    errors: Vec<ProblemView>,
    warnings: Vec<ProblemView>,
}

/// JSON form of a [`ProblemReport`].
#[derive(Serialize)]
struct ReportView<'r> {
    errors: &'r [ProblemView],
    /// The earlier name of `errors`, which this format version keeps.
    problems: &'r [ProblemView],
    warnings: &'r [ProblemView],
}

impl ProblemReport {
    pub(super) fn add(&mut self, source: Source<'_>, problems: &[Problem], warnings: &[Problem]) {
        self.errors.extend(problems.iter().map(|problem| ProblemView::of(source.name, problem)));
        self.warnings.extend(warnings.iter().map(|warning| ProblemView::of(source.name, warning)));
    }

    /// Prints all as one JSON object.
    pub(super) fn print(&self, screen: &Screen) -> Result<(), ClosedOutput> {
        let Self { errors, warnings } = self;
        screen.out(&json(screen, &ReportView { errors, problems: errors, warnings }))
    }
}

/// `value` as JSON and a newline; indented where a person reads it.
pub(super) fn json(screen: &Screen, value: &impl Serialize) -> String {
    let text = if screen.is_read_by_people() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    // Serialisation cannot fail: all keys are strings and all numbers finite.
    text.unwrap_or_default() + "\n"
}

/// Shows why nothing is done: on stderr, or as JSON on stdout.
pub(super) fn refuse(screen: &Screen, source: Source<'_>, problems: &[Problem], as_json: bool) -> Failure {
    if as_json {
        let mut found = ProblemReport::default();
        found.add(source, problems, &[]);
        // A closed stdout does not change the exit status.
        let _gone = found.print(screen);
    } else {
        show(screen, source, problems);
    }
    Failure::shown(Exit::Problems)
}

/// Adds to each executor that is not installed the way to one that lies next to the workflow file, or in the working directory.
pub(super) fn with_places(found: &[Problem], document: Option<&Path>) -> Vec<Problem> {
    with_hints(found, |name| {
        let dir = dirs::unsearched(name, document)?;
        let shown = dir.to_string_lossy();
        Some(format!(
            "there is a plugin `{name}` in {shown}, where plugins are used only if the folder is named: --plugins {}",
            command_line::word(&shown)
        ))
    })
}

/// Says of each executor that is not installed that it is the server that has none.
pub(super) fn on_server(found: &[Problem]) -> Vec<Problem> {
    with_hints(found, |name| {
        Some(format!(
            "the server has no executor `{name}`, whatever this machine has; `phasm plugin add` adds one where the server runs"
        ))
    })
}

/// Gives problems about executors that are not installed the hint, if any, for the name of the executor.
fn with_hints(found: &[Problem], hint: impl Fn(&str) -> Option<String>) -> Vec<Problem> {
    let hinted = |problem: &Problem| match uninstalled(problem).and_then(&hint) {
        Some(hint) => problem.clone().with_hint(hint),
        None => problem.clone(),
    };
    found.iter().map(hinted).collect()
}

/// Returns the name of an executor that is not installed.
fn uninstalled(problem: &Problem) -> Option<&str> {
    let is_it =
        problem.code == executors::NOT_INSTALLED.code || problem.code == warnings::UNKNOWN_EXECUTOR.code;
    let rest = problem.message.strip_prefix("executor `").filter(|_| is_it)?;
    rest.split_once('`').map(|(name, _)| name)
}

/// Prints problems to stderr.
pub(super) fn show(screen: &Screen, source: Source<'_>, problems: &[Problem]) {
    print(screen, source, problems, |code| text::bad(code));
}

/// Prints warnings to stderr, the first of many.
pub(super) fn show_warnings(screen: &Screen, source: Source<'_>, warnings: &[Problem]) {
    let first = warnings.get(..MAX_WARNINGS).unwrap_or(warnings);
    // The word tells warnings from errors where there is no colour.
    print(screen, source, first, |code| text::doubtful(format_args!("warning {code}")));
    if let Some(more) = warnings.len().checked_sub(first.len()).filter(|more| *more > 0) {
        let (more, listed) = match warnings.last() {
            Some(last) if is_cut(last) => (format!("more than {}", more - 1), "the first of them"),
            _ => (more.to_string(), "them all"),
        };
        screen.err(&format!(
            "{} {more} more like these; validate --json lists {listed}\n",
            text::doubtful("warning:")
        ));
    }
}

/// Whether it says that there are more than are listed before it.
pub(super) fn is_cut(problem: &Problem) -> bool {
    [source::MORE_PROBLEMS.code, warnings::MORE_WARNINGS.code].contains(&problem.code)
}

/// Warnings that are shown to people.
const MAX_WARNINGS: usize = 20;

fn print(screen: &Screen, source: Source<'_>, problems: &[Problem], code: impl Fn(&str) -> String) {
    let lines = lines(source.text);
    let shown: String =
        problems.iter().map(|problem| paragraph(source, &lines, problem, &code(problem.code))).collect();
    if !shown.is_empty() {
        screen.err(&shown);
    }
}

/// Every line, and the offset of its first byte.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut start = 0;
    let mut found = Vec::new();
    for whole in text.split_inclusive('\n') {
        found.push((start, whole.trim_end_matches(['\n', '\r'])));
        start += whole.len();
    }
    found
}

/// `file:line:column: code: path: what; expected …`, the source line with a caret, the hint.
fn paragraph(source: Source<'_>, lines: &[(usize, &str)], problem: &Problem, code: &str) -> String {
    let name = source.name;
    let Problem { path, line, column, message, hint, span, .. } = problem;
    let place = if *line == 0 { name.to_owned() } else { format!("{name}:{line}:{column}") };
    let path = if path.is_empty() { String::new() } else { format!("{}: ", text::clean(path)) };
    let message = message.lines().map(text::clean).collect::<Vec<_>>().join("\n    ");
    let mut shown = format!("{}: {code}: {path}{message}\n", text::bold(place));
    if let Some((start, excerpted)) = (*line as usize).checked_sub(1).and_then(|at| lines.get(at)) {
        let written = source.text.get(span.start..span.end).and_then(|text| text.lines().next());
        let width = written.map_or(1, |text| text.chars().take(MAX_EXCERPT_COLUMNS).count());
        let at = span.start.saturating_sub(*start).min(excerpted.len());
        let (before, after) = excerpted.split_at_checked(at).unwrap_or(("", excerpted));
        shown += &excerpt(before, after, *line, width);
    }
    if let Some(hint) = hint {
        shown += &format!(
            "        {} {}\n",
            text::bold("hint:"),
            text::clean(hint).replace("\\n", "\n              ")
        );
    }
    shown
}

/// The source line, cut to what is near the caret, and a caret under it. Looks at no more of a line than it shows.
fn excerpt(before: &str, after: &str, line: u32, width: usize) -> String {
    let visible = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let mut left: Vec<char> = before.chars().rev().take(MAX_EXCERPT_COLUMNS - 20 + 1).map(visible).collect();
    let cut = left.len() > MAX_EXCERPT_COLUMNS - 20;
    if cut {
        left.truncate(20);
    }
    left.reverse();
    let mut right = after.chars().map(visible);
    let rest: String = right.by_ref().take(MAX_EXCERPT_COLUMNS - left.len()).collect();
    let pad: String = left
        .iter()
        .flat_map(|c| std::iter::repeat_n(if *c == '\t' { '\t' } else { ' ' }, cells(*c)))
        .collect();
    let carets = "^".repeat(width.clamp(1, rest.chars().count().max(1)));
    let shown: String = left.into_iter().chain(rest.chars()).collect();
    let (open, close) = (if cut { "…" } else { "" }, if right.next().is_some() { "…" } else { "" });
    let indent = if cut { " " } else { "" };
    format!(
        "{} {open}{shown}{close}\n{} {indent}{pad}{}\n",
        text::dim(format_args!("{line:>5} |")),
        text::dim("      |"),
        text::bad(carets)
    )
}

/// Cells of a terminal that a character takes.
fn cells(c: char) -> usize {
    if c == '\t' { 1 } else { unicode_width::UnicodeWidthChar::width(c).unwrap_or(1) }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use phasm::engine::{path::Path, problem::codes::source::SYNTAX, tree::Span};

    use super::*;

    fn shown(text: &str, line: u32, column: u32, written: std::ops::Range<usize>) -> String {
        let span = Span { line, column, start: written.start, end: written.end };
        let problem = Problem::new(&SYNTAX, &Path::root().key("spec"), span, "found x; expected y");
        let lines = lines(text);
        let paragraph = paragraph(Source { name: "w.yaml", text }, &lines, &problem, problem.code);
        strip_str(&paragraph).to_string()
    }

    #[test]
    fn a_caret_stands_under_what_is_meant() {
        let expected = "w.yaml:2:4: P001: spec: found x; expected y\n    2 | b: cde\n      |    ^^^\n";
        assert_eq!(shown("a\nb: cde\n", 2, 4, 5..8), expected);
    }

    /// R-L9: several lines of another program stay lines, below the place and further to the right, so that none looks like one.
    #[test]
    fn a_message_of_several_lines_is_shown_as_lines() {
        let message = "plugin `greet` does not build; cargo says:\nerror[E0609]: no field\n  --> src/lib.rs:14\u{1b}[31m";
        let problem = Problem::new(&SYNTAX, &Path::root(), Span::default(), message);
        let paragraph = paragraph(Source { name: "w.yaml", text: "" }, &[], &problem, problem.code);
        let expected = "w.yaml: P001: plugin `greet` does not build; cargo says:\n    error[E0609]: no field\n      --> \
                        src/lib.rs:14\\u{1b}[31m\n";
        assert_eq!(strip_str(&paragraph).to_string(), expected);
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_caret_in_place() {
        assert!(shown("\t日本: x", 1, 6, 9..10).ends_with("    1 | \t日本: x\n      | \t      ^\n"));
    }

    #[test]
    fn carets_end_with_the_line_and_there_is_always_one() {
        assert!(shown("ab\ncd\n", 1, 2, 1..6).ends_with("|  ^\n"), "a value of several lines");
        assert!(shown("ab\n", 1, 3, 2..2).ends_with("|   ^\n"), "the end of the line");
        assert!(shown("ab\n", 1, 99, 98..99).contains("ab\n"), "a column that is not there");
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let text = format!("{}key: value{}", "x".repeat(500), "y".repeat(500));
        let paragraph = shown(&text, 1, 501, 500..503);
        let mut lines = paragraph.lines().skip(1);
        let (source, caret) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(source.chars().count() < 120, "{source}");
        let at = caret.chars().position(|c| c == '^').unwrap();
        assert_eq!(source.chars().skip(at).take(3).collect::<String>(), "key");
    }

    #[test]
    fn without_a_place_the_file_alone_is_named() {
        assert_eq!(shown("a", 0, 0, 0..0), "w.yaml: P001: spec: found x; expected y\n");
    }
}
