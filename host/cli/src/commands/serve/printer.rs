//! Output of a host, on a thread of its own: an output that is full, closed or not read neither ends nor delays it.
//!
//! ```text
//!  print ──▶ queue, bounded ──▶ the thread ──▶ stdout, stderr
//!                └─ full, or not written ──▶ counted, and told once there is room again
//! ```

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::terminal::{screen::Screen, text};

/// Lines that wait while the output is not read.
const MAX_WAITING_LINES: usize = 4096;
/// How long the last lines may take to be printed.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// One thing to print.
enum Line {
    /// An object, on a line of stdout.
    Object(Value),
    /// Text on stderr.
    Text(String),
}

/// Prints in the order of the calls, without waiting.
pub(super) struct Printer {
    queue: Option<SyncSender<Line>>,
    left_out: Arc<AtomicU64>,
    ended: Receiver<()>,
}

impl Printer {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread.
    pub(super) fn start(screen: Screen) -> io::Result<Self> {
        let (queue, lines) = sync_channel(MAX_WAITING_LINES);
        let (ends, ended) = channel();
        let left_out = Arc::<AtomicU64>::default();
        let stdout = Stdout { screen, left_out: Arc::clone(&left_out), is_broken: false };
        thread::Builder::new().name("phasm-print".into()).spawn(move || {
            stdout.print_all(&lines);
            drop(ends);
        })?;
        Ok(Self { queue: Some(queue), left_out, ended })
    }

    /// Prints an object on a line of stdout.
    pub(super) fn object(&self, object: Value) {
        self.send(Line::Object(object));
    }

    /// Prints text to stderr.
    pub(super) fn text(&self, text: String) {
        self.send(Line::Text(text));
    }

    /// Counts lines that were not printed.
    pub(super) fn leave_out(&self, count: u64) {
        self.left_out.fetch_add(count, Ordering::Relaxed);
    }

    fn send(&self, line: Line) {
        if self.queue.as_ref().is_none_or(|queue| queue.try_send(line).is_err()) {
            self.leave_out(1);
        }
    }
}

impl Printer {
    /// Waits a moment until everything is printed. Returns false if the output is not read: printing more would hang.
    pub(super) fn end(mut self) -> bool {
        drop(self.queue.take());
        self.ended.recv_timeout(END_TIMEOUT) != Err(RecvTimeoutError::Timeout)
    }
}

/// stdout, and lines that are missing there.
struct Stdout {
    screen: Screen,
    left_out: Arc<AtomicU64>,
    /// Whether the last line could not be written, or only a part of it.
    is_broken: bool,
}

impl Stdout {
    fn print_all(mut self, lines: &Receiver<Line>) {
        for line in lines {
            match line {
                Line::Object(object) => self.object(&object),
                Line::Text(text) => {
                    self.tell_missing();
                    self.screen.err(&text);
                }
            }
        }
    }

    /// Lines that are missing between lines for people.
    fn tell_missing(&self) {
        // Objects that are missing are told on stdout.
        if !self.is_broken {
            let count = self.left_out.swap(0, Ordering::Relaxed);
            if count > 0 {
                self.screen.err(&format!("… {count} lines were left out\n"));
            }
        }
    }

    fn object(&mut self, object: &Value) {
        let missing = self.left_out.swap(0, Ordering::Relaxed);
        // A part of a line that was cut off is not to be read with the next.
        let mut lines = if self.is_broken { "\n".to_owned() } else { String::new() };
        if missing > 0 {
            lines += &json!({ "type": "left-out", "count": missing }).to_string();
            lines.push('\n');
        }
        lines += &object.to_string();
        lines.push('\n');
        let written = self.screen.write(&lines);
        if let Err(error) = &written {
            self.left_out.fetch_add(missing + 1, Ordering::Relaxed);
            if !self.is_broken {
                self.screen.err(&format!(
                    "{} stdout cannot be written: {error}; runs continue, and the lines that are missing there are counted\n",
                    text::doubtful("warning:")
                ));
            }
        }
        self.is_broken = written.is_err();
    }
}
