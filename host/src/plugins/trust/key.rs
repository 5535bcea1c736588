//! Public keys.

use std::{fmt, str::FromStr};

use super::{ED25519, decoded, encoded, part};

/// A public key, written `RW` and 54 more characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey {
    pub(super) id: [u8; 8],
    pub(super) key: [u8; 32],
}

/// A text that is no [`PublicKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a public key of minisign's, which is `RW` and 54 more letters, digits, `+` and `/`, alone or with its number in parentheses"
)]
pub struct NotAPublicKey;

impl PublicKey {
    /// Its number, as minisign shows it.
    #[must_use]
    pub fn number(&self) -> String {
        super::number(self.id)
    }

    /// The key with its number behind it, as messages show it. It can be read back.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{self} ({})", self.number())
    }

    /// Whether a text is the number of a key, by which it can be told from others, and nothing can be checked.
    #[must_use]
    pub fn is_number(text: &str) -> bool {
        text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    fn bytes(&self) -> [u8; 42] {
        let mut bytes = [0; 42];
        let parts = ED25519.iter().chain(&self.id).chain(&self.key);
        bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = *part);
        bytes
    }
}

impl FromStr for PublicKey {
    type Err = NotAPublicKey;

    /// The key itself, its [name](Self::name), or the text of a file with it.
    fn from_str(text: &str) -> Result<Self, NotAPublicKey> {
        let line = text.lines().rfind(|line| !line.trim().is_empty()).ok_or(NotAPublicKey)?.trim();
        if let Some((key, number)) = line.strip_suffix(')').and_then(|name| name.split_once(" (")) {
            let key: Self = key.parse()?;
            return if key.number().eq_ignore_ascii_case(number) { Ok(key) } else { Err(NotAPublicKey) };
        }
        let bytes: [u8; 42] = decoded(line).ok_or(NotAPublicKey)?;
        if !bytes.starts_with(&ED25519) {
            return Err(NotAPublicKey);
        }
        let (id, key) = (part(&bytes, 2), part(&bytes, 10));
        Ok(Self { id: id.ok_or(NotAPublicKey)?, key: key.ok_or(NotAPublicKey)? })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoded(&self.bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_minisign_writes_them() {
        let line = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let key: PublicKey = line.parse().unwrap();
        assert_eq!((key.to_string().as_str(), key.number().as_str()), (line, "E7620F1842B4E81F"));
        assert_eq!(key.name(), format!("{line} (E7620F1842B4E81F)"));
        assert_eq!(key.name().parse(), Ok(key));
        assert!(PublicKey::is_number("E7620F1842B4E81F") && !PublicKey::is_number(line));
        let other = key.name().replace("E81F", "E81E");
        assert_eq!(other.parse::<PublicKey>(), Err(NotAPublicKey), "another key's number");
        let file = format!("untrusted comment: minisign public key\n{line}\n");
        assert_eq!(file.parse(), Ok(key));
        for wrong in ["", "RW", &line[2..], &line.replacen("RW", "RX", 1), "untrusted comment: a\n\n"] {
            assert_eq!(wrong.parse::<PublicKey>(), Err(NotAPublicKey), "{wrong}");
        }
    }
}
