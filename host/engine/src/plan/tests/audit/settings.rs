//! Retries and timeouts.

use super::*;

/// R-W12, R-R1 to R-R3.
#[test]
fn counts_and_delays() {
    check_tasks(&[
        (r#""template": "work", "retry": {"limit": 0}"#, &[]),
        (r#""template": "work", "retry": {"limit": 100}"#, &[]),
        (r#""template": "work", "retry": {"limit": 101}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": -1}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": 1.5}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": "3"}"#, &["P010 retry.limit"]),
        (r#""template": "work", "retry": {"maxAttempts": -1}"#, &[]),
        (r#""template": "work", "retry": {"maxAttempts": 0}"#, &[]),
        (r#""template": "work", "retry": {"maxAttempts": -2}"#, &["P033 retry.maxAttempts"]),
        (r#""template": "work", "retry": {"maxAttempts": 2.5}"#, &["P033 retry.maxAttempts"]),
        (r#""template": "work", "retry": {"limit": 2, "maxAttempts": 3}"#, &["P032 retry"]),
        (r#""template": "work", "retry": {"limit": 2}, "policy": {"rules": []}"#, &["P032 policy"]),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 0.5, "maxDelay": "9s", "jitter": 1}"#,
            &["W013 retry.maxDelay"],
        ),
        (r#""template": "work", "retry": {"limit": 2, "delay": 0, "jitter": 0}"#, &[]),
        (
            r#""template": "work", "retry": {"limit": 2, "exponentialBackoff": 0}"#,
            &["P015 retry.exponentialBackoff"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "exponentialBackoff": -2}"#,
            &["P015 retry.exponentialBackoff"],
        ),
        (r#""template": "work", "retry": {"limit": 2, "jitter": 1.1}"#, &["P015 retry.jitter"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": "-1s"}"#, &["P030 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": -1}"#, &["P030 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": 1.5}"#, &["P010 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "maxDelay": "9s"}"#, &["W013 retry.maxDelay"]),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 1, "maxDelay": "9s"}"#,
            &["W013 retry.maxDelay"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 0.5, "maxDelay": "9s"}"#,
            &["W013 retry.maxDelay"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "1s"}"#,
            &["W013 retry.maxDelay"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "2s"}"#,
            &[],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "exponentialBackoff": 2, "jitter": 0.5}"#,
            &["W013 retry.exponentialBackoff", "W013 retry.jitter"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": 0, "exponentialBackoff": 2}"#,
            &["W013 retry.exponentialBackoff"],
        ),
        // Without a budget at least 1 ms lies between two attempts, and grows.
        (r#""template": "work", "retry": {"maxAttempts": -1, "exponentialBackoff": 2}"#, &[]),
        (r#""template": "work", "retry": {"limit": 0, "delay": "9s", "jitter": 1}"#, &["W013 retry.delay"]),
        (
            r#""template": "work", "retry": {"maxAttempts": 1, "expression": "true"}"#,
            &["W013 retry.expression"],
        ),
        (r#""template": "work", "retry": {"maxAttempts": 1}"#, &[]),
        (r#""template": "work", "retry": {"delay": "9s"}"#, &["W013 retry"]),
        (r#""template": "work", "retry": {"expression": "true"}"#, &["W013 retry"]),
        (r#""template": "work", "retry": {"max_attempts": 3}"#, &["P034 retry"]),
        (
            r#""template": "work", "retry": {"retry_when": "{{ status_code >= 500 }}", "limit": 3}"#,
            &["P034 retry"],
        ),
    ]);
}

/// R-U1, R-T1, R-T2, R-T6.
#[test]
fn timeouts() {
    check_tasks(&[
        (
            r#""template": "work", "timeout": "10h 30 minutes", "maxRuntime": "5000 ms", "deadline": {"timeout": "1 days"}"#,
            &["W024 timeout", "W024 deadline"],
        ),
        (r#""template": "work", "maxRuntime": 30, "timeout": "45 ""#, &["W016 timeout", "W016 maxRuntime"]),
        (r#""template": "work", "retry": {"limit": 1, "delay": 0}"#, &[]),
        (r#""template": "work", "retry": {"limit": 1, "delay": 30}"#, &["W016 retry.delay"]),
        (r#""template": "work", "deadline": {"timeout": "1s", "errorOnTimeout": true}"#, &[]),
        (r#""template": "work", "timeout": {"timeout": "1s"}"#, &["P010 timeout"]),
        (r#""template": "work", "maxRuntime": {"errorOnTimeout": true}"#, &["P013 maxRuntime.timeout"]),
        (
            r#""template": "work", "maxRuntime": {"timeout": "1s", "errorOnTimeout": "yes"}"#,
            &["P010 maxRuntime.errorOnTimeout"],
        ),
        (r#""template": "work", "maxRuntime": {"timeout": "1s", "error": true}"#, &["P011 maxRuntime.error"]),
        (r#""template": "work", "timeout": 0"#, &["P031 timeout"]),
        (r#""template": "work", "timeout": "0s""#, &["P031 timeout"]),
        (r#""template": "work", "timeout": -1"#, &["P031 timeout"]),
        (r#""template": "work", "maxInactivity": "-1s""#, &["P030 maxInactivity"]),
        (r#""template": "work", "deadline": "1h 30""#, &["P030 deadline"]),
        (r#""template": "work", "deadline": 1.5"#, &["P010 deadline"]),
        (r#""template": "work", "timeout": "none""#, &["P030 timeout"]),
        (r#""template": "work", "timeout": "9223372036854775808""#, &["P030 timeout"]),
        (r#""template": "work", "timeout": "1s", "retry": {"limit": 1}"#, &["W003 timeout"]),
        (r#""template": "work", "timeout": "1s", "retry": {"limit": 1}, "maxRuntime": "1s""#, &[]),
        (
            r#""template": "work", "timeout": "1s", "policy": {"rules": [{"else": {"then": {"do": "retry"}}}]}"#,
            &["W003 timeout", "W024 policy.rules[0]"],
        ),
    ]);
}
