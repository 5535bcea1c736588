//! The last output of a guest on standard error, which often tells why it died.

use std::collections::VecDeque;

use super::text::cut;

/// Bytes and lines that are kept.
const MAX_BYTES: usize = 1024;
const MAX_LINES: usize = 8;

/// Last lines on standard error: the panic message of a Rust guest, or whatever another guest wrote.
#[derive(Default)]
pub(super) struct StderrTail {
    panic: String,
    panicking: bool,
    lines: VecDeque<String>,
}

impl StderrTail {
    /// Adds one line, without secrets.
    pub(super) fn push_line(&mut self, line: &str) {
        if let Some((_, place)) = line.split_once(" panicked at ") {
            cut(place, MAX_BYTES).clone_into(&mut self.panic);
            self.panicking = true;
        } else if self.panicking {
            self.panicking = !line.starts_with("note: ") && !line.is_empty() && self.panic.len() < MAX_BYTES;
            if self.panicking {
                self.panic.push(' ');
                self.panic.push_str(cut(line, MAX_BYTES));
            }
        }
        if !line.trim().is_empty() {
            self.lines.truncate(MAX_LINES - 1);
            self.lines.push_front(cut(line, MAX_BYTES).to_owned());
        }
    }

    /// Explains why the guest trapped: by its panic, or by `cause` and its last output.
    pub(super) fn explain(&self, cause: String) -> String {
        if self.panic.is_empty() {
            self.follow(cause)
        } else {
            format!("guest panicked at {}", cut(&self.panic, MAX_BYTES))
        }
    }

    /// Returns `cause` with the guest's last output: whole lines, at most 1 KiB of them.
    pub(super) fn follow(&self, cause: String) -> String {
        let mut output = String::new();
        for line in &self.lines {
            if !output.is_empty() && output.len() + line.len() >= MAX_BYTES {
                break;
            }
            output =
                if output.is_empty() { line.trim().to_owned() } else { format!("{} {output}", line.trim()) };
        }
        if output.is_empty() { cause } else { format!("{cause}; the guest said: {output}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of<'a>(lines: impl IntoIterator<Item = &'a str>) -> StderrTail {
        let mut tail = StderrTail::default();
        lines.into_iter().for_each(|line| tail.push_line(line));
        tail
    }

    fn explain<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
        tail_of(lines).explain("trap: x".to_owned())
    }

    #[test]
    fn a_panic_is_heard_with_its_place_and_words() {
        let lines = [
            "",
            "thread '<unnamed>' (1) panicked at src/lib.rs:7:9:",
            "no such fruit",
            "note: run with",
            "x",
        ];
        assert_eq!(explain(lines), "guest panicked at src/lib.rs:7:9: no such fruit");
        let again = ["a panicked at 1:", "one", "", "a panicked at 2:", "two"];
        assert_eq!(explain(again), "guest panicked at 2: two");
    }

    /// R-I15.
    #[test]
    fn the_last_output_follows_the_cause() {
        let rows: [(&[&str], &str); 4] = [
            (&[], "trap: x"),
            (&["", " "], "trap: x"),
            (&["panic: boom"], "trap: x; the guest said: panic: boom"),
            (
                &[
                    "1",
                    "2",
                    "Traceback:",
                    "  File 1",
                    "    f()",
                    "  File 2",
                    "    g()",
                    "",
                    "ValueError: no",
                    "end",
                    "!",
                ],
                "trap: x; the guest said: Traceback: File 1 f() File 2 g() ValueError: no end !",
            ),
        ];
        for (lines, expected) in rows {
            assert_eq!(explain(lines.iter().copied()), expected);
        }
    }

    #[test]
    fn the_tail_is_bounded() {
        let long = "é".repeat(1000);
        for lines in [vec![long.as_str(); 3], vec!["a panicked at 1:", &long, &long], vec![&long[..600]; 9]] {
            let output = explain(lines.iter().copied());
            assert!((500..MAX_BYTES + 64).contains(&output.len()), "{} bytes", output.len());
            assert!(tail_of(lines).lines.iter().map(String::len).sum::<usize>() <= MAX_LINES * MAX_BYTES);
        }
    }
}
