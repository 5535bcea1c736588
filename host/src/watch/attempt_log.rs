//! The log of an attempt, the end of which is kept with its run.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use phasm_engine::event::Fence;

use crate::store::AttemptLog;
use phasm_sandbox::executor::Level;

/// Bytes of each attempt's log that are kept by default.
pub(crate) const DEFAULT_LOG_BYTES: usize = 64 << 10;
/// Most bytes that may be configured.
pub(crate) const MAX_LOG_BYTES: usize = 16 << 20;

/// One attempt's lines, as they are shown. It takes no memory until the first of them.
#[derive(Debug)]
pub(crate) struct LogTail {
    end: Mutex<End>,
}

#[derive(Debug, Default)]
struct End {
    /// The most to keep, in bytes; with 0 nothing is written down.
    limit: usize,
    /// How many bytes before it were not kept.
    cut: u64,
    text: VecDeque<u8>,
}

impl LogTail {
    /// Keeps the last `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { end: Mutex::new(End { limit, ..End::default() }) }
    }

    /// Writes down each line of `text`, which has no secrets.
    pub(crate) fn write(&self, level: Level, text: &str) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if end.limit > 0 {
            // More of it would not be kept: with their levels its lines are longer.
            let most = end.limit;
            let text = end.tail(text, most);
            // `lines` knows none in an empty text.
            text.lines().chain(text.is_empty().then_some("")).for_each(|line| end.push(level, line));
        }
    }

    /// Returns the log, if the attempt wrote anything. Later lines are dropped.
    pub(crate) fn close(&self, fence: Fence) -> Option<AttemptLog> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let End { cut, text, .. } = std::mem::take(&mut *end);
        let Fence { task, attempt, dispatch } = fence;
        (cut > 0 || !text.is_empty()).then(|| AttemptLog {
            task: task.0,
            attempt,
            dispatch,
            cut,
            text: text.into(),
            damaged: false,
        })
    }
}

impl End {
    /// At most the last `most` bytes of `text`; the others count as cut.
    fn tail<'t>(&mut self, text: &'t str, most: usize) -> &'t str {
        let kept = text.get(text.ceil_char_boundary(text.len().saturating_sub(most))..).unwrap_or_default();
        self.cut += (text.len() - kept.len()) as u64;
        kept
    }

    /// Adds a line and forgets whole lines in front; of a line that is too long it keeps the end, with its level.
    fn push(&mut self, level: Level, line: &str) {
        let level = level.as_str();
        let kept = self.tail(line, self.limit.saturating_sub(level.len() + 2));
        for part in [level, " ", kept, "\n"] {
            self.text.extend(part.as_bytes());
        }
        self.shorten();
    }

    fn shorten(&mut self) {
        while self.text.len() > self.limit {
            let first =
                self.text.iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |end| end + 1);
            self.cut += self.text.drain(..first).len() as u64;
        }
    }
}

/// Returns the last whole lines of a log that have at most `limit` bytes; nothing if there is nothing to keep.
pub(crate) fn limited(log: AttemptLog, limit: usize) -> Option<AttemptLog> {
    let mut end = End { limit, cut: log.cut, text: log.text.into() };
    end.shorten();
    let End { cut, text, .. } = end;
    (limit > 0 && (cut > 0 || !text.is_empty())).then(|| AttemptLog { cut, text: text.into(), ..log })
}

#[cfg(test)]
mod tests {
    use phasm_engine::event::TaskId;

    use super::*;

    const FENCE: Fence = Fence { task: TaskId(3), attempt: 2, dispatch: 4 };

    /// The kept part of `lines` under a limit: the number of bytes cut, and the text.
    fn kept(limit: usize, lines: &[&str]) -> Option<(u64, String)> {
        let book = LogTail::new(limit);
        lines.iter().for_each(|line| book.write(Level::Info, line));
        let AttemptLog { task, attempt, dispatch, cut, text, damaged: _ } = book.close(FENCE)?;
        assert_eq!((task, attempt, dispatch), (3, 2, 4));
        assert!(text.len() <= limit, "{} of {limit}", text.len());
        Some((cut, String::from_utf8(text).unwrap()))
    }

    /// R-L15.
    #[test]
    fn the_last_whole_lines_are_kept() {
        let rows: [(usize, &[&str], u64, &str); 10] = [
            (99, &["a"], 0, "info a\n"),
            (99, &["a\nb\r\n\nc"], 0, "info a\ninfo b\ninfo \ninfo c\n"),
            (99, &[""], 0, "info \n"),
            (14, &["a", "b"], 0, "info a\ninfo b\n"),
            (13, &["a", "b"], 7, "info b\n"),
            (9, &["a", "12345"], 9, "info 345\n"),
            (9, &["12é45"], 4, "info 45\n"),
            (10, &["12é45"], 2, "info é45\n"),
            (9, &["1\n2\n3\n4\n5\n6\n7"], 32, "info 7\n"),
            (3, &["a"], 7, ""),
        ];
        for (limit, lines, cut, text) in rows {
            assert_eq!(kept(limit, lines).unwrap(), (cut, text.to_owned()), "{limit} {lines:?}");
        }
    }

    /// R-L15: another host may keep more.
    #[test]
    fn a_log_of_another_host_is_kept_within_the_limit() {
        let log = |cut, text: &str| AttemptLog {
            task: 3,
            attempt: 2,
            dispatch: 4,
            cut,
            text: text.as_bytes().to_vec(),
            damaged: false,
        };
        let text = "info a\ninfo b\n";
        assert_eq!(limited(log(1, text), 14), Some(log(1, text)));
        assert_eq!(limited(log(1, text), 13), Some(log(8, "info b\n")));
        assert_eq!(limited(log(0, text), 3), Some(log(14, "")));
        assert_eq!(limited(log(0, text), 0), None);
        assert_eq!(limited(log(0, ""), 9), None);
    }

    #[test]
    fn whoever_writes_nothing_takes_no_memory() {
        let book = LogTail::new(DEFAULT_LOG_BYTES);
        let taken = || book.end.lock().unwrap().text.capacity();
        assert_eq!(taken(), 0);
        assert_eq!(book.close(FENCE), None);
        book.write(Level::Info, "late");
        assert_eq!(taken(), 0);
        assert_eq!(book.close(FENCE), None);
        assert_eq!(kept(0, &["a"]), None);
    }

    #[test]
    fn however_much_is_written_it_takes_what_is_kept() {
        let book = LogTail::new(DEFAULT_LOG_BYTES);
        let taken = || book.end.lock().unwrap().text.capacity();
        book.write(Level::Info, &"\n".repeat(1_000_000));
        book.write(Level::Info, &"x".repeat(10_000_000));
        assert!(taken() <= 4 * DEFAULT_LOG_BYTES, "{}", taken());
        let lines = format!("{}\n", "y".repeat(99)).repeat(100_000);
        for _ in 0..101 {
            book.write(Level::Warn, &lines);
        }
        assert!(taken() <= 4 * DEFAULT_LOG_BYTES, "{}", taken());
        let log = book.close(FENCE).unwrap();
        let text = String::from_utf8(log.text).unwrap();
        assert!((DEFAULT_LOG_BYTES - 105..=DEFAULT_LOG_BYTES).contains(&text.len()), "{}", text.len());
        assert!(text.lines().all(|line| line.len() == 104 && line.starts_with("warn yyy")));
        assert!(log.cut > 1_000_000_000, "{}", log.cut);
    }
}
