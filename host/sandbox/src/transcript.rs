//! Output of a guest during one attempt: log lines, progress, standard output and error, all of it bounded.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use phasm_engine::{text, usage::ResourceUsage};
use serde::{Deserialize, Serialize};

use super::{
    limits::{Ceiling, Limit, LimitError},
    stderr_tail::StderrTail,
    text::cut,
};
#[cfg(feature = "http")]
use crate::executor::HostCall;
use crate::executor::{Level, Observer};

/// Bytes of a line that are kept beyond the longest that is passed on. A secret of up to this size is recognised where the line
/// is cut.
const MAX_SECRET_BYTES: usize = 64 * 1024;

/// One piece of a guest's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum GuestOutput<'s> {
    /// Text for the log, of one or more lines.
    Log(Level, Cow<'s, str>),
    Progress(Option<f64>, Cow<'s, str>),
    /// Bytes on a standard stream.
    Bytes(StdStream, Cow<'s, [u8]>),
    /// A sign of life without output.
    Alive,
}

type Forwarder = Box<dyn Fn(GuestOutput<'_>) + Send + Sync>;
/// Maximum length of a guest's message, in bytes.
const MAX_MESSAGE_BYTES: usize = text::MAX_BYTES - 256;

/// Minimum number of bytes that a line counts, so that the number of empty lines is bounded too.
const MIN_LINE_COST_BYTES: usize = 32;

/// Output of one attempt. Every line reaches the observer at once; the text is limited in all.
pub(super) struct Transcript {
    observer: Arc<dyn Observer>,
    ceiling: Ceiling,
    left: AtomicU64,
    longest_line: usize,
    stdout: Mutex<LineBuffer>,
    stderr: Mutex<LineBuffer>,
    stderr_tail: Mutex<StderrTail>,
    /// Receiver in another process, which splits output into lines; here it is only counted.
    forward: Option<Forwarder>,
}

impl Transcript {
    /// Makes a transcript that limits the text in all, and cuts lines to `line` bytes.
    pub(super) fn new(observer: Arc<dyn Observer>, ceiling: Ceiling, line: u64) -> Self {
        Self {
            observer,
            ceiling,
            left: AtomicU64::new(ceiling.most),
            longest_line: usize::try_from(line).unwrap_or(usize::MAX),
            stdout: Mutex::default(),
            stderr: Mutex::default(),
            stderr_tail: Mutex::default(),
            forward: None,
        }
    }

    /// Makes a transcript that only counts, and forwards everything to one that [receives](Self::receive) it.
    pub(super) fn forwarded(ceiling: Ceiling, line: u64, forward: Forwarder) -> Self {
        Self { forward: Some(forward), ..Self::new(Arc::new(NullObserver), ceiling, line) }
    }

    /// Takes output that was forwarded by another process.
    pub(super) fn receive(&self, output: &GuestOutput<'_>) -> Result<(), LimitError> {
        match output {
            GuestOutput::Log(level, text) => self.log(*level, text),
            GuestOutput::Progress(fraction, text) => self.progress(*fraction, text),
            GuestOutput::Bytes(stream, bytes) => self.write(*stream, bytes),
            GuestOutput::Alive => {
                self.activity();
                Ok(())
            }
        }
    }

    /// Logs `text`, one call for each of its lines.
    pub(super) fn log(&self, level: Level, text: &str) -> Result<(), LimitError> {
        self.charge((text.len() + 1).max(MIN_LINE_COST_BYTES * text.lines().count().max(1)))?;
        if let Some(forward) = &self.forward {
            forward(GuestOutput::Log(level, text.into()));
            return Ok(());
        }
        let text = self.observer.hide(text);
        // `lines` yields none for an empty text, but logging nothing is a sign of life too.
        for line in text.lines().chain(text.is_empty().then_some("")) {
            self.observer.log(level, cut(line, self.longest_line));
        }
        Ok(())
    }

    /// Reports progress. Its text counts as log text, so that a flood of it ends too.
    pub(super) fn progress(&self, fraction: Option<f64>, text: &str) -> Result<(), LimitError> {
        self.charge(text.len())?;
        if let Some(forward) = &self.forward {
            forward(GuestOutput::Progress(fraction, text.into()));
            return Ok(());
        }
        let fraction = fraction.filter(|f| f.is_finite()).map(|f| f.clamp(0.0, 1.0));
        let text = self.observer.hide(text);
        self.observer.progress(fraction, &text::brief(text.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Logs a message of the host about the attempt. The caller bounds how often.
    #[cfg(feature = "http")]
    pub(super) fn note(&self, level: Level, text: &str) {
        let text = self.observer.hide(text);
        self.observer.log(level, cut(text.lines().next().unwrap_or_default(), self.longest_line));
    }

    /// Reports a request that is over, if requests are observed.
    #[cfg(feature = "http")]
    pub(super) fn called(&self, call: impl FnOnce() -> HostCall) {
        if self.observer.is_traced() {
            let call = call();
            let hidden = |text: &str| cut(&self.observer.hide(text), self.longest_line).to_owned();
            let url = hidden(&call.url);
            let failed = call.failed.as_deref().map(hidden);
            self.observer.called(HostCall { url, failed, ..call });
        }
    }

    /// Shortens a message, so that the host has room to add to it.
    pub(super) fn brief(&self, message: &Arc<str>) -> Arc<str> {
        if message.len() <= MAX_MESSAGE_BYTES {
            return Arc::clone(message);
        }
        text::cut(&self.observer.hide(message), MAX_MESSAGE_BYTES).into()
    }

    /// Reports the resources used so far.
    pub(super) fn used(&self, metered: ResourceUsage) {
        self.observer.used(metered);
    }

    /// Reports a sign of life (R-T5).
    pub(super) fn activity(&self) {
        match &self.forward {
            Some(forward) => forward(GuestOutput::Alive),
            None => self.observer.activity(),
        }
    }

    /// Passes on the unfinished lines of standard output and error, and returns the last output on standard error.
    pub(super) fn finish(&self) -> StderrTail {
        for stream in [StdStream::Output, StdStream::Error] {
            let LineBuffer { partial, mut held } = std::mem::take(&mut *lock(self.lines(stream)));
            if !partial.is_empty() {
                self.line(stream, &mut held, &partial);
            }
            self.pass(stream, &mut held, 0);
        }
        std::mem::take(&mut lock(&self.stderr_tail))
    }

    /// Adds `bytes` to a standard stream, and passes on the complete lines.
    pub(super) fn write(&self, stream: StdStream, bytes: &[u8]) -> Result<(), LimitError> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.charge(bytes.len().max(MIN_LINE_COST_BYTES * lines))?;
        if let Some(forward) = &self.forward {
            forward(GuestOutput::Bytes(stream, bytes.into()));
            return Ok(());
        }
        lock(self.lines(stream)).push(bytes, self.room(), |held, line| self.line(stream, held, line));
        Ok(())
    }

    /// Returns the number of bytes of a line that are held until it ends.
    fn room(&self) -> usize {
        self.longest_line.saturating_add(MAX_SECRET_BYTES)
    }

    /// Passes on a line and those held before it, unless they may be the beginning of a secret of several lines.
    fn line(&self, stream: StdStream, held: &mut String, line: &[u8]) {
        held.push_str(&String::from_utf8_lossy(line));
        if line.len() >= self.room() {
            // The end of a longer line that was cut may be the beginning of a secret.
            return self.pass(stream, held, MAX_SECRET_BYTES);
        }
        held.push('\n');
        if held.len() > MAX_SECRET_BYTES || !self.observer.may_go_on(held) {
            self.pass(stream, held, 0);
        }
    }

    /// Passes lines on, except for `unsure` bytes at their end.
    fn pass(&self, stream: StdStream, held: &mut String, unsure: usize) {
        let lines = std::mem::take(held);
        let hidden = self.observer.hide(&lines);
        let sure = cut(&hidden, hidden.len().saturating_sub(unsure));
        let nothing = sure.is_empty() && !lines.is_empty();
        for line in sure.lines().chain(nothing.then_some("")) {
            self.say(stream, cut(line, self.longest_line));
        }
    }

    fn say(&self, stream: StdStream, line: &str) {
        match stream {
            StdStream::Output => self.observer.log(Level::Info, line),
            StdStream::Error => {
                lock(&self.stderr_tail).push_line(line);
                self.observer.log(Level::Warn, line);
            }
        }
    }

    fn lines(&self, stream: StdStream) -> &Mutex<LineBuffer> {
        match stream {
            StdStream::Output => &self.stdout,
            StdStream::Error => &self.stderr,
        }
    }

    fn charge(&self, bytes: usize) -> Result<(), LimitError> {
        self.left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes as u64))
            .map(drop)
            .map_err(|_| LimitError { limit: Limit::Log, ceiling: self.ceiling })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Splits a byte stream into lines.
#[derive(Default)]
struct LineBuffer {
    partial: Vec<u8>,
    /// Complete lines that were not passed on yet.
    held: String,
}

impl LineBuffer {
    /// Adds `bytes` and passes each complete line to `line`, cut to `room` bytes.
    fn push(&mut self, bytes: &[u8], room: usize, mut line: impl FnMut(&mut String, &[u8])) {
        let mut parts = bytes.split(|b| *b == b'\n').peekable();
        while let Some(part) = parts.next() {
            let left = room.saturating_sub(self.partial.len());
            self.partial.extend_from_slice(part.get(..left).unwrap_or(part));
            if parts.peek().is_some() {
                line(&mut self.held, &self.partial);
                self.partial.clear();
            }
        }
    }
}

/// Observer that ignores everything.
pub(crate) struct NullObserver;

impl Observer for NullObserver {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StdStream {
    Output,
    Error,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SetBy;

    #[test]
    fn a_byte_stream_becomes_lines_however_it_is_cut() {
        let rows: [(&[&str], &[&str], &str); 8] = [
            (&["a\nb\n"], &["a", "b"], ""),
            (&["a", "b\n", "c"], &["ab"], "c"),
            (&["\n\n"], &["", ""], ""),
            (&["12345678\n"], &["12345678"], ""),
            (&["12345678", "\n"], &["12345678"], ""),
            (&["123456789\na"], &["12345678"], "a"),
            (&["1234567812345678", "1\nb\n"], &["12345678", "b"], ""),
            (&["1234567812345678"], &[], "12345678"),
        ];
        for (writes, expected, rest) in rows {
            let (mut lines, mut seen) = (LineBuffer::default(), Vec::new());
            for bytes in writes {
                lines.push(bytes.as_bytes(), 8, |_, line| {
                    seen.push(String::from_utf8(line.to_vec()).unwrap());
                });
            }
            assert_eq!(seen, expected, "{writes:?}");
            assert_eq!(lines.partial, rest.as_bytes(), "{writes:?}");
        }
    }

    /// Knows the secrets `hunter2` and `ab`, `cd`, `ef` on three lines.
    #[derive(Default)]
    struct Keeper(Mutex<Vec<String>>);

    impl Observer for Keeper {
        fn log(&self, _: Level, text: &str) {
            lock(&self.0).push(text.to_owned());
        }

        fn progress(&self, _: Option<f64>, text: &str) {
            lock(&self.0).push(text.to_owned());
        }

        fn activity(&self) {}

        fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
            text.replace("hunter2", "*").replace("ab\ncd\nef", "*").into()
        }

        fn may_go_on(&self, text: &str) -> bool {
            ["ab\n", "ab\ncd\n"].iter().any(|begun| text.ends_with(begun))
        }
    }

    fn transcript(keeper: &Arc<Keeper>, line: u64) -> Transcript {
        let ceiling = Ceiling { most: 1 << 20, by: SetBy::Operator };
        Transcript::new(Arc::clone(keeper) as _, ceiling, line)
    }

    /// R-B9: half a secret is not recognised any more.
    #[test]
    fn secrets_are_hidden_before_lines_are_cut() {
        let beyond = "x".repeat(MAX_SECRET_BYTES);
        let rows: [(&[&str], &str); 5] = [
            (&["12345hunter2\n"], "12345*"),
            (&["12345hun", "ter2"], "12345*"),
            // For a line longer than what is held, all that could be the beginning of a secret is left out.
            (&["12345hun", "ter2", &beyond, &beyond, "\n"], "12"),
            (&[&"hunter2".repeat(20_000), "\n"], ""),
            (&[&beyond, "1234hunter2\n"], "xxxxxxxx"),
        ];
        for (writes, expected) in rows {
            let keeper = Arc::new(Keeper::default());
            let transcript = transcript(&keeper, 8);
            writes.iter().for_each(|text| transcript.write(StdStream::Error, text.as_bytes()).unwrap());
            let output = transcript.finish().explain("trap".to_owned());
            assert_eq!(*lock(&keeper.0), [expected], "{writes:?}");
            assert_eq!(output.strip_prefix("trap; the guest said: ").unwrap_or_default(), expected);
        }
        let keeper = Arc::new(Keeper::default());
        let transcript = transcript(&keeper, 8);
        transcript.log(Level::Info, "a\n12345hunter2").unwrap();
        transcript.progress(None, "12345hunter2").unwrap();
        assert_eq!(*lock(&keeper.0), ["a", "12345*", "12345*"]);
    }

    /// R-B9: a secret that is written line by line, or in pieces.
    #[test]
    fn lines_of_a_secret_are_held_until_it_is_known_what_they_are() {
        let long = "x".repeat(MAX_SECRET_BYTES);
        let rows: [(&[&str], &[&str]); 9] = [
            (&["key ab\ncd\nef.\n"], &["key *."]),
            (&["a", "b\nc", "d\n", "ef"], &["*"]),
            (&["ab\n"], &["ab"]),
            (&["ab\ncd\n"], &["ab", "cd"]),
            (&["ab\ncd\n\nnext"], &["ab", "cd", "", "next"]),
            (&["ab\nab\ncd\nef\n"], &["ab", "*"]),
            (&["\nab\r\n\n"], &["", "ab", ""]),
            (&["ab\ncd\nef", &long, &long, "\n"], &["*"]),
            (&["ab\n", &"cd\nab\n".repeat(12_000)], &[]),
        ];
        for (writes, expected) in rows {
            let keeper = Arc::new(Keeper::default());
            let transcript = transcript(&keeper, 8 << 10);
            writes.iter().for_each(|text| transcript.write(StdStream::Output, text.as_bytes()).unwrap());
            assert!(lock(transcript.lines(StdStream::Output)).held.len() <= MAX_SECRET_BYTES);
            transcript.finish();
            let heard = lock(&keeper.0);
            let heard: Vec<_> = heard.iter().map(|line| line.trim_end_matches('x')).collect();
            assert!(expected.is_empty() || heard == expected, "{writes:?}: {heard:?}");
            let lines = writes.concat().lines().count();
            assert!(!expected.is_empty() || heard.len() == lines, "{} of {lines}", heard.len());
        }
    }

    #[test]
    fn text_is_cut_at_a_characters_edge() {
        for (text, longest, expected) in [("abc", 8, "abc"), ("abc", 2, "ab"), ("aé", 2, "a"), ("", 0, "")] {
            assert_eq!(cut(text, longest), expected);
        }
    }
}
