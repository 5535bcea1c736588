//! Where the command line prints: results to stdout, everything else to stderr, around whatever moves on the terminal.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use console::{Term, truncate_str};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::text;

/// stdout and stderr. Text may carry ANSI colours; they are dropped where they are not wanted.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    bars: MultiProgress,
    live: bool,
    colours: bool,
}

/// Whoever read stdout has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

impl Screen {
    pub(super) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            bars: MultiProgress::new(),
            live: io::stderr().is_terminal() && !dumb,
            colours: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
        }
    }

    /// Whether lines on stderr can be drawn over.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Whether stdout is read by a person.
    pub(super) fn is_read_by_people(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Writes to stdout, all of it.
    ///
    /// # Errors
    /// [`Gone`] when nobody reads any more. A stdout that fails otherwise (a full disk) is said so once on stderr.
    pub(super) fn out(&self, text: &str) -> Result<(), Gone> {
        let text = text::printed(text);
        let written = self.bars.suspend(|| {
            let mut stdout = anstream::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        });
        written.map_err(|error| {
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.err(&format!("error: stdout cannot be written\n  caused by: {error}\n"));
            }
            Gone
        })
    }

    /// Writes to stderr, as far as somebody listens.
    pub(super) fn err(&self, text: &str) {
        let text = text::printed(text);
        self.bars.suspend(|| {
            let mut stderr = anstream::stderr().lock();
            // There is nowhere left to complain.
            let _unheard = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        });
    }

    /// Lines that are drawn over until they are dropped.
    pub(super) fn lines(&self) -> Lines {
        Lines { screen: self.clone(), bar: None }
    }
}

/// Lines at the bottom of a terminal. Off a terminal nothing is drawn.
pub(super) struct Lines {
    screen: Screen,
    /// One bar for all lines, so that they are drawn at once.
    bar: Option<ProgressBar>,
}

impl Lines {
    /// Draws these lines in place of those before, cut to the terminal's width; of more than it is high, the last.
    pub(super) fn draw(&mut self, lines: &[String]) {
        if !self.screen.live {
            return;
        }
        if lines.is_empty() {
            self.clear();
            return;
        }
        let (height, width) = Term::stderr().size();
        let first = lines.len().saturating_sub(usize::from(height.saturating_sub(1)).max(1));
        let cut = lines.iter().skip(first).map(|line| truncate_str(line, width.into(), "…"));
        let text = text::printed(&cut.collect::<Vec<_>>().join("\n")).into_owned();
        let text = if self.screen.colours { text } else { strip_str(&text).to_string() };
        self.bar.get_or_insert_with(|| self.screen.bars.add(bar())).set_message(text);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            self.screen.bars.remove(&bar);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}
