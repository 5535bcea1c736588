//! Lines and columns of a text.

use phasm_engine::tree::Span;

/// Every how many characters a byte offset is noted.
const STRIDE: usize = 64;

/// A text without its byte order mark, with what it takes to find a position quickly.
pub(crate) struct SourceText<'a> {
    text: &'a str,
    /// Bytes before `text` in the file.
    skipped: usize,
    /// Byte offsets of the characters 0, `STRIDE`, 2 · `STRIDE`, …
    marks: Vec<usize>,
    /// Where each line starts.
    lines: Vec<LineStart>,
}

struct LineStart {
    byte: usize,
    character: usize,
}

impl<'a> SourceText<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        let text = file.strip_prefix('\u{feff}').unwrap_or(file);
        let (mut marks, mut lines) = (Vec::new(), vec![LineStart { byte: 0, character: 0 }]);
        let mut characters = text.char_indices().enumerate().peekable();
        while let Some((character, (byte, c))) = characters.next() {
            if character % STRIDE == 0 {
                marks.push(byte);
            }
            let crlf = c == '\r' && characters.peek().is_some_and(|(_, (_, next))| *next == '\n');
            if matches!(c, '\n' | '\r') && !crlf {
                lines.push(LineStart { byte: byte + 1, character: character + 1 });
            }
        }
        Self { text, skipped: file.len() - text.len(), marks, lines }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The position of the bytes `start..end` of the text.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        let line = self.lines.partition_point(|line| line.byte <= start).saturating_sub(1);
        let before = self.lines.get(line).map_or(0, |line| line.character);
        let column = self.character_at(start) - before;
        Span {
            line: saturating(line + 1),
            column: saturating(column + 1),
            start: start + self.skipped,
            end: end + self.skipped,
        }
    }

    /// Where `span` starts in the text.
    pub(super) fn offset(&self, span: Span) -> usize {
        span.start - self.skipped
    }

    /// The text from where `span` starts.
    pub(super) fn text_from(&self, span: Span) -> &'a str {
        self.text.get(self.offset(span)..).unwrap_or_default()
    }

    /// The number of characters before byte `byte`.
    fn character_at(&self, byte: usize) -> usize {
        let mark = self.marks.partition_point(|mark| *mark <= byte).saturating_sub(1);
        let from = self.marks.get(mark).copied().unwrap_or(0);
        mark * STRIDE + self.text.get(from..byte).map_or(0, |text| text.chars().count())
    }

    /// The number of bytes before character `character`.
    pub(super) fn byte_at(&self, character: usize) -> usize {
        let Some(mark) = self.marks.get(character / STRIDE) else { return self.text.len() };
        let rest = self.text.get(*mark..).unwrap_or_default();
        rest.char_indices().nth(character % STRIDE).map_or(self.text.len(), |(offset, _)| mark + offset)
    }
}

fn saturating(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_and_column(source: &SourceText<'_>, byte: usize) -> (u32, u32) {
        let span = source.span(byte, byte);
        (span.line, span.column)
    }

    #[test]
    fn lines_end_in_any_of_the_three_ways() {
        let source = SourceText::new("a\nb\r\nc\rd");
        let found: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|byte| line_and_column(&source, byte)).into();
        assert_eq!(found, [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2)]);
    }

    #[test]
    fn columns_count_characters_and_the_mark_is_none() {
        let source = SourceText::new("\u{feff}äö: x");
        assert_eq!(source.text(), "äö: x");
        assert_eq!(source.span(4, 5), Span { line: 1, column: 3, start: 7, end: 8 });
    }

    #[test]
    fn characters_and_bytes_agree_everywhere() {
        let text: String = "aé€😀\n".repeat(100);
        let source = SourceText::new(&text);
        for (character, (byte, _)) in text.char_indices().enumerate() {
            assert_eq!(source.byte_at(character), byte);
            assert_eq!(source.character_at(byte), character);
        }
        assert_eq!(source.byte_at(500), text.len());
        assert_eq!(source.byte_at(9999), text.len());
    }
}
