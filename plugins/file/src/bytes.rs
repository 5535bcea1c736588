//! Between a file's bytes and a JSON text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::prelude::*;

inputs! {
    /// How bytes are written as text.
    #[derive(Clone, Copy)]
    pub enum Encoding {
        /// The text itself, which must be UTF-8.
        Utf8 = "utf-8",
        /// Base64 with padding.
        Base64 = "base64",
    }
}

/// The bytes that `content` stands for; code 3 when it stands for none.
pub(crate) fn decode(content: String, encoding: Encoding) -> Result<Vec<u8>> {
    match encoding {
        Encoding::Utf8 => Ok(content.into_bytes()),
        Encoding::Base64 => STANDARD.decode(content.trim()).or_error("input `content`: expected base64"),
    }
}

/// The text that stands for the bytes of `path`; code 2 when none does.
pub(crate) fn encode(bytes: Vec<u8>, encoding: Encoding, path: &str) -> Result<String> {
    match encoding {
        Encoding::Base64 => Ok(STANDARD.encode(bytes)),
        Encoding::Utf8 => String::from_utf8(bytes).map_err(|why| {
            let at = why.utf8_error().valid_up_to();
            let message =
                format!("`{path}` is not UTF-8 at byte {at}; `encoding: base64` reads it nevertheless");
            Outcome::failed(message).kind("encoding").retryable(false)
        }),
    }
}
