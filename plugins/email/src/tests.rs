use phasm_sdk::{prelude::*, testing::call};

use super::email;

#[test]
fn mistakes_are_named_all_at_once() {
    let outcome =
        call(email, json!({ "host": "h", "from": "ada", "to": ["a@b.example", "no one"], "cc": ["x\r\ny"] }));
    assert_eq!(outcome.code, ExecCode::Error);
    assert_eq!(outcome.detail.get("error"), Some(&json!({ "kind": "input", "retryable": false })));
    for part in [
        "`from`: expected an address",
        "`to`: expected",
        "got `no one`",
        "`cc`",
        "`text` and `html` are missing",
    ] {
        assert!(outcome.message.contains(part), "{part}: {}", outcome.message);
    }
    let without_recipients =
        call(email, json!({ "host": "h", "from": "a@b.example", "to": [], "text": "x" }));
    assert!(without_recipients.message.contains("at least one recipient"), "{}", without_recipients.message);
}

#[test]
fn a_relay_that_is_not_there_may_come_back() {
    let inputs =
        json!({ "host": "127.0.0.1", "port": 1, "from": "a@b.example", "to": ["c@d.example"], "text": "x" });
    let outcome = call(email, inputs);
    assert!(outcome.message.starts_with("no connection to the relay: "), "{}", outcome.message);
    assert_eq!(outcome.detail.get("error"), Some(&json!({ "kind": "connection", "retryable": true })));
}
