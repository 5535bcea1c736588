//! Where the command line prints: results to stdout, everything else to stderr, around whatever moves on the terminal.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

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
        self.bars.suspend(|| {
            let mut stderr = anstream::stderr().lock();
            // There is nowhere left to complain.
            let _unheard = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        });
    }

    /// Lines that are drawn over until they are dropped.
    pub(super) fn lines(&self) -> Lines {
        Lines { screen: self.clone(), bars: Vec::new() }
    }
}

/// Lines at the bottom of a terminal. Off a terminal nothing is drawn.
pub(super) struct Lines {
    screen: Screen,
    bars: Vec<ProgressBar>,
}

impl Lines {
    /// Draws these lines in place of those before; longer ones than the terminal is wide are cut.
    pub(super) fn draw(&mut self, lines: &[String]) {
        if !self.screen.live {
            return;
        }
        if lines.is_empty() {
            // There is nothing left to complain to.
            let _cleared = self.screen.bars.clear();
        }
        for bar in self.bars.drain(lines.len().min(self.bars.len())..) {
            self.screen.bars.remove(&bar);
        }
        while self.bars.len() < lines.len() {
            self.bars.push(self.screen.bars.add(line()));
        }
        for (bar, line) in self.bars.iter().zip(lines) {
            let text = if self.screen.colours { line.clone() } else { strip_str(line).to_string() };
            bar.set_message(text);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.draw(&[]);
    }
}

fn line() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}
