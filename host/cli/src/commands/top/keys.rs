//! Keys, as a terminal sends them.

use std::{
    io::{self, Read as _},
    thread,
};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A key with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    Up,
    Down,
    Sort,
}

/// Hears what is pressed, until the terminal is gone. The thread that reads ends with the process.
pub(super) fn listen() -> UnboundedReceiver<Key> {
    let (tells, hears) = unbounded_channel();
    thread::spawn(move || {
        let mut bytes = [0; 64];
        while let Ok(count) = io::stdin().lock().read(&mut bytes) {
            let pressed = keys(bytes.get(..count).unwrap_or_default());
            if count == 0 || pressed.into_iter().any(|key| tells.send(key).is_err()) {
                return;
            }
        }
    });
    hears
}

/// Bytes that were read at once.
fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'q' | b'Q' => found.push(Key::Quit),
            b'k' => found.push(Key::Up),
            b'j' => found.push(Key::Down),
            b's' => found.push(Key::Sort),
            0x1b => {
                let (key, after) = arrow(rest);
                found.extend(key);
                rest = after;
            }
            _ => {}
        }
    }
    found
}

/// Rest of an escape sequence: `[` or `O`, numbers, and a character that says which key it is.
fn arrow(rest: &[u8]) -> (Option<Key>, &[u8]) {
    let Some(rest) = rest.strip_prefix(b"[").or_else(|| rest.strip_prefix(b"O")) else { return (None, rest) };
    let numbers = rest.iter().take_while(|byte| !(0x40..=0x7e).contains(*byte)).count();
    let (last, after) = rest.get(numbers..).and_then(<[u8]>::split_first).unwrap_or((&0, &[]));
    let key = match last {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        _ => None,
    };
    (key, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_what_else_a_terminal_sends() {
        let rows: [(&[u8], &[Key]); 7] = [
            (b"q", &[Key::Quit]),
            (b"jks", &[Key::Down, Key::Up, Key::Sort]),
            (b"\x1b[A\x1b[B\x1bOA", &[Key::Up, Key::Down, Key::Up]),
            (b"\x1b[1;5Aq", &[Key::Up, Key::Quit]),
            (b"\x1b[5~s", &[Key::Sort]),
            (b"\x1b", &[]),
            (b"xyz\x1b[", &[]),
        ];
        for (bytes, expected) in rows {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }
}
