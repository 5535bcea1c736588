//! Digests of bytes.

use std::{
    fmt,
    io::{self, Read},
    str::FromStr,
};

use sha2::{Digest as _, Sha256};

/// Bytes that are read at once.
const PART_BYTES: usize = 256 << 10;

/// SHA-256 of a component or an artifact, written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of everything that `reader` yields, and its length in bytes. Only a part of it is in memory.
    ///
    /// # Errors
    /// The errors of `reader`.
    pub fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let (mut hasher, mut part, mut length) = (Sha256::new(), vec![0; PART_BYTES], 0);
        loop {
            let read = match reader.read(&mut part) {
                Ok(0) => return Ok((Self(hasher.finalize().into()), length)),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(part.get(..read).unwrap_or_default());
            length += read as u64;
        }
    }

    /// Returns the 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        Hex(&self.0).to_string()
    }

    #[cfg(feature = "compile")]
    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is no [`Digest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected sha256: and 64 hexadecimal digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64).ok_or(NotADigest)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let [high, low] = pair else { return Err(NotADigest) };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

fn digit(character: u8) -> Result<u8, NotADigest> {
    let value = char::from(character).to_digit(16).ok_or(NotADigest)?;
    u8::try_from(value).map_err(|_| NotADigest)
}

/// Bytes in lower-case hexadecimal.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_and_read() {
        let digest = Digest::of(b"abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(text.to_uppercase().replace("SHA256", "sha256").parse(), Ok(digest));
        let wrong =
            ["", "sha256:", "md5:00", &text[7..], &text[..70], &format!("{text}0"), &text.replace('b', "g")];
        for text in wrong {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
        assert_eq!(format!("sha256:{}é", "0".repeat(62)).parse::<Digest>(), Err(NotADigest));
    }
}
