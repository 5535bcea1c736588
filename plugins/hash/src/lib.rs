//! Computes and verifies digests and HMACs of text and bytes.

mod bytes;
mod digest;

use bytes::{Encoding, Format};
use digest::Algorithm;
use phasm_sdk::prelude::*;
use subtle::ConstantTimeEq as _;

inputs! {
    /// A content, and how to digest it.
    pub struct Task {
        /// Operation to perform.
        operation: Operation = Operation::Digest,
        /// Function that makes the digest.
        algorithm: Algorithm = Algorithm::Sha256,
        /// Content to digest.
        content: String,
        /// Encoding of the content.
        encoding: Encoding = Encoding::Utf8,
        /// Key of an HMAC; absent for a plain digest.
        key: Option<String>,
        /// Encoding of the key.
        key_encoding as "keyEncoding": Encoding = Encoding::Utf8,
        /// Format of the digest, in both directions.
        format: Format = Format::Hex,
        /// Digest that the content should have; required for `verify`.
        expected: Option<String>,
    }
}

inputs! {
    /// Operations on a digest.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// Computes the digest.
        Digest = "digest",
        /// Compares the digest with `expected`.
        Verify = "verify",
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for a digest that is not the expected one, code 3 for bad inputs.
pub fn hash(call: Call<Task>) -> Result {
    let task = call.inputs;
    let mut problems = Vec::new();
    let content = bytes::decode("content", &task.content, task.encoding, &mut problems);
    let key = task.key.as_ref().map(|key| bytes::decode("key", key, task.key_encoding, &mut problems));
    if matches!(task.key.as_deref(), Some("")) {
        problems.push("input `key`: expected a key, got an empty text".to_owned());
    }
    if task.key.is_some() && matches!(task.algorithm, Algorithm::Blake3) {
        problems.push(
            "input `key`: there is no HMAC with `blake3`; expected `algorithm` `sha-256`, `sha-512`, `sha-1` or `md5`"
                .to_owned(),
        );
    }
    let expected = expected(&task, &mut problems);
    if !problems.is_empty() {
        return Err(Outcome::error(problems.join("; ")).kind("input").retryable(false));
    }
    let digest = task.algorithm.digest(&content, key.as_deref())?;
    match task.operation {
        Operation::Digest => Ok(Outcome::succeeded().output("digest", task.format.encode(&digest))),
        // The digest stays here: of an HMAC it would be the signature that the content should have had.
        Operation::Verify if bool::from(digest.ct_eq(&expected)) => {
            Ok(Outcome::succeeded().output("verified", true))
        }
        Operation::Verify => {
            let what = if key.is_some() { "HMAC" } else { "digest" };
            let message = format!(
                "the {} {what} of `content` is not the one in `expected`; the content, the key or the algorithm differs",
                task.algorithm.name()
            );
            Err(Outcome::failed(message).kind("mismatch").retryable(false))
        }
    }
}

/// Returns the bytes of `expected`, none if they are not compared.
fn expected(task: &Task, problems: &mut Vec<String>) -> Vec<u8> {
    match (task.operation, &task.expected) {
        (Operation::Digest, None) => Vec::new(),
        (Operation::Digest, Some(_)) => {
            problems.push("input `expected`: only `verify` reads it; write `operation: verify`".to_owned());
            Vec::new()
        }
        (Operation::Verify, None) => {
            problems.push("input `expected` is missing; expected the digest to compare with".to_owned());
            Vec::new()
        }
        (Operation::Verify, Some(text)) => {
            let size = task.algorithm.size();
            let found = task.format.decode(text);
            if found.as_ref().is_none_or(|bytes| bytes.len() != size) {
                problems.push(format!(
                    "input `expected`: expected the {size} bytes of a {} digest as {}, got {}",
                    task.algorithm.name(),
                    task.format.name(),
                    found.map_or_else(
                        || format!("{} characters that are no {}", text.chars().count(), task.format.name()),
                        |bytes| format!("{} bytes", bytes.len())
                    ),
                ));
                return Vec::new();
            }
            found.unwrap_or_default()
        }
    }
}

executor!(hash, {
    outputs: {
        /// The digest or HMAC, with `digest`.
        digest: Option<String>,
        /// True, with `verify`; a digest that differs is a failure.
        verified: Option<bool>,
    },
    codes: [
        { code: 2, meaning: "The digest is not the expected one." },
        { code: 3, meaning: "The inputs are wrong." },
    ],
    deterministic: true,
    examples: [
        {
            name: "digests a text",
            inputs: { content: "hello" },
            outputs: { digest: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" },
        },
        {
            name: "tells another digest",
            inputs: { operation: "verify", algorithm: "md5", content: "hello", expected: "00000000000000000000000000000000" },
            code: 2,
            message: "is not the one",
        },
        { name: "needs a digest to compare with", inputs: { operation: "verify", content: "hello" }, code: 3, message: "missing" },
    ],
});

#[cfg(test)]
mod tests;
