//! Log lines of the library, on stderr.

use std::fmt::{self, Write as _};

use clap::ValueEnum;
use phasm::{clock::Clock, executor::Level};
use serde_json::{Map, Value};
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

/// Format of the log of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// Lines of text, each with the time (RFC 3339).
    #[default]
    Text,
    /// A JSON object a line: `time`, `level`, `message`, and the fields of the entry.
    Json,
}

impl LogFormat {
    /// Returns an entry with the time now. `shown` is the text in the colours of a terminal.
    pub(super) fn entry(self, level: Level, shown: &str) -> String {
        self.entry_with(level, shown, Map::new())
    }

    fn entry_with(self, level: Level, shown: &str, fields: Map<String, Value>) -> String {
        let time = Clock::start().now().to_rfc3339();
        match self {
            Self::Text => format!("{} {shown}\n", text::dim(time)),
            Self::Json => {
                let message = anstream::adapter::strip_str(shown).to_string();
                let mut entry = fields;
                // The names of an entry itself win over those of its fields.
                entry.extend([
                    ("time".to_owned(), time.into()),
                    ("level".to_owned(), level.as_str().into()),
                    ("message".to_owned(), message.into()),
                ]);
                format!("{}\n", Value::from(entry))
            }
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

/// Prints what this library (and no other) traces. A server names the format of its log; other commands print lines without the time.
pub(super) fn install(screen: &Screen, least: LogLevel, format: Option<LogFormat>) {
    // Installing fails only if there is a subscriber already; then that one prints.
    let _there = tracing::subscriber::set_global_default(Lines { screen: screen.clone(), least, format });
}

struct Lines {
    screen: Screen,
    least: LogLevel,
    format: Option<LogFormat>,
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
        let level = level_of(event.metadata());
        if self.format == Some(LogFormat::Json) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            self.screen.err(&LogFormat::Json.entry_with(level, &fields.message, fields.others));
            return;
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        let line = format!("{} {}", word(level), text::clean(&line.0));
        self.screen
            .err(&self.format.map_or_else(|| format!("{line}\n"), |format| format.entry(level, &line)));
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

/// The message, and every other field as a member of a JSON object.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        if field.name() == "message" { self.message = value } else { self.set(field, value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A14: entries of the audit log are shown with the lines of this library, and those of other libraries are not.
    #[test]
    fn entries_of_the_audit_log_are_shown() {
        let lines = |least| Lines { screen: Screen::new(), least, format: None };
        let shown = |least| {
            tracing::subscriber::with_default(lines(least), || {
                let audit = tracing::event_enabled!(target: AUDIT_TARGET, tracing::Level::INFO);
                let others = tracing::event_enabled!(target: "hyper", tracing::Level::INFO);
                (audit, others)
            })
        };
        assert_eq!((shown(LogLevel::Info), shown(LogLevel::Warn)), ((true, false), (false, false)));
    }

    /// R-L46: an entry is a line with its time, or an object; the entry's own names win.
    #[test]
    fn an_entry_has_its_time() {
        let text = anstream::adapter::strip_str(&LogFormat::Text.entry(Level::Info, "served")).to_string();
        let (time, rest) = text.split_once(' ').unwrap();
        assert!(phasm::engine::time::Timestamp::from_rfc3339(time).is_some() && rest == "served\n", "{text}");
        let fields = Map::from_iter([("key".to_owned(), "ci".into()), ("level".to_owned(), 7.into())]);
        let json = LogFormat::Json.entry_with(Level::Warn, "a \"b\"\nc", fields);
        let entry: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&entry["message"], &entry["level"], &entry["key"]),
            (&"a \"b\"\nc".into(), &"warn".into(), &"ci".into())
        );
        assert!(entry["time"].is_string() && json.lines().count() == 1, "{json}");
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
