//! Text in pictures: escaped, and cut to its place.

use std::fmt::{self, Write as _};

use phasm_engine::text::is_hidden;

/// SVG or HTML text under construction.
#[derive(Debug, Default)]
pub(crate) struct Markup(pub(crate) String);

impl Markup {
    /// Appends markup. Untrusted text in it has gone through [`escaped`].
    pub(crate) fn put(&mut self, markup: fmt::Arguments<'_>) {
        // A string takes everything.
        let _taken = self.0.write_fmt(markup);
    }
}

/// Escapes untrusted text for elements and attributes of XML and HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if is_hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Returns the width of a text in letters.
pub(crate) fn cells(text: &str) -> usize {
    text.chars().map(cell).sum()
}

/// Returns the width of a character in letters: 2 for East Asian characters and pictures.
fn cell(c: char) -> usize {
    let wide = matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1_f300..=0x1_faff | 0x2_0000..=0x3_fffd);
    if wide { 2 } else { 1 }
}

/// Returns how many letters of `cell` pixels fit into a width.
pub(crate) fn letters(width: i32, cell: i32) -> usize {
    usize::try_from(width / cell).unwrap_or(0)
}

/// Returns the first line of a text, cut to `max` letters. A line that is cut ends with `…`.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if cells(line) <= max {
        return line.to_owned();
    }
    let mut width = 1;
    let fits = |c: &char| {
        width += cell(*c);
        width <= max
    };
    let mut cut: String = line.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_write_markup() {
        assert_eq!(escaped("<a b='c\">&"), "&lt;a b=&#39;c&quot;&gt;&amp;");
        assert_eq!(escaped("a\u{0}\u{1b}\u{202e}\u{ffff}b\n"), "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b\n");
    }

    #[test]
    fn long_text_is_cut_by_its_visible_width() {
        let rows =
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…"), ("a\nb", 9, "a"), ("", 3, "")];
        for (text, max, expected) in rows {
            assert_eq!(clipped(text, max), expected);
        }
    }
}
