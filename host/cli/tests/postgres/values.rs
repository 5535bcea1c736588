//! Values of columns and of parameters.

use serde_json::{Value as Json, json};

use crate::{database::database, guest::Guests};

/// R-L166: each type is written as its documentation says.
#[tokio::test]
async fn values_arrive_without_loss() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    let rows = [
        ("null::int", json!(null)),
        ("true", json!(true)),
        ("(-32768)::int2", json!(-32768)),
        ("2147483647", json!(i32::MAX)),
        ("9223372036854775807", json!(i64::MAX)),
        ("(-9223372036854775808)::int8", json!(i64::MIN)),
        ("0.1::float8", json!(0.1)),
        ("0.1::float4", json!(0.1)),
        ("1e300::float8", json!(1e300)),
        ("'NaN'::float8", json!("NaN")),
        ("'-Infinity'::float4", json!("-Infinity")),
        ("12345678901234567890.1234567890", json!("12345678901234567890.1234567890")),
        ("'NaN'::numeric", json!("NaN")),
        ("1.10", json!("1.10")),
        ("'a \"b\" \\ \n é 🦀'", json!("a \"b\" \\ \n é 🦀")),
        ("'ab'::char(4)", json!("ab  ")),
        ("'\\x00ff10'::bytea", json!("AP8Q")),
        ("'2026-01-31'::date", json!("2026-01-31")),
        ("'08:00:00.25'::time", json!("08:00:00.25")),
        ("'2026-01-31 08:00:00.123456'::timestamp", json!("2026-01-31T08:00:00.123456")),
        ("'2026-01-31 08:00:00+02'::timestamptz", json!("2026-01-31T06:00:00Z")),
        ("'infinity'::timestamptz", json!("infinity")),
        ("'0044-03-15 BC'::timestamp", json!("0044-03-15 00:00:00 BC")),
        ("'1 day 2 hours'::interval", json!("P1DT2H")),
        ("'5b30857f-0bfa-48b5-ac0b-5c64e28078d1'::uuid", json!("5b30857f-0bfa-48b5-ac0b-5c64e28078d1")),
        ("'10.0.0.0/8'::inet", json!("10.0.0.0/8")),
        ("'[1,3)'::int4range", json!("[1,3)")),
        ("'{\"a\": [1, 2.5, null]}'::jsonb", json!({ "a": [1, 2.5, null] })),
        ("'null'::json", json!(null)),
        ("array[1, null, 3]", json!([1, null, 3])),
        ("array[[1, 2], [3, 4]]", json!([[1, 2], [3, 4]])),
        ("'[5:6]={1,2}'::int[]", json!([1, 2])),
        ("array['a,b', '\"\\', 'NULL', null, '']", json!(["a,b", "\"\\", "NULL", null, ""])),
        ("array['\\x00ff'::bytea]", json!(["AP8="])),
        ("array['2026-01-31 08:00+00'::timestamptz]", json!(["2026-01-31T08:00:00Z"])),
        ("array['{\"a\": 1}'::jsonb]", json!([{ "a": 1 }])),
        ("array[1.10, 2]", json!(["1.10", "2"])),
        ("row(1, 'a')", json!("(1,a)")),
    ];
    for (sql, expected) in rows {
        assert_eq!(
            guests.rows(&format!("select {sql} as it"), json!([])).await,
            json!([{ "it": expected }]),
            "{sql}"
        );
    }
    let lost = guests.ask("select '[12345678901234567890123]'::json as it", json!({})).await;
    assert!(
        lost.code == 2 && lost.message.contains("column `it`: number 12345678901234567890123"),
        "{}",
        lost.message
    );
}

/// R-L167: a value goes to the server by the type that the server finds for its parameter, and comes back the same.
#[tokio::test]
async fn parameters_are_bound_by_type() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    let rows = [
        ("int8", json!(9_007_199_254_740_993_i64)),
        ("numeric", json!("0.30000000000000000000001")),
        ("float8", json!(0.1)),
        ("bool", json!(false)),
        ("text", json!("'; drop table users; --")),
        ("text", json!(null)),
        ("bytea", json!("AP8Q")),
        ("jsonb", json!({ "a": ["b", null] })),
        ("jsonb", json!("a text")),
        ("jsonb", json!([1, 2])),
        ("timestamptz", json!("2026-01-31T08:00:00Z")),
        ("uuid", json!("5b30857f-0bfa-48b5-ac0b-5c64e28078d1")),
        ("int4[]", json!([[1, 2], [null, 4]])),
        ("text[]", json!(["a,b", "{\"\\}", "", null])),
        ("jsonb[]", json!([[1], { "a": "b" }])),
        ("bytea[]", json!(["AP8="])),
    ];
    for (of, value) in rows {
        let back = guests.rows(&format!("select $1::{of} as it"), json!([value])).await;
        assert_eq!(back, json!([{ "it": value }]), "{of}");
    }
    // A decimal may be written as a number where it has few digits.
    assert_eq!(guests.rows("select $1::numeric + $2 as it", json!([1.5, 2])).await, json!([{ "it": "3.5" }]));
    let ids =
        guests.rows("select id from generate_series(1, 5) id where id = any($1)", json!([[2, 4]])).await;
    assert_eq!(ids, json!([{ "id": 2 }, { "id": 4 }]));
    for (command, params, message) in [
        ("select $1::int", json!([]), "the statement has 1 parameters, got 0 values"),
        ("select 1", json!([1]), "the statement has 0 parameters, got 1 values"),
        ("select $1::int", json!([{}]), "value of `$1`: expected a value of type `int4`, got an object"),
        ("select $1::text", json!([["a"]]), "value of `$1`: expected a value of type `text`, got a list"),
        ("select $1::bytea", json!(["?"]), "value of `$1`: expected bytes as base64"),
    ] {
        let outcome = guests.ask(command, json!({ "params": params })).await;
        assert!(outcome.code == 3 && outcome.message.contains(message), "{command}: {}", outcome.message);
    }
}

/// R-L166: columns have names and types; equal names are numbered.
#[tokio::test]
async fn columns_and_counts_are_outputs() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    let one = guests.outputs("select 1 as a, 'x' as a, null::jsonb as \"b c\"", json!({})).await;
    let columns = json!([
        { "name": "a", "type": "int4" }, { "name": "a_2", "type": "text" }, { "name": "b c", "type": "jsonb" },
    ]);
    let rows = json!([{ "a": 1, "a_2": "x", "b c": null }]);
    assert_eq!(one, json!({ "command": "SELECT", "rowCount": 1, "rows": rows, "columns": columns }));
    database.psql("create table counted (id int primary key, name text)");
    let insert = "insert into counted select id, 'n' || id from generate_series(1, 3) id";
    let inserted = guests.outputs(insert, json!({})).await;
    assert_eq!(inserted, json!({ "command": "INSERT", "rowCount": 3 }));
    let deleted =
        guests.outputs("delete from counted where id = $1 returning name", json!({ "params": [2] })).await;
    assert_eq!((&deleted["rowCount"], &deleted["rows"]), (&json!(1), &json!([{ "name": "n2" }])));
    let made = guests.outputs("create index on counted (name)", json!({})).await;
    assert_eq!(made, json!({ "command": "CREATE INDEX", "rowCount": 0 }));
    assert_eq!(guests.outputs("vacuum counted", json!({})).await["command"], "VACUUM");
    assert_eq!(guests.outputs("-- nothing", json!({})).await, json!({ "command": "", "rowCount": 0 }));
    let none = guests.outputs("select * from counted where false", json!({})).await;
    assert_eq!((&none["rows"], &none["rowCount"]), (&Json::Array(Vec::new()), &json!(0)));
}
