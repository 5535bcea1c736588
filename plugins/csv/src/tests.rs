use phasm_sdk::testing::{Test, call};

use super::*;

const ORDERS: &str = "id,region,amount\n1,eu,10.10\n2,us,9\n3,eu,0.2\n4,,100\n";

fn outcome(operation: &str, inputs: Value) -> Outcome {
    let mut inputs = inputs;
    inputs["operation"] = json!(operation);
    call(csv, inputs)
}

/// Runs an operation and gives the rows as JSON text, so that the order of keys and the digits of numbers count.
fn rows(operation: &str, inputs: Value) -> String {
    let outcome = outcome(operation, inputs);
    assert_eq!(outcome.message, "");
    let rows = outcome.outputs.iter().find(|(name, _)| name == "rows").unwrap();
    rows.1.as_str().to_owned()
}

fn ids(operation: &str, inputs: Value) -> String {
    let rows: Vec<Value> = phasm_sdk::serde_json::from_str(&rows(operation, inputs)).unwrap();
    rows.iter().map(|row| row["id"].to_string().trim_matches('"').to_owned()).collect::<Vec<_>>().join(" ")
}

fn fails(operation: &str, inputs: Value, code: i32, kind: &str, message: &str) {
    let outcome = outcome(operation, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
    assert_eq!(outcome.detail["error"], json!({ "kind": kind, "retryable": false }));
}

fn where_(condition: Value) -> Value {
    json!({ "text": ORDERS, "where": [condition] })
}

#[test]
fn the_type_of_a_value_says_how_cells_are_compared() {
    for (is, value, expected) in [
        ("less", json!(10), "2 3"),
        ("atMost", json!(10.1), "1 2 3"),
        ("greater", json!(9), "1 4"),
        ("atLeast", json!(9), "1 2 4"),
        ("equal", json!(10.1), "1"),
        ("notEqual", json!(9.0), "1 3 4"),
        ("oneOf", json!([9, 100]), "2 4"),
        // Among texts, "9" is the last.
        ("greater", json!("100"), "2"),
        ("equal", json!("10.1"), ""),
        ("equal", json!("10.10"), "1"),
        ("contains", json!("0"), "1 3 4"),
        ("startsWith", json!("10"), "1 4"),
        ("endsWith", json!("2"), "3"),
        ("oneOf", json!(["9", "9.0"]), "2"),
    ] {
        let inputs = where_(json!({ "column": "amount", "is": is, "value": value }));
        assert_eq!(ids("filter", inputs), expected, "{is} {value}");
    }
    assert_eq!(ids("filter", where_(json!({ "column": "region", "is": "empty" }))), "4");
    assert_eq!(ids("filter", where_(json!({ "column": "region", "is": "notEmpty" }))), "1 2 3");
    assert_eq!(ids("filter", where_(json!({ "column": "region", "is": "notEqual", "value": "eu" }))), "2 4");
}

#[test]
fn rows_fulfil_all_conditions_or_any() {
    let conditions = json!([
        { "column": "region", "is": "equal", "value": "eu" },
        { "column": "amount", "is": "less", "value": 9.5 },
    ]);
    assert_eq!(ids("filter", json!({ "text": ORDERS, "where": conditions })), "3");
    assert_eq!(ids("filter", json!({ "text": ORDERS, "where": conditions, "needs": "any" })), "1 2 3");
}

#[test]
fn lists_of_objects_keep_their_values() {
    let test = Test::new()
        .inputs(json!({ "operation": "filter", "where": [{ "column": "ok", "is": "equal", "value": true }] }))
        .input_json("rows", Json::from_text(r#"[{"z":1.50,"ok":true,"a":[1]},{"ok":false},{"ok":true}]"#));
    let outcome = test.run(csv).outcome;
    assert_eq!(outcome.message, "");
    assert_eq!(outcome.outputs[1].1.as_str(), r#"[{"z":1.50,"ok":true,"a":[1]},{"ok":true}]"#);
    assert_eq!(outcome.get("count"), Some(json!(2)));
}

#[test]
fn a_cell_of_another_type_is_a_failure_with_its_place() {
    let inputs = json!({
        "rows": [{ "a": "1" }, { "a": 1 }, { "a": "1,5" }, {}, { "a": "01" }, { "a": " 1" }],
        "where": [{ "column": "a", "is": "less", "value": 3 }],
    });
    let message = "row 3, column `a`: expected a number, got \"1,5\"; row 4, column `a`: there is no value to compare; \
                   `empty: skip` leaves such rows out; row 5, column `a`: expected a number, got \"01\"; row 6, column \
                   `a`: expected a number, got \" 1\"";
    fails("filter", inputs, 2, "cell", message);
    let inputs = json!({ "rows": [{ "a": 1 }], "where": [{ "column": "a", "is": "equal", "value": "1" }] });
    let message = "row 1, column `a`: expected a text, got 1; `type: number` compares numbers";
    fails("filter", inputs, 2, "cell", message);
    let inputs = json!({ "text": "a\ntrue\n", "where": [{ "column": "a", "is": "equal", "value": true }] });
    let message = "row 1, column `a`: expected a boolean, got \"true\"; a text is compared with a text, such as \"true\"";
    fails("filter", inputs, 2, "cell", message);
    let inputs = json!({ "rows": [{ "a": null }, { "a": 1 }], "where": [{ "column": "a", "is": "less", "value": 3 }], "empty": "skip" });
    assert_eq!(rows("filter", inputs), r#"[{"a":1}]"#);
}

/// One message names some of many faults, and how many more there are.
#[test]
fn many_faults_are_one_short_message() {
    let text = format!("a\n{}", "x\n".repeat(50_000));
    let outcome = outcome("sort", json!({ "text": text, "by": [{ "column": "a", "type": "number" }] }));
    assert!(outcome.message.ends_with("; and 49980 more"), "{}", outcome.message);
    assert!(outcome.message.len() < 2000);
}

#[test]
fn columns_are_selected_in_order_and_renamed() {
    let inputs =
        json!({ "text": ORDERS, "columns": ["region", "id"], "rename": { "id": "order" }, "render": true });
    let outcome = outcome("select", inputs);
    assert_eq!(outcome.get("text"), Some(json!("region,order\neu,1\nus,2\neu,3\n,4\n")));
    let inputs = json!({ "rows": [{ "a": 1, "b": 2 }, { "b": null }], "columns": ["a"] });
    assert_eq!(rows("select", inputs), r#"[{"a":1},{"a":null}]"#);
    let inputs =
        json!({ "rows": [{ "a": 1, "b": 2 }], "columns": ["a", "c"], "rename": { "b": "d", "a": "c" } });
    let message = "input `columns`: there is no column `c`; expected one of `a`, `b`; input `rename`: expected names of \
                   `columns`, got `b`; a column that is renamed is kept, too; inputs `columns` and `rename`: expected \
                   each column once, got `c` twice";
    fails("select", inputs, 3, "input", message);
}

#[test]
fn rows_are_sorted_as_texts_or_as_numbers() {
    let by = |keys: Value| json!({ "text": ORDERS, "by": keys });
    assert_eq!(ids("sort", by(json!([{ "column": "amount" }]))), "3 1 4 2");
    assert_eq!(ids("sort", by(json!([{ "column": "amount", "type": "number" }]))), "3 2 1 4");
    let keys = json!([{ "column": "region", "descending": true }, { "column": "amount", "type": "number" }]);
    assert_eq!(ids("sort", by(keys)), "2 3 1 4");
    let missing = json!({ "rows": [{ "id": 1 }, { "id": 2, "n": 5 }, { "id": 3, "n": 7.5 }], "empty": "skip",
            "by": [{ "column": "n", "type": "number", "descending": true }] });
    assert_eq!(ids("sort", missing), "3 2 1");
    let message = "row 1, column `n`: there is no value to sort by; `empty: skip` puts such rows last";
    let missing = json!({ "rows": [{ "id": 1 }, { "n": 5 }], "by": [{ "column": "n", "type": "number" }] });
    fails("sort", missing, 2, "cell", message);
}

#[test]
fn groups_are_aggregated_exactly() {
    let compute = json!([
        { "name": "n", "function": "count" },
        { "name": "sum", "function": "sum", "column": "amount" },
        { "name": "min", "function": "min", "column": "amount" },
        { "name": "max", "function": "max", "column": "amount" },
        { "name": "mean", "function": "mean", "column": "amount" },
    ]);
    assert_eq!(
        rows("aggregate", json!({ "text": ORDERS, "groupBy": ["region"], "compute": compute })),
        r#"[{"region":"eu","n":2,"sum":10.3,"min":0.2,"max":10.1,"mean":5.15},{"region":"us","n":1,"sum":9,"min":9,"max":9,"mean":9},{"region":"","n":1,"sum":100,"min":100,"max":100,"mean":100}]"#
    );
    // Doubles would give 0.30000000000000004.
    assert_eq!(
        rows("aggregate", json!({ "rows": [{ "amount": 0.1 }, { "amount": "0.2" }], "compute": compute })),
        r#"[{"n":2,"sum":0.3,"min":0.1,"max":0.2,"mean":0.15}]"#
    );
    assert_eq!(
        rows("aggregate", json!({ "text": "amount\n", "compute": compute })),
        r#"[{"n":0,"sum":0,"min":null,"max":null,"mean":null}]"#
    );
    let third =
        json!({ "text": "a\n1\n0\n0\n", "compute": [{ "name": "m", "function": "mean", "column": "a" }] });
    assert_eq!(rows("aggregate", third), r#"[{"m":0.3333333333333333}]"#);
    let dates = json!({ "text": "d\n2026-02-01\n2025-12-31\n",
        "compute": [{ "name": "first", "function": "min", "column": "d", "type": "text" }] });
    assert_eq!(rows("aggregate", dates), r#"[{"first":"2025-12-31"}]"#);
}

#[test]
fn groups_tell_texts_from_numbers_and_skip_only_what_they_may() {
    let count = json!([{ "name": "n", "function": "count", "column": "v" }]);
    let inputs = json!({ "rows": [{ "k": 1, "v": 1 }, { "k": 1.0, "v": null }, { "k": "1" }, {}],
        "groupBy": ["k"], "compute": count });
    assert_eq!(rows("aggregate", inputs), r#"[{"k":1,"n":1},{"k":"1","n":0},{"k":null,"n":0}]"#);
    let sum = json!([{ "name": "s", "function": "sum", "column": "v" }]);
    let inputs = json!({ "text": "v\n1\n\"\"\n2\n", "compute": sum });
    let message = "row 2, column `v`: there is no value; `empty: skip` leaves such cells out";
    fails("aggregate", inputs, 2, "cell", message);
    let inputs = json!({ "text": "v\n1\n\"\"\n2\n", "compute": sum, "empty": "skip" });
    assert_eq!(rows("aggregate", inputs), r#"[{"s":3}]"#);
}

#[test]
fn numbers_that_cannot_be_kept_fail() {
    let sum = json!([{ "name": "s", "function": "sum", "column": "v" }]);
    let kept = "expected an integer of 64 bits or a finite double";
    let inputs = json!({ "text": "v\n18446744073709551615\n1\n", "compute": sum });
    let message = format!("the sum for `s`: number 18446744073709551616 cannot be kept exactly; {kept}");
    fails("aggregate", inputs, 2, "number", &message);
    let inputs = json!({ "text": "v\n9007199254740993\n0.5\n", "compute": sum });
    let message = format!("the sum for `s`: number 9007199254740993.5 cannot be kept exactly; {kept}");
    fails("aggregate", inputs, 2, "number", &message);
    let inputs = json!({ "text": "v\n1e400\n", "compute": sum });
    fails(
        "aggregate",
        inputs,
        2,
        "cell",
        "row 1, column `v`: expected a number with at most 36 digits, got \"1e400\"",
    );
    let inputs = json!({ "text": "v\n1e35\n1e-36\n", "compute": sum });
    let message = "the sum for `s` has more than 36 digits; expected a sum that a number can hold";
    fails("aggregate", inputs, 2, "number", message);
}

#[test]
fn rows_are_joined() {
    let inputs = |keep: &str| {
        json!({ "text": ORDERS, "on": ["region"], "keep": keep,
            "right": [{ "region": "eu", "name": "Europe" }, { "region": "eu", "name": "EU" }, { "region": null }] })
    };
    assert_eq!(
        rows("join", inputs("inner")),
        r#"[{"id":"1","region":"eu","amount":"10.10","name":"Europe"},{"id":"1","region":"eu","amount":"10.10","name":"EU"},{"id":"3","region":"eu","amount":"0.2","name":"Europe"},{"id":"3","region":"eu","amount":"0.2","name":"EU"}]"#
    );
    assert_eq!(ids("join", inputs("left")), "1 1 2 3 3 4");
    assert!(rows("join", inputs("left")).contains(r#"{"id":"2","region":"us","amount":"9","name":null}"#));
    assert_eq!(ids("join", inputs("unmatched")), "2 4");
    let same = json!({ "text": "id,v\n1,a\n", "rightText": "id,v\n1,b\n", "on": ["id"] });
    let message = "both sides have a column `v`; `prefix` renames the columns of the right side, and `select` leaves some out";
    fails("join", same.clone(), 3, "input", message);
    let mut prefixed = same;
    prefixed["prefix"] = json!("new-");
    prefixed["render"] = json!(true);
    assert_eq!(outcome("join", prefixed).get("text"), Some(json!("id,v,new-v\n1,a,b\n")));
}

/// A join of numbers with texts would silently have no rows.
#[test]
fn columns_of_different_types_are_not_joined() {
    let inputs = json!({ "text": ORDERS, "right": [{ "id": 1 }, { "id": 2 }], "on": ["id"] });
    let message = "column `id` has the type text on the left side and number on the right side, which are never equal; \
                   write both as texts";
    fails("join", inputs, 2, "cell", message);
}

#[test]
fn results_are_bounded() {
    let many = format!("a,b\n{}", "1,2\n".repeat(1000));
    let right = format!("a,c\n{}", "1,2\n".repeat(1000));
    let inputs = json!({ "text": many, "rightText": right, "on": ["a"] });
    fails("join", inputs, 2, "too-large", "the join has more than 100000 rows; `maxRows` sets the limit");
    let inputs = json!({ "text": many, "by": [{ "column": "a" }], "maxRows": 999 });
    fails("sort", inputs, 2, "too-large", "`text` has more than 999 rows; `maxRows` sets the limit");
    let inputs = json!({ "rows": [{}, {}], "by": [{ "column": "a" }], "maxRows": 1 });
    fails("sort", inputs, 2, "too-large", "`rows` has more than 1 rows; `maxRows` sets the limit");
}

#[test]
fn deeply_nested_and_malformed_rows_are_refused() {
    let deep = format!("[{{\"a\":{}{}}}]", "[".repeat(100_000), "]".repeat(100_000));
    let test = Test::new()
        .inputs(json!({ "operation": "sort", "by": [{ "column": "a" }] }))
        .input_json("rows", Json::from_text(deep));
    let outcome = test.run(csv).outcome;
    assert_eq!(outcome.message, format!("row 1, column `a`: expected a text, got {}…", "[".repeat(40)));
    for (text, message) in [
        ("a,b\n1,2\n1\n", "input `text` is not CSV: a row of 1 cells among rows of 2 at line 3"),
        ("a,a\n", "input `text` is not CSV: the column `a` occurs twice at line 1"),
    ] {
        fails("sort", json!({ "text": text, "by": [{ "column": "a" }] }), 2, "parse", message);
    }
    let inputs = json!({ "rows": [{ "a": 1 }, [1], 7], "by": [{ "column": "a" }] });
    fails(
        "sort",
        inputs,
        2,
        "cell",
        "`rows[1]`: expected an object, got [1]; `rows[2]`: expected an object, got 7",
    );
}

#[test]
fn all_bad_inputs_are_reported() {
    fails(
        "sort",
        json!({ "by": [] }),
        3,
        "input",
        "inputs `rows` and `text` are missing; expected one of them, with the rows",
    );
    let both = json!({ "rows": [], "text": "", "by": [{ "column": "a" }] });
    fails("sort", both, 3, "input", "inputs `rows` and `text`: expected one of them, got both");
    let unread = json!({ "text": "a\n", "by": [{ "column": "a" }], "columns": ["a"], "on": ["a"] });
    let message =
        "input `columns`: only `select` reads it, not `sort`; input `on`: only `join` reads it, not `sort`";
    fails("sort", unread, 3, "input", message);
    let inputs = json!({ "text": ORDERS, "where": [
        { "column": "price", "is": "less", "value": "x" },
        { "column": "id", "is": "less", "value": true },
        { "column": "id", "is": "oneOf", "value": [1, "1"] },
        { "column": "id", "is": "contains", "value": 1 },
        { "column": "id", "is": "empty", "value": 1 },
        { "column": "id", "is": "equal" },
    ] });
    let of = |expected: &str, got: &str| {
        format!("input `where`: expected {expected} as `value` of the condition on `id`, got {got}")
    };
    let message = [
        "input `where`: there is no column `price`; expected one of `id`, `region`, `amount`".to_owned(),
        of("a text or a number", "true"),
        of("a list of texts or a list of numbers", "[1,\"1\"]"),
        of("a text", "1"),
        of("nothing", "1"),
        of("a text, a number or a boolean", "nothing"),
    ];
    fails("filter", inputs, 3, "input", &message.join("; "));
    let inputs = json!({ "text": ORDERS, "compute": [
        { "name": "n", "function": "sum" }, { "name": "n", "function": "mean", "column": "id", "type": "text" },
    ] });
    let message = "inputs `groupBy` and `compute`: expected each name once, got `n` twice; input `compute`: `column` of \
                   `n` is missing; expected the column; input `compute`: expected `type: number` for `n`, got `text`; \
                   texts have no sum and no mean";
    fails("aggregate", inputs, 3, "input", message);
    let inputs = json!({ "text": "a", "by": [{ "column": "a" }], "delimiter": ";;" });
    let message = "input `delimiter`: expected one ASCII character, no quote or line end, got \";;\"";
    fails("sort", inputs, 3, "input", message);
}
