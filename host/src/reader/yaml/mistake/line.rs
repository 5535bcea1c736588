//! Lines as people see them.

/// A line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Offset of its first byte.
    pub(super) start: usize,
    /// Without its end.
    pub(super) text: &'a str,
}

const ENDS: [char; 2] = ['\n', '\r'];

impl<'a> Line<'a> {
    /// The line that holds byte `at`.
    pub(super) fn holding(text: &'a str, at: usize) -> Option<Self> {
        let (before, behind) = text.split_at_checked(at)?;
        let start = before.rfind(ENDS).map_or(0, |end| end + 1);
        let end = behind.find(ENDS).map_or(text.len(), |end| at + end);
        Some(Self { start, text: text.get(start..end)? })
    }

    /// The nearest lines above that hold more than space and a comment, from the last.
    pub(super) fn above(self, text: &'a str) -> impl Iterator<Item = Self> {
        let lines = std::iter::successors(Some(self), |line| Self::holding(text, line.start.checked_sub(1)?));
        lines.skip(1).filter(|line| line.has_content())
    }

    /// The nearest line below that holds more than space and a comment.
    pub(super) fn below(self, text: &'a str) -> Option<Self> {
        let next = |line: &Self| Self::holding(text, line.end() + 1);
        std::iter::successors(next(&self), next).find(|line| line.has_content())
    }

    pub(super) fn end(self) -> usize {
        self.start + self.text.len()
    }

    fn has_content(self) -> bool {
        let text = self.text.trim_start();
        !text.is_empty() && !text.starts_with('#')
    }

    /// The columns, from 0, in which something starts: every dash of a list, and what stands behind them.
    pub(super) fn columns(self) -> Vec<usize> {
        let mut columns = vec![self.indent()];
        while let Some(rest) = self.from(columns.last().copied().unwrap_or(0)).strip_prefix("- ") {
            columns.push(self.text.len() - rest.trim_start_matches(' ').len());
        }
        columns
    }

    /// The spaces it begins with.
    pub(super) fn indent(self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    /// The column of what stands behind the dashes of lists.
    pub(super) fn column(self) -> usize {
        self.columns().last().copied().unwrap_or(0)
    }

    pub(super) fn from(self, column: usize) -> &'a str {
        self.text.get(column..).unwrap_or_default()
    }

    /// The text behind the dashes, without a comment.
    pub(super) fn content(self) -> &'a str {
        let content = self.from(self.column());
        content.split_once(" #").map_or(content, |(content, _)| content).trim_end()
    }

    /// The key and the value of `key: value`; no value of `key:`.
    pub(super) fn member(self) -> Option<(&'a str, &'a str)> {
        let content = self.content();
        let (key, value) = content.split_once(": ").or_else(|| Some((content.strip_suffix(':')?, "")))?;
        Some((key, value.trim_start()))
    }

    /// The part that names the line for a person: its key, its dash, or all of it.
    pub(super) fn name(self, column: usize) -> &'a str {
        if self.from(column).starts_with("- ") {
            return "-";
        }
        self.member().map_or(self.content(), |(key, _)| key)
    }
}
