//! The text of all functions, cut behind the closing brace of each.

/// The text of one definition and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Definition<'t> {
    pub(super) text: &'t str,
    /// Byte offset of its beginning.
    pub(super) offset: usize,
    /// Line breaks before it.
    pub(super) line: usize,
}

impl Definition<'_> {
    pub(super) fn is_function(&self) -> bool {
        let text = self.text.strip_prefix("private ").unwrap_or(self.text).trim_start();
        text.strip_prefix("fn").is_some_and(|rest| rest.starts_with(char::is_whitespace))
    }

    /// The offset in the whole text of what stands in that line and column of the piece, both from 1.
    pub(super) fn at(&self, line: usize, column: usize) -> usize {
        let before: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let rest = self.text.get(before..).unwrap_or_default();
        let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        self.offset + before + within
    }
}

/// Cuts `text`; what follows the last closing brace is a piece as well, unless it is empty.
pub(super) fn pieces(text: &str) -> Vec<Definition<'_>> {
    let mut cutter = Cutter { text, at: 0 };
    let (mut found, mut lines, mut counted) = (Vec::new(), 0, 0);
    loop {
        cutter.skip_space();
        let start = cutter.at;
        if start >= text.len() {
            return found;
        }
        cutter.skip_definition();
        lines += text.get(counted..start).unwrap_or_default().matches('\n').count();
        counted = start;
        let piece = text.get(start..cutter.at).unwrap_or_default();
        found.push(Definition { text: piece, offset: start, line: lines });
    }
}

/// The names that stand behind `fn` in a text that may be none.
pub(super) fn names(text: &str) -> impl Iterator<Item = String> {
    text.split("fn ").skip(1).map(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default().to_owned()
    })
}

struct Cutter<'t> {
    text: &'t str,
    at: usize,
}

impl Cutter<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves behind the next `end`, or to the end of the text.
    fn skip_to(&mut self, end: &str) {
        self.at += self.rest().find(end).map_or(self.rest().len(), |at| at + end.len());
    }

    /// Moves over white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.skip_comment() {
                return;
            }
        }
    }

    fn skip_comment(&mut self) -> bool {
        if self.rest().starts_with("//") {
            self.skip_to("\n");
        } else if self.rest().starts_with("/*") {
            self.skip_to("*/");
        } else {
            return false;
        }
        true
    }

    /// Moves behind the brace that closes the first one that opens.
    fn skip_definition(&mut self) {
        let mut open = 0_usize;
        while let Some(next) = self.rest().chars().next() {
            if self.skip_comment() {
                continue;
            }
            self.at += next.len_utf8();
            match next {
                '"' | '`' => self.skip_text(next),
                '\'' => self.skip_character(),
                '{' => open += 1,
                '}' => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn skip_text(&mut self, quote: char) {
        while let Some(next) = self.rest().chars().next() {
            self.at += next.len_utf8();
            match next {
                '\\' => self.at += self.rest().chars().next().map_or(0, char::len_utf8),
                _ if next == quote => return,
                _ => {}
            }
        }
    }

    /// An apostrophe quotes no further than its line.
    fn skip_character(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.at += line.find('\'').map_or(0, |at| at + 1);
    }
}
