//! Sizes in messages.

use std::fmt;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Number of bytes, formatted for people: `64 MiB`, `1000 bytes`.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= MIB && n % MIB == 0 => write!(f, "{} MiB", n / MIB),
            n if n >= KIB && n % KIB == 0 => write!(f, "{} KiB", n / KIB),
            n => write!(f, "{n} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        for (bytes, text) in [(0, "0 bytes"), (1000, "1000 bytes"), (8192, "8 KiB"), (64 * MIB, "64 MiB")] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
