//! Between bytes and texts.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::prelude::*;

inputs! {
    /// How bytes are written as text.
    #[derive(Clone, Copy)]
    pub enum Encoding {
        /// The UTF-8 bytes of the text itself.
        Utf8 = "utf-8",
        /// Base64 with padding.
        Base64 = "base64",
        /// Hexadecimal digits.
        Hex = "hex",
    }
}

inputs! {
    /// How a digest is written.
    #[derive(Clone, Copy)]
    pub enum Format {
        /// Hexadecimal digits, in lower case.
        Hex = "hex",
        /// Base64 with padding.
        Base64 = "base64",
    }
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hex => "hexadecimal digits",
            Self::Base64 => "base64",
        }
    }

    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Base64 => STANDARD.encode(bytes),
        }
    }

    /// Returns the bytes of a text, or `None` if it has another format. White space around it does no harm.
    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => unhex(text.trim()),
            Self::Base64 => STANDARD.decode(text.trim()).ok(),
        }
    }
}

/// Returns the bytes of an input. The message does not repeat the text, which may be a secret.
pub(crate) fn decode(name: &str, text: &str, encoding: Encoding, problems: &mut Vec<String>) -> Vec<u8> {
    let (found, format) = match encoding {
        Encoding::Utf8 => return text.as_bytes().to_vec(),
        Encoding::Base64 => (Format::Base64.decode(text), Format::Base64),
        Encoding::Hex => (Format::Hex.decode(text), Format::Hex),
    };
    found.unwrap_or_else(|| {
        problems.push(format!(
            "input `{name}`: expected {}, got {} characters that are not; `utf-8` takes any text",
            format.name(),
            text.chars().count()
        ));
        Vec::new()
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
