//! What a guest says during one attempt: log lines, progress, standard output and error, all of it bounded.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamError, StreamResult},
};

use super::limits::{Exceeded, Limits};
use crate::executor::{Level, Observer};

/// The most a guest may write to a standard stream in one call.
const PERMIT: usize = 64 * 1024;

/// One attempt's voice. Every line reaches the observer at once; the text in all is limited.
pub(super) struct Transcript {
    observer: Arc<dyn Observer>,
    limit: u64,
    left: AtomicU64,
    longest_line: usize,
    stdout: Mutex<Lines>,
    stderr: Mutex<Lines>,
    panic: Mutex<Panic>,
}

impl Transcript {
    pub(super) fn new(observer: Arc<dyn Observer>, limits: &Limits) -> Self {
        Self {
            observer,
            limit: limits.log,
            left: AtomicU64::new(limits.log),
            longest_line: usize::try_from(limits.line).unwrap_or(usize::MAX),
            stdout: Mutex::default(),
            stderr: Mutex::default(),
            panic: Mutex::default(),
        }
    }

    /// Passes `text` on, one call for each of its lines.
    pub(super) fn log(&self, level: Level, text: &str) -> Result<(), Exceeded> {
        self.charge(text.len() + 1)?;
        // `lines` knows none in an empty text, but saying nothing is a sign of life too.
        for line in text.lines().chain(text.is_empty().then_some("")) {
            self.observer.log(level, cut(line, self.longest_line));
        }
        Ok(())
    }

    /// Passes progress on. Its text counts as log text, so that a flood of it ends too.
    pub(super) fn progress(&self, fraction: Option<f64>, text: &str) -> Result<(), Exceeded> {
        self.charge(text.len())?;
        let fraction = fraction.filter(|f| f.is_finite()).map(|f| f.clamp(0.0, 1.0));
        self.observer.progress(fraction, cut(text.lines().next().unwrap_or_default(), self.longest_line));
        Ok(())
    }

    /// Passes a sign of life on (R-T5).
    pub(super) fn activity(&self) {
        self.observer.activity();
    }

    /// Passes on what standard output and error still hold without a line's end, and tells what the guest said when it
    /// panicked.
    pub(super) fn finish(&self) -> Option<String> {
        for stream in [Standard::Output, Standard::Error] {
            let rest = std::mem::take(&mut lock(self.lines(stream)).partial);
            if !rest.is_empty() {
                self.line(stream, &rest);
            }
        }
        lock(&self.panic).said()
    }

    fn write(&self, stream: Standard, bytes: &[u8]) -> Result<(), Exceeded> {
        self.charge(bytes.len())?;
        lock(self.lines(stream)).push(bytes, self.longest_line, |line| self.line(stream, line));
        Ok(())
    }

    fn line(&self, stream: Standard, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\r');
        match stream {
            Standard::Output => self.observer.log(Level::Info, line),
            Standard::Error => {
                lock(&self.panic).hear(line);
                self.observer.log(Level::Warn, line);
            }
        }
    }

    fn lines(&self, stream: Standard) -> &Mutex<Lines> {
        match stream {
            Standard::Output => &self.stdout,
            Standard::Error => &self.stderr,
        }
    }

    fn charge(&self, bytes: usize) -> Result<(), Exceeded> {
        self.left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes as u64))
            .map(drop)
            .map_err(|_| Exceeded::Log(self.limit))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// At most `longest` bytes of `text`, at a character's edge.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

/// Cuts a byte stream into lines.
#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    /// Adds `bytes` and passes each line that is complete, or too long to wait for its end, to `line`.
    fn push(&mut self, mut bytes: &[u8], longest: usize, mut line: impl FnMut(&[u8])) {
        let longest = longest.max(1);
        while !bytes.is_empty() {
            let room = longest.saturating_sub(self.partial.len());
            // One more than fits may be the line's end.
            let end = bytes.iter().take(room + 1).position(|b| *b == b'\n');
            let (text, rest) = bytes.split_at(end.unwrap_or(room.min(bytes.len())));
            self.partial.extend_from_slice(text);
            bytes = if end.is_some() { rest.get(1..).unwrap_or_default() } else { rest };
            if end.is_some() || !bytes.is_empty() {
                line(&self.partial);
                self.partial.clear();
            }
        }
    }
}

/// The message of a Rust guest's panic, as it appears on standard error.
#[derive(Default)]
struct Panic {
    text: String,
    over: bool,
}

impl Panic {
    const LONGEST: usize = 1024;

    fn hear(&mut self, line: &str) {
        if let Some((_, place)) = line.split_once(" panicked at ") {
            *self = Self { text: place.to_owned(), over: false };
        } else if !self.text.is_empty() && !self.over {
            self.over = line.starts_with("note: ") || line.is_empty() || self.text.len() > Self::LONGEST;
            if !self.over {
                self.text.push(' ');
                self.text.push_str(line);
            }
        }
    }

    fn said(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| format!("guest panicked at {}", cut(&self.text, Self::LONGEST)))
    }
}

#[derive(Clone, Copy)]
pub(super) enum Standard {
    Output,
    Error,
}

/// A guest's standard output or error.
#[derive(Clone)]
pub(super) struct Stream {
    pub(super) transcript: Arc<Transcript>,
    pub(super) standard: Standard,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.transcript.write(self.standard, &bytes).map_err(|exceeded| StreamError::Trap(exceeded.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.transcript.write(self.standard, bytes).map(|()| bytes.len());
        Poll::Ready(written.map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_stream_becomes_lines_however_it_is_cut() {
        let rows: [(&[&str], &[&str], &str); 7] = [
            (&["a\nb\n"], &["a", "b"], ""),
            (&["a", "b\n", "c"], &["ab"], "c"),
            (&["\n\n"], &["", ""], ""),
            (&["12345678\n"], &["12345678"], ""),
            (&["12345678", "\n"], &["12345678"], ""),
            (&["123456789\n"], &["12345678", "9"], ""),
            (&["12345678123456781"], &["12345678", "12345678"], "1"),
        ];
        for (writes, expected, rest) in rows {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for bytes in writes {
                lines.push(bytes.as_bytes(), 8, |line| seen.push(String::from_utf8(line.to_vec()).unwrap()));
            }
            assert_eq!(seen, expected, "{writes:?}");
            assert_eq!(lines.partial, rest.as_bytes(), "{writes:?}");
        }
    }

    #[test]
    fn text_is_cut_at_a_characters_edge() {
        for (text, longest, expected) in [("abc", 8, "abc"), ("abc", 2, "ab"), ("aé", 2, "a"), ("", 0, "")] {
            assert_eq!(cut(text, longest), expected);
        }
    }

    #[test]
    fn a_panic_is_heard_with_its_place_and_words() {
        let mut panic = Panic::default();
        assert_eq!(panic.said(), None);
        for line in
            ["", "thread '<unnamed>' (1) panicked at src/lib.rs:7:9:", "no such fruit", "note: run with", "x"]
        {
            panic.hear(line);
        }
        assert_eq!(panic.said().unwrap(), "guest panicked at src/lib.rs:7:9: no such fruit");
    }
}
