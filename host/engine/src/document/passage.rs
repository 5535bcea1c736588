//! Texts of a document, and where their parts stand in the source.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use crate::tree::{Span, Spelling, Style, Tree};

/// A text and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) text: Arc<str>,
    span: Span,
    written: Option<Arc<Spelling>>,
    marks: OnceLock<Vec<Position>>,
}

/// A place in a text, and in the source it is written in.
#[derive(Clone, Copy, Debug)]
struct Position {
    text: usize,
    source: usize,
    line: u32,
    column: u32,
}

/// Every how many bytes of the text a position is noted, so that any part is found quickly.
const STRIDE: usize = 64;

impl Passage {
    /// `text`, which stands where `tree` does.
    pub(crate) fn new(text: Arc<str>, tree: &Tree) -> Self {
        Self { text, span: tree.span, written: tree.written.clone(), marks: OnceLock::new() }
    }

    /// Where the part `range`, in bytes, of the text is written; nothing in a document without source text.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Span> {
        if self.span.line == 0 {
            return None;
        }
        let (start, end) = (self.position(range.start)?, self.position(range.end)?);
        let offset = self.span.start + self.lead()?;
        let Position { line, column, .. } = start;
        Some(Span { line, column, start: offset + start.source, end: offset + end.source })
    }

    /// Bytes before the source that is walked through: the quote of a text that is otherwise written as it is.
    fn lead(&self) -> Option<usize> {
        if self.written.is_some() {
            return Some(0);
        }
        match self.span.end.checked_sub(self.span.start)?.checked_sub(self.text.len())? {
            0 => Some(0),
            2 => Some(1),
            _ => None,
        }
    }

    fn position(&self, at: usize) -> Option<Position> {
        let marks = self.marks.get_or_init(|| self.marks());
        let mark = marks.get(marks.partition_point(|mark| mark.text <= at).saturating_sub(1))?;
        self.walk(*mark).until(at)
    }

    fn walk(&self, position: Position) -> Walk<'_> {
        match &self.written {
            Some(written) => {
                Walk { source: &written.source, style: written.style, text: &self.text, position }
            }
            None => Walk { source: &self.text, style: Style::Plain, text: &self.text, position },
        }
    }

    fn marks(&self) -> Vec<Position> {
        let Some(lead) = self.lead() else { return Vec::new() };
        let column = self.span.column.saturating_add(u32::try_from(lead).unwrap_or(0));
        let mut walk = self.walk(Position { text: 0, source: 0, line: self.span.line, column });
        walk.begin();
        let mut marks = vec![walk.position];
        while let Some(()) = walk.step() {
            if marks.last().is_some_and(|mark| walk.position.text >= mark.text + STRIDE) {
                marks.push(walk.position);
            }
        }
        marks
    }
}

/// Goes through a text and its source side by side.
#[derive(Debug)]
struct Walk<'a> {
    source: &'a str,
    style: Style,
    text: &'a str,
    position: Position,
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
const BREAKS: [char; 2] = ['\n', '\r'];

impl Walk<'_> {
    /// Steps over the opening quote, or the empty lines that a block begins with.
    fn begin(&mut self) {
        if self.style == Style::Plain {
            self.advance(blanks(self.source), blanks(self.text));
        } else {
            self.advance(1, 0);
        }
    }

    fn until(mut self, at: usize) -> Option<Position> {
        while self.position.text < at {
            self.step()?;
        }
        Some(self.position)
    }

    /// Steps over one letter of the text, or over a line's end with what is folded into it. Nothing at the end, and where
    /// the two do not agree.
    fn step(&mut self) -> Option<()> {
        let source = self.source.get(self.position.source..)?;
        let text = self.text.get(self.position.text..)?;
        let letter = text.chars().next()?;
        let blank = blanks(source);
        let (from, to) = if source.get(..blank)?.contains(BREAKS) {
            (blank, blanks(text))
        } else if self.style == Style::Double && source.starts_with('\\') {
            let (length, is_letter) = escape(source)?;
            (length, if is_letter { letter.len_utf8() } else { 0 })
        } else if self.style == Style::Single && source.starts_with("''") {
            (2, 1)
        } else {
            (source.starts_with(letter).then_some(letter.len_utf8())?, letter.len_utf8())
        };
        self.advance(from, to);
        Some(())
    }

    fn advance(&mut self, source: usize, text: usize) {
        let passed = self.source.get(self.position.source..).and_then(|rest| rest.get(..source));
        let passed = passed.unwrap_or_default();
        let breaks = passed.replace("\r\n", "\n").matches(BREAKS).count();
        let behind = passed.rsplit(BREAKS).next().unwrap_or_default().chars().count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let Position { line, column, .. } = &mut self.position;
        *line = line.saturating_add(number(breaks));
        *column = if breaks > 0 { number(behind + 1) } else { column.saturating_add(number(behind)) };
        self.position.source += source;
        self.position.text += text;
    }
}

/// Bytes of white space that a text begins with.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(BLANKS).len()
}

/// Bytes of the escape that `source` begins with, and whether it stands for a letter: not at the end of a line.
fn escape(source: &str) -> Option<(usize, bool)> {
    let letter = source.chars().nth(1)?;
    if BREAKS.contains(&letter) {
        return Some((1 + blanks(source.get(1..)?), false));
    }
    let digits = match letter {
        'x' => 2,
        'u' if is_high_surrogate(source.get(2..6)?) => 10,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    Some((1 + letter.len_utf8() + digits, true))
}

fn is_high_surrogate(digits: &str) -> bool {
    u32::from_str_radix(digits, 16).is_ok_and(|code| (0xD800..0xDC00).contains(&code))
}

/// The word that stands at `offset`, or the one character.
pub(super) fn word_at(text: &str, offset: usize) -> Range<usize> {
    let rest = text.get(offset..).unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let length = if name > 0 { name } else { rest.chars().next().map_or(0, char::len_utf8) };
    offset..offset + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeNode;

    /// Where `part` is when `source` stands in line 3, column 5 and means `text`, and what is written there.
    fn found<'s>(style: Style, source: &'s str, text: &str, part: &str) -> Option<(u32, u32, &'s str)> {
        let span = Span { line: 3, column: 5, start: 0, end: source.len() };
        let is_verbatim = source == text || source.get(1..source.len() - 1) == Some(text);
        let written = Spelling { style, source: source.into() };
        let tree = Tree {
            written: (!is_verbatim).then(|| Arc::new(written)),
            ..Tree::new(TreeNode::String(text.into()), span)
        };
        let at = text.find(part).unwrap();
        let found = Passage::new(text.into(), &tree).part(at..at + part.len())?;
        Some((found.line, found.column, &source[found.start..found.end]))
    }

    #[test]
    fn parts_are_found_in_one_line() {
        let rows = [
            (Style::Plain, "a == bc", "a == bc", "bc", (3, 10, "bc")),
            (Style::Single, "'a == bc'", "a == bc", "bc", (3, 11, "bc")),
            (Style::Double, r#""ü == bc""#, "ü == bc", "bc", (3, 11, "bc")),
            (Style::Single, "'a == ''x'' or bc'", "a == 'x' or bc", "bc", (3, 20, "bc")),
            (Style::Single, r#"'a == ''x'' or "b"'"#, r#"a == 'x' or "b""#, "or", (3, 17, "or")),
            (Style::Double, r#""a == \"x\" or bc""#, r#"a == "x" or bc"#, r#""x""#, (3, 11, r#"\"x\""#)),
            (Style::Double, r#""a\n or bc""#, "a\n or bc", "bc", (3, 13, "bc")),
            (Style::Double, r#""\u00e9 \x41 \ud83d\ude00 bc""#, "é A 😀 bc", "bc", (3, 31, "bc")),
        ];
        for (style, source, text, part, expected) in rows {
            assert_eq!(found(style, source, text, part), Some(expected), "{source}");
        }
    }

    #[test]
    fn parts_are_found_on_other_lines() {
        let rows = [
            // `|`: the source begins with the first letter.
            (
                Style::Plain,
                "one\n    two\n\n      three bc\n",
                "one\ntwo\n\n  three bc\n",
                "bc",
                (6, 13, "bc"),
            ),
            (Style::Plain, "one\r\n    bc\r\n", "one\nbc\n", "bc", (4, 5, "bc")),
            (Style::Plain, "bc\n  ", "\n\nbc", "bc", (3, 5, "bc")),
            // `>`, folded; and texts that go on in the next line.
            (Style::Plain, "one\n    two\n\n    bc\n", "one two\nbc\n", "bc", (6, 5, "bc")),
            (Style::Plain, "a\n    == bc", "a == bc", "bc", (4, 8, "bc")),
            (Style::Single, "'a  \n  ''b'' bc'", "a 'b' bc", "bc", (4, 9, "bc")),
            (Style::Double, "\"a\\\n  b \\\"\n\n bc\"", "ab \"\nbc", "bc", (6, 2, "bc")),
        ];
        for (style, source, text, part, expected) in rows {
            assert_eq!(found(style, source, text, part), Some(expected), "{source}");
        }
    }

    #[test]
    fn what_does_not_agree_has_no_place() {
        assert_eq!(found(Style::Double, r#""x bc""#, "y bc and more", "bc"), None);
        let program = Tree::new(TreeNode::String("a".into()), Span::default());
        assert_eq!(Passage::new("a".into(), &program).part(0..1), None);
    }

    /// However long the text and however many its parts, each is found from a mark near it.
    #[test]
    fn every_part_of_a_long_text_is_near_a_mark() {
        let text = "line of text\n".repeat(10_000);
        let source = text.replace('\n', "\n    ");
        let span = Span { line: 1, column: 5, start: 0, end: source.len() };
        let written = Spelling { style: Style::Plain, source: source.into() };
        let tree = Tree {
            written: Some(Arc::new(written)),
            ..Tree::new(TreeNode::String(text.as_str().into()), span)
        };
        let passage = Passage::new(text.as_str().into(), &tree);
        let last = passage.part(text.len() - 5..text.len() - 1).unwrap();
        assert_eq!((last.line, last.column), (10_000, 13));
        let marks = passage.marks.get().unwrap();
        assert!(marks.windows(2).all(|pair| pair[1].text - pair[0].text < STRIDE + 16));
    }

    #[test]
    fn words_end_where_names_do() {
        assert_eq!(word_at("a == b-c.d", 5), 5..8);
        assert_eq!(word_at("a = b", 2), 2..3);
        assert_eq!(word_at("é", 0), 0..2);
        assert_eq!(word_at("a", 1), 1..1);
    }
}
