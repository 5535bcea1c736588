//! The whole of a terminal, and its keys, until dropped: then it is as it was.

use std::io::{self, Write as _};

use anstream::adapter::strip_str;
use console::{Term, truncate_str};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use super::super::text;

/// Another page than the one with what was printed, and no cursor on it.
const TAKE: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
const HOME: &str = "\u{1b}[H";
/// Escape sequences that clear the rest of a line, and of a page.
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_REST: &str = "\u{1b}[J";

/// A terminal that is taken.
pub(crate) struct AlternateScreen {
    before: Termios,
    colours: bool,
}

impl AlternateScreen {
    /// Keys come as they are pressed and are not shown. Ctrl-C is still a signal; Ctrl-Z is not, which would leave the terminal as it is.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn take(colours: bool) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut own = before.clone();
        own.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        own.special_codes[SpecialCodeIndex::VMIN] = 1;
        own.special_codes[SpecialCodeIndex::VTIME] = 0;
        own.special_codes[SpecialCodeIndex::VSUSP] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &own)?;
        let whole = Self { before, colours };
        write(TAKE)?;
        Ok(whole)
    }

    /// Lines and columns.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (lines, columns) = Term::stdout().size();
        (lines.into(), columns.into())
    }

    /// Draws these lines over those before, at once, cut to what fits.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let (height, width) = self.size();
        let cut = lines.iter().take(height).map(|line| {
            let line = text::printed(&truncate_str(line, width, "…")).into_owned();
            let line = if self.colours { line } else { strip_str(&line).to_string() };
            line + CLEAR_LINE
        });
        write(&format!("{HOME}{}{CLEAR_REST}", cut.collect::<Vec<_>>().join("\r\n")))
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _gone = write(LEAVE);
        let _gone = tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}
