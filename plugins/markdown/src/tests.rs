use phasm_sdk::testing::call;

use super::*;

fn html(text: &str) -> String {
    let outcome = call(markdown, json!({ "text": text }));
    assert_eq!(outcome.message, "");
    outcome.get("html").unwrap().as_str().unwrap().to_owned()
}

#[test]
fn markdown_is_rendered() {
    for (text, expected) in [
        (
            "# A *b*\n\n1. c\n2. `<d>`",
            "<h1>A <em>b</em></h1>\n<ol>\n<li>c</li>\n<li><code>&lt;d&gt;</code></li>\n</ol>\n",
        ),
        (
            "[a](https://example.org/?x=1&y \"t\")",
            "<p><a href=\"https://example.org/?x=1&amp;y\" title=\"t\">a</a></p>\n",
        ),
        ("![a *b*](c.png)", "<p><img src=\"c.png\" alt=\"a b\" /></p>\n"),
        (
            "|a|b|\n|-|-|\n|1|~~2~~|",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td><del>2</del></td></tr>\n</tbody></table>\n",
        ),
        ("", ""),
    ] {
        assert_eq!(html(text), expected);
    }
    let plain = call(markdown, json!({ "text": "|a|\n|-|", "extensions": false }));
    assert_eq!(plain.get("html"), Some(json!("<p>|a|\n|-|</p>\n")));
}

#[test]
fn markup_in_the_text_is_escaped_unless_it_is_trusted() {
    let text = "<script>alert(1)</script>\n\nx <b onclick='y'>z</b>";
    assert_eq!(
        html(text),
        "<p>&lt;script&gt;alert(1)&lt;/script&gt;\n</p>\n<p>x &lt;b onclick='y'&gt;z&lt;/b&gt;</p>\n"
    );
    let with = |html: &str| call(markdown, json!({ "text": text, "html": html })).get("html").unwrap();
    assert_eq!(with("remove"), json!("<p></p>\n<p>x z</p>\n"));
    assert_eq!(with("keep"), json!("<script>alert(1)</script>\n<p>x <b onclick='y'>z</b></p>\n"));
}

#[test]
fn links_lead_to_known_schemes_only() {
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#x09;script:alert(1)",
        "&#1;javascript:alert(1)",
        "javascript&colon;alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:x",
    ] {
        let outcome = call(markdown, json!({ "text": format!("[a]({address}) ![b](<{address}>)") }));
        let html = outcome.get("html").unwrap();
        assert_eq!(html, json!("<p>a b</p>\n"), "{address}");
        assert_eq!(outcome.get("blocked").unwrap().as_array().unwrap().len(), 1, "{address}");
    }
    for address in ["https://a.b/c:d", "/a:b", "a/b:c", "#a:b", "?a:b", "mailto:a@b.c", "//a.b/c"] {
        let outcome = call(markdown, json!({ "text": format!("[a]({address})") }));
        assert_eq!(outcome.get("html"), Some(json!(format!("<p><a href=\"{address}\">a</a></p>\n"))));
        assert_eq!(outcome.get("blocked"), Some(json!([])));
    }
    assert_eq!(html("<javascript:alert(1)>"), "<p>javascript:alert(1)</p>\n");
    let outcome = call(markdown, json!({ "text": "[a](ftp://b) [c](http://d)", "schemes": ["ftp"] }));
    assert_eq!(outcome.get("html"), Some(json!("<p><a href=\"ftp://b\">a</a> c</p>\n")));
    assert_eq!(outcome.get("blocked"), Some(json!(["http://d"])));
    // A link that is left out within one that is kept, and an image within a link.
    assert_eq!(html("[![a](data:x) b](c)"), "<p><a href=\"c\">a b</a></p>\n");
}

#[test]
fn attributes_cannot_be_broken_out_of() {
    assert_eq!(
        html("[a](<b\" onclick=\"c>) ![\"><script>](d)"),
        "<p><a href=\"b%22%20onclick=%22c\">a</a> <img src=\"d\" alt=\"&quot;&gt;&lt;script&gt;\" /></p>\n"
    );
    assert_eq!(
        html("``` x\"onclick=\"y\nz\n```"),
        "<pre><code class=\"language-x&quot;onclick=&quot;y\">z\n</code></pre>\n"
    );
}

/// Texts that made other parsers recurse, or take quadratic time.
#[test]
fn hostile_texts_end() {
    for text in [
        "> ".repeat(50_000),
        "- ".repeat(20_000),
        "[".repeat(50_000),
        "*a ".repeat(50_000),
        "`a``".repeat(20_000),
        "![".repeat(50_000),
        format!("{}a{}", "**".repeat(10_000), "**".repeat(10_000)),
        format!("[a]: {}\n\n{}", "b".repeat(10_000), "[a] ".repeat(10_000)),
        format!("{}\n{}\n{}", "|a".repeat(1000), "|-".repeat(1000), "|\n".repeat(50_000)),
        "<".repeat(50_000),
        "&".repeat(50_000),
    ] {
        let outcome = call(markdown, json!({ "text": text }));
        let size = outcome.get("html").map_or(0, |html| html.as_str().unwrap().len());
        assert!(size <= 4 << 20, "{size}");
        assert!(outcome.code == ExecCode::Succeeded || outcome.detail["error"]["kind"] == "too-large");
    }
}

#[test]
fn texts_and_results_are_bounded() {
    for (text, message) in [
        ("x".repeat(11), "the text has 11 bytes; `maxBytes` allows 10"),
        ("> > >".to_owned(), "the HTML would be larger than 10 bytes; `maxBytes` sets the limit"),
    ] {
        let outcome = call(markdown, json!({ "text": text, "maxBytes": 10 }));
        assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (2, message));
        assert_eq!(outcome.detail["error"], json!({ "kind": "too-large", "retryable": false }));
    }
    let many =
        "[a](data:x) ".repeat(1000) + &(0..1000).map(|n| format!("[a](data:{n}) ")).collect::<String>();
    let outcome = call(markdown, json!({ "text": many }));
    assert_eq!(outcome.get("blocked").unwrap().as_array().unwrap().len(), 100);
}
