//! Body of a response.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use phasm_sdk::{number, prelude::*};

use crate::{answer::Head, fault::Fault, transport::Answer};

inputs! {
    /// Required format of a response's body.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Expect {
        /// JSON where it says so and is, else text, else bytes.
        Auto = "auto",
        /// JSON, whatever it says.
        Json = "json",
        /// A text.
        Text = "text",
        /// Anything, as base64.
        Base64 = "base64",
    }
}

/// Maximum size of a body kept in memory, in bytes, unless the task sets another one.
pub(crate) const MAX_BODY_BYTES: u64 = 4 << 20;

/// Maximum size of the body of an error response, in bytes.
pub(crate) const MAX_ERROR_BODY_BYTES: u64 = 64 << 10;

/// Why a body could not be had.
pub(crate) enum BodyError {
    /// The body is larger than this number of bytes.
    TooLarge(u64),
    Fault(Fault),
    File(io::Error),
}

impl BodyError {
    pub(crate) fn outcome(self, request: &str, path: Option<&str>) -> Outcome {
        match self {
            Self::TooLarge(limit) => {
                let message = format!(
                    "{request}: the body is larger than {limit} bytes; `maxBytes` sets the limit, `saveTo` streams it into a file"
                );
                Outcome::failed(message).kind("too_large").retryable(false)
            }
            Self::Fault(fault) => fault.outcome(request),
            Self::File(why) => not_saved(path.unwrap_or_default(), &why),
        }
    }
}

fn not_saved(path: &str, why: &io::Error) -> Outcome {
    let message = format!("cannot write `{path}`: {why}");
    if Path::new(path).ancestors().skip(1).any(|above| fs::metadata(above).is_ok()) {
        return Outcome::error(message).kind("io");
    }
    let message = format!(
        "{message}; the operator grants a directory with `dirs` under `[grants.http]` in the host's configuration"
    );
    Outcome::error(message).kind("grant").retryable(false)
}

/// Reads at most `limit` bytes.
pub(crate) fn read(answer: &mut Answer, limit: u64) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    pour(answer, limit, |part| {
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

/// Reads the beginning of what may not be all that interesting.
pub(crate) fn beginning(answer: &mut Answer, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pour(answer, limit, |part| {
        bytes.extend_from_slice(part);
        Ok(())
    });
    bytes
}

/// Streams at most `limit` bytes into a file, which appears when it is whole.
pub(crate) fn save(answer: &mut Answer, path: &str, limit: u64, unique: &str) -> Result<u64, BodyError> {
    let unique: String = unique.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let beside = format!("{path}.{unique}.part");
    let saved = (|| {
        let mut file = fs::File::create(&beside).map_err(BodyError::File)?;
        let size = pour(answer, limit, |part| file.write_all(part))?;
        fs::rename(&beside, path).map_err(BodyError::File)?;
        Ok(size)
    })();
    if saved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    saved
}

fn pour(
    answer: &mut Answer,
    limit: u64,
    mut into: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<u64, BodyError> {
    let mut size = 0_u64;
    while let Some(part) = answer.read().map_err(BodyError::Fault)? {
        size = size.saturating_add(part.len() as u64);
        if size > limit {
            return Err(BodyError::TooLarge(limit));
        }
        into(&part).map_err(BodyError::File)?;
    }
    Ok(size)
}

/// Adds the body to what is known of an answer that is no error.
pub(crate) fn add(outcome: Outcome, head: &Head, bytes: Vec<u8>, expect: Expect, request: &str) -> Outcome {
    let size = bytes.len();
    match parsed(head, bytes, expect) {
        Ok((format, body)) => outcome.output("body", body).output("format", format).output("size", size),
        Err(why) => {
            let mut failed = Outcome::failed(format!("{request}: {why}")).kind("parse").retryable(false);
            failed.detail.extend(outcome.detail);
            failed.outputs = outcome.outputs;
            failed
        }
    }
}

/// Returns the value of a body.
///
/// # Errors
/// The words for a body that is not as expected.
pub(crate) fn value(head: &Head, bytes: Vec<u8>, expect: Expect) -> Result<Value, String> {
    parsed(head, bytes, expect).map(|(_, value)| value)
}

fn parsed(head: &Head, bytes: Vec<u8>, expect: Expect) -> Result<(&'static str, Value), String> {
    let text = match (expect, String::from_utf8(bytes)) {
        (Expect::Base64, text) => {
            let bytes = text.map_or_else(|why| why.into_bytes(), String::into_bytes);
            return Ok(("base64", STANDARD.encode(bytes).into()));
        }
        (_, Ok(text)) => text,
        (Expect::Auto, Err(why)) => return Ok(("base64", STANDARD.encode(why.as_bytes()).into())),
        (Expect::Json | Expect::Text, Err(why)) => {
            let at = why.utf8_error().valid_up_to();
            return Err(format!(
                "the body is not UTF-8 at byte {at}; `expect: base64` reads it nevertheless"
            ));
        }
    };
    let json = match expect {
        Expect::Json => Some(json(&text).map_err(|why| format!("the body is not JSON: {why}"))??),
        Expect::Auto if says_json(head) => json(&text).ok().transpose()?,
        Expect::Auto | Expect::Text | Expect::Base64 => None,
    };
    Ok(json.map_or_else(|| ("text", text.into()), |json| ("json", json)))
}

/// The value that the text stands for, or the number in it that would become another one.
fn json(text: &str) -> std::result::Result<Result<Value, String>, phasm_sdk::serde_json::Error> {
    let parsed = text.parse::<Value>();
    match number::lost(text) {
        Some((_, number)) => {
            let why = number::complaint(number);
            Ok(Err(format!("the body cannot be read as JSON: {why}; `expect: text` reads it as text")))
        }
        None => parsed.map(Ok),
    }
}

fn says_json(head: &Head) -> bool {
    let kind = head.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}
