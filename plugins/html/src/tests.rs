use phasm_sdk::testing::call;

use super::*;

const PAGE: &str = "<html><head><title>T</title></head><body>\
    <div class='p' id=a><h2>A <b>one</b></h2><a href='/a'>more</a><a href='/a2'>x</a></div>\
    <div class='p'><h2>B\n  two<script>no()</script></h2></div></body></html>";

fn matches(inputs: Value) -> Value {
    let mut inputs = inputs;
    if inputs.get("html").is_none() {
        inputs["html"] = json!(PAGE);
    }
    let outcome = call(html, inputs);
    assert_eq!(outcome.message, "");
    outcome.get("matches").unwrap()
}

fn fails(inputs: Value, code: i32, kind: &str, message: &str) {
    let outcome = call(html, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
    assert_eq!(outcome.detail["error"], json!({ "kind": kind, "retryable": false }));
}

#[test]
fn parts_of_elements_are_extracted() {
    for (inputs, expected) in [
        (json!({ "selector": "h2" }), json!(["A one", "B two"])),
        (
            json!({ "selector": ".p > a[href]", "get": "attribute", "attribute": "HREF" }),
            json!(["/a", "/a2"]),
        ),
        (json!({ "selector": "h2", "get": "attribute", "attribute": "href" }), json!([null, null])),
        (json!({ "selector": "#a h2", "get": "inner" }), json!(["A <b>one</b>"])),
        (json!({ "selector": "#a > h2", "get": "outer" }), json!(["<h2>A <b>one</b></h2>"])),
        (json!({ "selector": "script" }), json!(["no()"])),
        (json!({ "selector": "h2", "limit": 1 }), json!(["A one"])),
        (json!({ "selector": "h3" }), json!([])),
        (json!({ "selector": "p", "html": "<p>a &amp; b<p>c" }), json!(["a & b", "c"])),
    ] {
        assert_eq!(matches(inputs.clone()), expected, "{inputs}");
    }
    let none = call(html, json!({ "html": "", "selector": "p" }));
    assert_eq!((none.get("first"), none.get("count")), (Some(Value::Null), Some(json!(0))));
}

#[test]
fn fields_make_an_object_of_each_element() {
    let fields = json!({
        "title": { "selector": "h2" },
        "link": { "selector": "a", "get": "attribute", "attribute": "href" },
        "links": { "selector": "a", "all": true },
        "id": { "get": "attribute", "attribute": "id" },
    });
    assert_eq!(
        matches(json!({ "selector": ".p", "fields": fields })),
        json!([
            { "title": "A one", "link": "/a", "links": ["more", "x"], "id": "a" },
            { "title": "B two", "link": null, "links": [], "id": null },
        ])
    );
}

#[test]
fn all_bad_inputs_are_reported() {
    let outcome = call(
        html,
        json!({ "html": "", "selector": "a[", "get": "attribute",
            "fields": { "x": { "selector": "b >" }, "y": { "attribute": "z" }, "w": 1, "v": { "get": "size" } } }),
    );
    assert_eq!(i32::from(outcome.code), 3);
    for part in [
        "input `selector`: `a[` is no CSS selector: ",
        "input `attribute` is missing; expected the name of the attribute",
        "input `fields.x.selector`: `b >` is no CSS selector: ",
        "input `fields.y.attribute`: only `attribute` reads it; write `get: attribute`",
        "input `fields.w`: ",
        "input `fields.v`: ",
        "inputs `get` and `attribute`: each of the `fields` has its own; leave these out",
    ] {
        assert!(outcome.message.contains(part), "{part}: {}", outcome.message);
    }
    let long = json!({ "html": "", "selector": "a".repeat(5000) });
    fails(long, 3, "input", "input `selector`: expected at most 4096 bytes, got 5000");
    let deep = json!({ "html": "<p>", "selector": format!("{}p{}", ":not(".repeat(800), ")".repeat(800)) });
    let outcome = call(html, deep);
    assert!(outcome.code == ExecCode::Error || outcome.code == ExecCode::Succeeded, "{outcome:?}");
}

#[test]
fn results_are_bounded() {
    let many = "<p>a".repeat(20_000);
    let message =
        "there are more than 10000 matches; `maxMatches` sets the limit, and `limit` ends the search earlier";
    fails(json!({ "html": many, "selector": "p" }), 2, "too-large", message);
    // Each of 400 nested elements has those within it once more.
    let nested = format!("{}{}", "<div>".repeat(400), "x".repeat(100_000));
    let message = "the results have more than 4194304 bytes; `maxBytes` sets the limit, and `limit` ends the search earlier";
    fails(json!({ "html": nested, "selector": "div", "get": "outer" }), 2, "too-large", message);
    fails(json!({ "html": nested, "selector": "div" }), 2, "too-large", message);
    let fields = json!({ "a": { "selector": "div", "all": true } });
    fails(json!({ "html": nested, "selector": "div", "fields": fields }), 2, "too-large", message);
    let message = "the page has 3 bytes; `maxBytes` allows 2";
    fails(json!({ "html": "<p>", "selector": "p", "maxBytes": 2 }), 2, "too-large", message);
}

#[test]
fn hostile_pages_end() {
    let message = "the elements of the page are nested more than 512 deep";
    fails(json!({ "html": "<div>".repeat(2_000), "selector": "div div" }), 2, "too-large", message);
    for page in [
        "<b><i>".repeat(200) + &"</b></i>".repeat(200),
        "<table><tr><td>".repeat(100),
        "<!--".repeat(10_000),
        "<a b=".repeat(10_000),
        "&".repeat(100_000),
        "\0<\u{feff}p>".to_owned(),
        "<svg><p><math><mi><table>".repeat(50),
    ] {
        let outcome = call(html, json!({ "html": page, "selector": "p" }));
        assert!(outcome.code == ExecCode::Succeeded || outcome.detail["error"]["kind"] == "too-large");
    }
}
