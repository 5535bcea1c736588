use phasm_sdk::testing::call;

use super::*;

fn digest(inputs: Value) -> String {
    let outcome = call(hash, inputs);
    assert_eq!(outcome.message, "");
    outcome.get("digest").unwrap().as_str().unwrap().to_owned()
}

fn fails(inputs: Value, code: i32, message: &str) {
    let outcome = call(hash, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
    assert_eq!(outcome.detail["error"]["retryable"], json!(false));
    assert!(outcome.outputs.is_empty(), "{outcome:?}");
}

#[test]
fn digests_are_those_of_the_standards() {
    for (algorithm, expected) in [
        ("sha-256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "sha-512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        ("sha-1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("blake3", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
    ] {
        assert_eq!(digest(json!({ "algorithm": algorithm, "content": "abc" })), expected);
    }
    assert_eq!(
        digest(json!({ "content": "" })),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

/// RFC 4231 and RFC 2202, test case 2.
#[test]
fn hmacs_are_those_of_the_standards() {
    for (algorithm, expected) in [
        ("sha-256", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            "sha-512",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
        ("sha-1", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        ("md5", "750c783e6ab0b503eaa86e310a5db738"),
    ] {
        let inputs =
            json!({ "algorithm": algorithm, "content": "what do ya want for nothing?", "key": "Jefe" });
        assert_eq!(digest(inputs), expected);
    }
}

#[test]
fn contents_keys_and_digests_have_encodings() {
    let text = digest(json!({ "content": "abc", "key": "key" }));
    let encoded = json!({ "content": "YWJj", "encoding": "base64", "key": "6b6579", "keyEncoding": "hex" });
    assert_eq!(digest(encoded), text);
    assert_eq!(digest(json!({ "content": "616263", "encoding": "hex", "key": "key" })), text);
    let base64 = json!({ "content": "abc", "algorithm": "md5", "format": "base64" });
    assert_eq!(digest(base64), "kAFQmDzST7DWlj99KOF/cg==");
}

#[test]
fn a_digest_is_verified_in_either_case() {
    for expected in ["900150983cd24fb0d6963f7d28e17f72", " 900150983CD24FB0D6963F7D28E17F72\n"] {
        let inputs =
            json!({ "operation": "verify", "algorithm": "md5", "content": "abc", "expected": expected });
        let outcome = call(hash, inputs);
        assert_eq!(outcome, Outcome::succeeded().output("verified", true));
    }
}

/// The message and the outputs do not say which signature would have been right.
#[test]
fn a_digest_that_differs_fails_without_saying_the_right_one() {
    let inputs = json!({
        "operation": "verify", "algorithm": "md5", "content": "abc", "key": "secret",
        "expected": "900150983cd24fb0d6963f7d28e17f72",
    });
    let outcome = call(hash, inputs.clone());
    assert_eq!(outcome.detail["error"]["kind"], json!("mismatch"));
    let message = "the md5 HMAC of `content` is not the one in `expected`; the content, the key or the algorithm differs";
    fails(inputs, 2, message);
}

#[test]
fn all_bad_inputs_are_reported_at_once_and_secrets_are_not_repeated() {
    fails(
        json!({
            "operation": "verify", "algorithm": "blake3", "content": "!", "encoding": "base64",
            "key": "secret!", "keyEncoding": "hex", "expected": "abc",
        }),
        3,
        "input `content`: expected base64, got 1 characters that are not; `utf-8` takes any text; \
        input `key`: expected hexadecimal digits, got 7 characters that are not; `utf-8` takes any text; \
        input `key`: there is no HMAC with `blake3`; expected `algorithm` `sha-256`, `sha-512`, `sha-1` or `md5`; \
        input `expected`: expected the 32 bytes of a blake3 digest as hexadecimal digits, got 3 characters that are no \
        hexadecimal digits",
    );
    fails(
        json!({ "operation": "verify", "content": "abc", "expected": "00ff" }),
        3,
        "input `expected`: expected the 32 bytes of a sha-256 digest as hexadecimal digits, got 2 bytes",
    );
    fails(
        json!({ "operation": "verify", "content": "abc" }),
        3,
        "input `expected` is missing; expected the digest to compare with",
    );
    fails(
        json!({ "content": "abc", "expected": "00", "key": "" }),
        3,
        "input `key`: expected a key, got an empty text; input `expected`: only `verify` reads it; write `operation: verify`",
    );
    let outcome = call(hash, json!({ "algorithm": "crc32", "content": "abc" }));
    assert!(
        outcome.message.contains("expected `sha-256`, `sha-512`, `sha-1`, `md5` or `blake3`"),
        "{outcome:?}"
    );
}

#[test]
fn large_contents_and_keys_are_digested() {
    let million = "a".repeat(1_000_000);
    assert_eq!(
        digest(json!({ "content": million })),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    );
    assert_eq!(digest(json!({ "content": "abc", "key": million })).len(), 64);
}
