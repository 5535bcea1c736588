//! The last output of a guest on standard error, which often tells why it died.

use std::collections::VecDeque;

use super::text::cut;

/// The last of it that is kept, in bytes and in lines.
const MAX_BYTES: usize = 1024;
const MAX_LINES: usize = 8;

/// The last lines on standard error: of a Rust guest that panicked its message, of any other guest what there is.
#[derive(Default)]
pub(super) struct StderrTail {
    panic: String,
    panicking: bool,
    lines: VecDeque<String>,
}

impl StderrTail {
    /// Hears one line, without secrets.
    pub(super) fn hear(&mut self, line: &str) {
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

    /// Why the guest trapped, which the host knows as `cause`: its panic, or the cause with what it said last.
    pub(super) fn explain(&self, cause: String) -> String {
        if self.panic.is_empty() {
            self.follow(cause)
        } else {
            format!("guest panicked at {}", cut(&self.panic, MAX_BYTES))
        }
    }

    /// `cause`, and what the guest said last: whole lines, at most 1 KiB of them.
    pub(super) fn follow(&self, cause: String) -> String {
        let mut said = String::new();
        for line in &self.lines {
            if !said.is_empty() && said.len() + line.len() >= MAX_BYTES {
                break;
            }
            said = if said.is_empty() { line.trim().to_owned() } else { format!("{} {said}", line.trim()) };
        }
        if said.is_empty() { cause } else { format!("{cause}; the guest said: {said}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard<'a>(lines: impl IntoIterator<Item = &'a str>) -> StderrTail {
        let mut words = StderrTail::default();
        lines.into_iter().for_each(|line| words.hear(line));
        words
    }

    fn explained<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
        heard(lines).explain("trap: x".to_owned())
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
        assert_eq!(explained(lines), "guest panicked at src/lib.rs:7:9: no such fruit");
        let again = ["a panicked at 1:", "one", "", "a panicked at 2:", "two"];
        assert_eq!(explained(again), "guest panicked at 2: two");
    }

    /// R-I15.
    #[test]
    fn what_other_guests_said_last_follows_the_cause() {
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
            assert_eq!(explained(lines.iter().copied()), expected);
        }
    }

    #[test]
    fn last_words_are_few() {
        let long = "é".repeat(1000);
        for lines in [vec![long.as_str(); 3], vec!["a panicked at 1:", &long, &long], vec![&long[..600]; 9]] {
            let said = explained(lines.iter().copied());
            assert!((500..MAX_BYTES + 64).contains(&said.len()), "{} bytes", said.len());
            assert!(heard(lines).lines.iter().map(String::len).sum::<usize>() <= MAX_LINES * MAX_BYTES);
        }
    }
}
