//! Where a part of a text stands in the source, as far as that can be known without the source.

use std::ops::Range;

use crate::{expr::MAX_LENGTH, tree::Span};

/// How a scalar is written: what a character of the text takes up in the source.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// As it is, in this many quotes in all.
    Verbatim { quotes: usize },
    /// In single quotes, each of its own doubled.
    Doubled,
    /// In double quotes, with as few escapes as JSON needs.
    Escaped,
}

const STYLES: [Style; 4] =
    [Style::Verbatim { quotes: 0 }, Style::Verbatim { quotes: 2 }, Style::Doubled, Style::Escaped];

impl Style {
    fn quotes(self) -> usize {
        match self {
            Self::Verbatim { quotes } => quotes,
            Self::Doubled | Self::Escaped => 2,
        }
    }

    /// The source's bytes and characters for `c`; a line break that is no escape stands for the end of the line.
    fn extent(self, c: char) -> Option<(usize, usize)> {
        match (self, c) {
            (Self::Doubled, '\'') | (Self::Escaped, '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}') => {
                Some((2, 2))
            }
            (Self::Escaped, '\0'..='\u{1f}') => Some((6, 6)),
            (Self::Verbatim { .. } | Self::Doubled, '\n' | '\r') => None,
            (Self::Verbatim { .. } | Self::Doubled | Self::Escaped, _) => Some((c.len_utf8(), 1)),
        }
    }

    /// Bytes and characters from the beginning of the source to what `text` is written as.
    fn measure(self, text: &str) -> Option<(usize, usize)> {
        let half = self.quotes() / 2;
        text.chars().try_fold((half, half), |(bytes, characters), c| {
            let (more_bytes, more) = self.extent(c)?;
            Some((bytes + more_bytes, characters + more))
        })
    }
}

/// The part `range`, in bytes, of `text`, which is written at `span`. `None` where folding or escapes leave it open how it
/// is written, and in a text longer than any expression: it would be measured again for each of its many parts.
pub(super) fn inside(span: Span, text: &str, range: Range<usize>) -> Option<Span> {
    if span.line == 0 || text.len() > MAX_LENGTH {
        return None;
    }
    let length = span.end.checked_sub(span.start)?;
    let (before, through) = (text.get(..range.start)?, text.get(..range.end)?);
    let fits =
        |style: &&Style| style.measure(text).is_some_and(|(bytes, _)| bytes + style.quotes() / 2 == length);
    let place = |style: &Style| Some((style.measure(before)?, style.measure(through)?.0));
    let mut places = STYLES.iter().filter(fits).map(place);
    let first = places.next()??;
    if places.any(|other| other != Some(first)) {
        return None;
    }
    let ((start, column), end) = first;
    let column = span.column.saturating_add(u32::try_from(column).ok()?);
    Some(Span { line: span.line, column, start: span.start + start, end: span.start + end })
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

    /// What the span of `part` covers when `source` stands in column 5 and means `text`.
    fn found<'s>(source: &'s str, text: &str, part: &str) -> Option<(u32, &'s str)> {
        let span = Span { line: 3, column: 5, start: 0, end: source.len() };
        let at = text.find(part).unwrap();
        let found = inside(span, text, at..at + part.len())?;
        assert_eq!(found.line, 3);
        Some((found.column, &source[found.start..found.end]))
    }

    #[test]
    fn parts_are_found_however_the_text_is_written() {
        let rows = [
            ("a == bc", "a == bc", "bc", Some((10, "bc"))),
            ("'a == bc'", "a == bc", "bc", Some((11, "bc"))),
            (r#""a == bc""#, "a == bc", "bc", Some((11, "bc"))),
            (r#""ü == bc""#, "ü == bc", "bc", Some((11, "bc"))),
            ("'a == ''x'' or bc'", "a == 'x' or bc", "bc", Some((20, "bc"))),
            (r#""a == \"x\" or bc""#, r#"a == "x" or bc"#, "bc", Some((20, "bc"))),
            (r#""a == \"x\" or bc""#, r#"a == "x" or bc"#, r#""x""#, Some((11, r#"\"x\""#))),
            (r#""a\n or bc""#, "a\n or bc", "bc", Some((13, "bc"))),
            // Either kind of quotes would be as long: only what stands before the difference is certain.
            (r#"'a == ''x'' or "b"'"#, r#"a == 'x' or "b""#, "a", Some((6, "a"))),
            (r#"'a == ''x'' or "b"'"#, r#"a == 'x' or "b""#, "or", None),
            ("a\n    == bc", "a == bc", "bc", None),
            ("|\n    a\n    == bc", "a\n== bc\n", "bc", None),
        ];
        for (source, text, part, expected) in rows {
            assert_eq!(found(source, text, part), expected, "{source}");
        }
        assert_eq!(inside(Span::default(), "a", 0..1), None);
    }

    #[test]
    fn words_end_where_names_do() {
        assert_eq!(word_at("a == b-c.d", 5), 5..8);
        assert_eq!(word_at("a = b", 2), 2..3);
        assert_eq!(word_at("é", 0), 0..2);
        assert_eq!(word_at("a", 1), 1..1);
    }
}
