//! Log lines of the library, on stderr.

use std::fmt::{self, Write as _};

use clap::ValueEnum;
use phasm::executor::Level;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use phasm_server::AUDIT_TARGET;

use crate::terminal::{screen::Screen, text};

/// The least severe lines that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum LogLevel {
    /// Everything.
    Trace,
    /// Details for executor authors.
    Debug,
    /// Normal operation.
    #[default]
    Info,
    /// Warnings.
    Warn,
    /// Errors.
    Error,
    /// Nothing.
    Off,
}

impl LogLevel {
    /// Whether lines of this severity are shown.
    pub(super) fn shows(self, level: Level) -> bool {
        Self::from(level) >= self
    }
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Trace => Self::Trace,
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}

/// A level as a word, in its colour.
pub(super) fn word(level: Level) -> String {
    match level {
        Level::Trace => text::dim("trace"),
        Level::Debug => text::dim("debug"),
        Level::Info => "info".to_owned(),
        Level::Warn => text::doubtful("warn"),
        Level::Error => text::bad("error"),
    }
}

/// Prints what this library (and no other) traces.
pub(super) fn install(screen: &Screen, least: LogLevel) {
    // Installing fails only if there is a subscriber already; then that one prints.
    let _there = tracing::subscriber::set_global_default(Lines { screen: screen.clone(), least });
}

struct Lines {
    screen: Screen,
    least: LogLevel,
}

fn level_of(metadata: &Metadata<'_>) -> Level {
    match *metadata.level() {
        tracing::Level::TRACE => Level::Trace,
        tracing::Level::DEBUG => Level::Debug,
        tracing::Level::INFO => Level::Info,
        tracing::Level::WARN => Level::Warn,
        tracing::Level::ERROR => Level::Error,
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Entries of the audit log come here where it has no file of its own.
        let ours = metadata.target().starts_with("phasm") || metadata.target() == AUDIT_TARGET;
        ours && metadata.is_event() && self.least.shows(level_of(metadata))
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.screen.err(&format!("{} {}\n", word(level_of(event.metadata())), text::clean(&line.0)));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        // No span is enabled; ids only have to be there.
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// The message, then every other field as `name=value`.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _written = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A14: entries of the audit log are shown with the lines of this library, and those of other libraries are not.
    #[test]
    fn entries_of_the_audit_log_are_shown() {
        let lines = |least| Lines { screen: Screen::new(), least };
        let shown = |least| {
            tracing::subscriber::with_default(lines(least), || {
                let audit = tracing::event_enabled!(target: AUDIT_TARGET, tracing::Level::INFO);
                let others = tracing::event_enabled!(target: "hyper", tracing::Level::INFO);
                (audit, others)
            })
        };
        assert_eq!((shown(LogLevel::Info), shown(LogLevel::Warn)), ((true, false), (false, false)));
    }

    #[test]
    fn a_level_shows_itself_and_what_is_worse() {
        let levels = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
        let shown = |least: LogLevel| levels.map(|level| least.shows(level));
        assert_eq!(shown(LogLevel::Trace), [true; 5]);
        assert_eq!(shown(LogLevel::default()), [false, false, true, true, true]);
        assert_eq!(shown(LogLevel::Off), [false; 5]);
    }
}
