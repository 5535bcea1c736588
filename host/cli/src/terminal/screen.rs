//! Where the command line prints: results to stdout, everything else to stderr, around whatever moves on the terminal.

#[cfg(unix)]
mod alternate_screen;

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use console::{Term, truncate_str};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

#[cfg(unix)]
pub(crate) use self::alternate_screen::AlternateScreen;
use super::text;

/// stdout and stderr. Text may carry ANSI colours; they are dropped where they are not wanted.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    bars: MultiProgress,
    live: bool,
    colours: bool,
}

/// Frames a second at most.
const MAX_FRAMES_PER_SECOND: u8 = 20;
/// Characters that a terminal adds to the last line when Ctrl-C is pressed: `^C`.
const ECHO: u16 = 2;

/// A terminal with room for its own echo at the end of a line. An echo that wraps would begin a line that is never cleared.
#[derive(Debug)]
struct NarrowTerm(Term);

impl TermLike for NarrowTerm {
    fn width(&self) -> u16 {
        self.0.size().1.saturating_sub(ECHO)
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The reader of stdout has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClosedOutput;

impl Screen {
    pub(crate) fn new() -> Self {
        let target = ProgressDrawTarget::term_like_with_hz(
            Box::new(NarrowTerm(Term::buffered_stderr())),
            MAX_FRAMES_PER_SECOND,
        );
        Self {
            bars: MultiProgress::with_draw_target(target),
            live: io::stderr().is_terminal() && !is_dumb(),
            colours: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
        }
    }

    /// Whether lines on stderr can be drawn over.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Whether stdout is read by a person.
    pub(crate) fn is_read_by_people(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether stdout is a terminal with a user who can press keys.
    pub(crate) fn takes_keys(&self) -> bool {
        self.is_read_by_people() && io::stdin().is_terminal() && !is_dumb()
    }

    /// Takes the whole terminal until that is dropped.
    ///
    /// # Errors
    /// When it is none.
    #[cfg(unix)]
    pub(crate) fn whole(&self) -> io::Result<AlternateScreen> {
        AlternateScreen::take(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
    }

    /// Writes to stdout, all of it.
    ///
    /// # Errors
    /// [`ClosedOutput`] when stdout is closed. Another failure of stdout, such as a full disk, is reported once on stderr.
    pub(crate) fn out(&self, text: &str) -> Result<(), ClosedOutput> {
        self.write(text).map_err(|error| {
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.err(&format!("error: stdout cannot be written\n  caused by: {error}\n"));
            }
            ClosedOutput
        })
    }

    /// Writes to stdout, all of it, and reports nothing.
    ///
    /// # Errors
    /// The system's; a part may have been written.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let text = text::printed(text);
        self.bars.suspend(|| {
            let mut stdout = anstream::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        })
    }

    /// Writes to stderr. Failures are ignored.
    pub(crate) fn err(&self, text: &str) {
        let text = text::printed(text);
        // Anstream writes what is between colours by itself, and asks for the terminal each time.
        let text = if self.colours { text } else { strip_str(&text).to_string().into() };
        self.bars.suspend(|| {
            let mut stderr = io::stderr().lock();
            // There is nowhere left to complain.
            let _unheard = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        });
    }

    /// Columns of a line that is drawn over.
    pub(crate) fn width(&self) -> usize {
        if self.live { NarrowTerm(Term::stderr()).width().into() } else { usize::MAX }
    }

    /// Lines that are drawn over until they are dropped.
    pub(crate) fn lines(&self) -> Lines {
        Lines { screen: self.clone(), bar: None }
    }

    fn cut(&self, lines: &[String]) -> Vec<String> {
        let width = self.width();
        lines.iter().map(|line| truncate_str(line, width, "…").into_owned()).collect()
    }
}

/// Lines at the bottom of a terminal. Off a terminal nothing is drawn.
pub(crate) struct Lines {
    screen: Screen,
    /// One bar for all lines, so that they are drawn at once.
    bar: Option<ProgressBar>,
}

impl Lines {
    /// Draws these lines in place of those before, cut to the terminal's width; of more than it is high, the last.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        if !self.screen.live {
            return;
        }
        if lines.is_empty() {
            self.clear();
            return;
        }
        let height = usize::from(Term::stderr().size().0);
        let first = lines.len().saturating_sub(height.saturating_sub(1).max(1));
        let cut = self.screen.cut(lines.get(first..).unwrap_or_default());
        let text = text::printed(&cut.join("\n")).into_owned();
        let text = if self.screen.colours { text } else { strip_str(&text).to_string() };
        self.bar.get_or_insert_with(|| self.screen.bars.add(bar())).set_message(text);
    }

    /// Leaves these lines, cut to the terminal's width, where those before were drawn.
    pub(crate) fn leave(mut self, lines: &[String]) {
        if self.screen.live {
            self.clear();
            self.screen.err(&self.screen.cut(lines).into_iter().map(|line| line + "\n").collect::<String>());
        }
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

/// Whether the terminal says that it knows nothing but lines.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}
