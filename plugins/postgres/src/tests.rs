use std::time::Duration;

use phasm_sdk::{
    duration::Millis,
    prelude::*,
    testing::{Test, call},
};
use postgres_types::Type;

use super::{form::Form, params, postgres, statement_timeout};

fn written(of: &Type, text: &str) -> Result<Value, String> {
    let mut written = String::new();
    Form::of(of.oid()).0.write(text, &mut written)?;
    Json::from_text(written).parse().map_err(|error| error.to_string())
}

#[test]
fn values_are_written_without_loss() {
    let rows = [
        (Type::BOOL, "t", json!(true)),
        (Type::INT8, "9223372036854775807", json!(i64::MAX)),
        (Type::FLOAT8, "-0.1e-7", json!(-0.1e-7)),
        (Type::FLOAT8, "NaN", json!("NaN")),
        (Type::NUMERIC, "12345678901234567890.10", json!("12345678901234567890.10")),
        (Type::JSONB, r#"{"a": [1, null]}"#, json!({ "a": [1, null] })),
        (Type::BYTEA, "\\x00ff10", json!("AP8Q")),
        (Type::BYTEA, "\\x", json!("")),
        (Type::TIMESTAMP, "2026-01-31 08:00:00.5", json!("2026-01-31T08:00:00.5")),
        (Type::TIMESTAMPTZ, "2026-01-31 08:00:00+00", json!("2026-01-31T08:00:00Z")),
        (Type::TIMESTAMPTZ, "0044-03-15 12:00:00+00 BC", json!("0044-03-15 12:00:00+00 BC")),
        (Type::TIMESTAMPTZ, "infinity", json!("infinity")),
        (Type::TEXT, "a \"b\"\n", json!("a \"b\"\n")),
        (Type::INT4_ARRAY, "{1,NULL,3}", json!([1, null, 3])),
        (Type::INT4_ARRAY, "[0:1]={1,2}", json!([1, 2])),
        (Type::INT4_ARRAY, "{{1,2},{3,4}}", json!([[1, 2], [3, 4]])),
        (Type::INT4_ARRAY, "{}", json!([])),
        (
            Type::TEXT_ARRAY,
            r#"{a,"b,c","\"\\","NULL",NULL,""}"#,
            json!(["a", "b,c", "\"\\", "NULL", null, ""]),
        ),
        (Type::JSONB_ARRAY, r#"{"{\"a\": 1}","[2]"}"#, json!([{ "a": 1 }, [2]])),
        (Type::BOX_ARRAY, "{(1,1),(0,0);(2,2),(1,1)}", json!(["(1,1),(0,0)", "(2,2),(1,1)"])),
    ];
    for (of, text, expected) in rows {
        assert_eq!(written(&of, text), Ok(expected), "{of} {text}");
    }
    assert!(written(&Type::JSON, "[12345678901234567890123]").is_err_and(|why| why.contains("::text")));
    for broken in ["{1", "{1,2", "1", "{1}x", "{\"a", "{{{{{{{1}}}}}}}"] {
        assert!(written(&Type::INT4_ARRAY, broken).is_err(), "{broken}");
    }
}

#[test]
fn parameters_are_written_by_their_types() {
    let rows = [
        (Type::INT4, json!(null), None),
        (Type::INT8, json!(u64::MAX), Some("18446744073709551615")),
        (Type::NUMERIC, json!("1.10"), Some("1.10")),
        (Type::BOOL, json!(false), Some("false")),
        (Type::TEXT, json!("a\"b"), Some("a\"b")),
        (Type::JSONB, json!("a"), Some("\"a\"")),
        (Type::JSON, json!([1, { "a": 2 }]), Some(r#"[1,{"a":2}]"#)),
        (Type::BYTEA, json!("AP8Q"), Some("\\x00ff10")),
        (Type::INT4_ARRAY, json!([[1, 2], [null, 4]]), Some(r#"{{"1","2"},{NULL,"4"}}"#)),
        (Type::TEXT_ARRAY, json!(["a,b", "\"\\", ""]), Some(r#"{"a,b","\"\\",""}"#)),
        (Type::JSONB_ARRAY, json!([[1], { "a": "b" }]), Some(r#"{"[1]","{\"a\":\"b\"}"}"#)),
    ];
    for (of, value, expected) in rows {
        let found = params::text(&Json::from(value.clone()), &of);
        assert_eq!(found, Ok(expected.map(str::to_owned)), "{of} {value}");
    }
    for (of, value) in [
        (Type::TEXT, json!([1])),
        (Type::TEXT, json!({})),
        (Type::TEXT, json!("a\0")),
        (Type::BYTEA, json!("no base64")),
        (Type::BYTEA, json!(1)),
        (Type::INT4_ARRAY, json!([{}])),
    ] {
        assert!(params::text(&Json::from(value.clone()), &of).is_err(), "{of} {value}");
    }
}

#[test]
fn the_server_ends_a_statement_before_the_attempt_is_over() {
    let millis = Duration::from_millis;
    assert_eq!(statement_timeout(None, None), None);
    assert_eq!(statement_timeout(Millis::new(700), None), Some(millis(700)));
    assert_eq!(statement_timeout(Millis::new(700), Some(millis(500))), Some(millis(450)));
    assert_eq!(statement_timeout(None, Some(millis(60_000))), Some(millis(59_750)));
    assert_eq!(statement_timeout(Millis::new(0), Some(millis(0))), Some(millis(1)));
}

#[test]
fn mistakes_say_what_to_write() {
    let rows = [
        (json!({ "command": "select 1" }), "input", "input `host` is missing"),
        (json!({ "command": "select 1", "url": "postgres://a", "auth": "b" }), "input", "write one"),
        (json!({ "command": "select 1", "url": "geheim" }), "input", "input `url`: expected `postgres://"),
        (
            json!({ "command": "select 1", "url": "postgres://a/b?sslmode=verify-full" }),
            "input",
            "`sslmode=verify-full`",
        ),
        (json!({ "command": "select 1", "auth": "pg_k8s" }), "grant", "env = { pg_k8s = \"postgres://…\" }"),
        (json!({ "command": "select\u{0}1", "host": "a" }), "input", "NUL"),
    ];
    for (inputs, kind, message) in rows {
        let outcome = call(postgres, inputs.clone());
        assert_eq!(outcome.code, ExecCode::Error, "{inputs}");
        assert!(
            outcome.message.contains(message) && !outcome.message.contains("geheim"),
            "{}",
            outcome.message
        );
        assert_eq!(
            outcome.detail.get("error"),
            Some(&json!({ "kind": kind, "retryable": false })),
            "{inputs}"
        );
    }
    let nowhere = Test::new().inputs(json!({ "command": "select 1", "host": "127.0.0.1", "port": 1 }));
    let outcome = nowhere.run(postgres).outcome;
    assert!(outcome.message.starts_with("no connection to the database: "), "{}", outcome.message);
    assert_eq!(outcome.detail.get("error"), Some(&json!({ "kind": "connection", "retryable": true })));
}
