//! Writes JSON in constant functions, which have neither traits nor allocation.

/// Keeps the first `N` bytes and counts all.
pub(crate) struct Writer<const N: usize> {
    pub(crate) bytes: [u8; N],
    pub(crate) len: usize,
    last: u8,
}

#[expect(
    clippy::indexing_slicing,
    reason = "the loops check the bounds; constant functions have no iterators"
)]
impl<const N: usize> Writer<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [b' '; N], len: 0, last: 0 }
    }

    pub(crate) const fn raw(&mut self, text: &str) {
        self.raw_bytes(text.as_bytes());
    }

    pub(super) const fn raw_bytes(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            self.byte(bytes[at]);
            at += 1;
        }
    }

    pub(crate) const fn byte(&mut self, byte: u8) {
        if self.len < N {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
        self.last = byte;
    }

    /// A comma, unless an object or a list has just begun.
    pub(super) const fn next(&mut self) {
        if !matches!(self.last, b'{' | b'[') {
            self.byte(b',');
        }
    }

    /// A member's name.
    pub(crate) const fn key(&mut self, name: &str) {
        self.next();
        self.string(name);
        self.byte(b':');
    }

    pub(crate) const fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.escaped(text.as_bytes());
        self.byte(b'"');
    }

    pub(super) const fn escaped(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                byte @ (b'"' | b'\\') => {
                    self.byte(b'\\');
                    self.byte(byte);
                }
                byte @ ..b' ' => {
                    self.raw("\\u00");
                    self.byte(b'0' + (byte >> 4));
                    self.byte(hex(byte & 15));
                }
                byte => self.byte(byte),
            }
            at += 1;
        }
    }

    pub(super) const fn strings(&mut self, texts: &[&str]) {
        let mut at = 0;
        while at < texts.len() {
            self.next();
            self.string(texts[at]);
            at += 1;
        }
    }

    pub(super) const fn number(&mut self, number: i64) {
        if number < 0 {
            self.byte(b'-');
        }
        self.digits(number.unsigned_abs());
    }

    pub(super) const fn digits(&mut self, number: u64) {
        if number > 9 {
            self.digits(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }
}

const fn hex(digit: u8) -> u8 {
    match digit {
        0..10 => b'0' + digit,
        _ => b'a' + digit - 10,
    }
}
