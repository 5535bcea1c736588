use std::{collections::VecDeque, fs, time::Duration};

use phasm_sdk::testing::{Test, call};

use super::*;
use crate::{
    answer::Head,
    fault::{Fault, Kind},
    patience::Patience,
    request::Request,
    transport::{ANSWERS, Answer, SENT},
    url::Url,
};

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Result<Answer, Fault> {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let parts = body.as_bytes().chunks(4).map(|part| Ok(part.to_vec())).collect();
    Ok(Answer { head: Head { status, headers }, parts })
}

fn serve(answers: impl IntoIterator<Item = Result<Answer, Fault>>) {
    SENT.take();
    ANSWERS.set(answers.into_iter().collect::<VecDeque<_>>());
}

fn sent() -> Vec<Request> {
    SENT.take()
}

/// Returns the request for these inputs. The response is an empty 200.
fn request(inputs: Value) -> Request {
    serve([answer(200, &[], "")]);
    let outcome = call(http, inputs);
    assert_eq!(outcome.message, "");
    sent().remove(0)
}

fn told(status: u16, headers: &[(&str, &str)], body: &str, mut inputs: Value) -> Outcome {
    serve([answer(status, headers, body)]);
    inputs["url"] = json!("https://a.example/x?key=hidden");
    call(http, inputs)
}

#[test]
fn a_request_is_what_the_inputs_say() {
    let request = request(json!({
        "method": "post",
        "url": "http://a.example:81/v 1/ä?x=1#y",
        "params": { "page": 2, "tag": ["a&b", "ü"], "none": null, "yes": true },
        "headers": { "X-One": "1", "X-Two": [1, "2"], "User-Agent": "me" },
        "body": { "a": [1] },
    }));
    assert_eq!(request.method, "POST");
    assert_eq!(
        request.url,
        Url {
            secure: false,
            authority: "a.example:81".to_owned(),
            path: "/v%201/%C3%A4".to_owned(),
            query: "?x=1&page=2&tag=a%26b&tag=%C3%BC&yes=true".to_owned(),
        }
    );
    let headers: Vec<_> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("User-Agent", "me"),
        ("X-One", "1"),
        ("X-Two", "1"),
        ("X-Two", "2"),
        ("content-type", "application/json"),
        ("accept", "application/json, */*;q=0.8"),
    ];
    assert_eq!(headers, expected);
    assert_eq!(sent_bytes(&request), b"{\"a\":[1]}");
}

#[test]
fn a_text_is_sent_as_it_is_and_keys_when_asked() {
    let request = request(json!({
        "url": "https://a.example", "method": "PUT", "body": "plain", "idempotencyKey": true,
    }));
    assert_eq!((request.url.path.as_str(), request.url.query.as_str()), ("/", ""));
    assert_eq!(sent_bytes(&request), b"plain");
    let header =
        |name: &str| request.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
    assert_eq!(header("content-type").unwrap(), "text/plain; charset=utf-8");
    assert_eq!(header("idempotency-key").unwrap(), "run/test/1/1");
}

#[test]
fn whom_to_be() {
    let header = |auth: Value| {
        let request = request(json!({ "url": "https://a.example", "auth": auth }));
        request.headers.into_iter().find(|(name, _)| name == "authorization").unwrap().1
    };
    assert_eq!(header(json!({ "bearer": "t" })), "Bearer t");
    assert_eq!(header(json!({ "username": "Ada", "password": "p:w" })), "Basic QWRhOnA6dw==");
    assert_eq!(header(json!({ "username": "Ada" })), "Basic QWRhOg==");
    let with = |auth: Value, name: &str| {
        let request = request(json!({ "url": "https://a.example", "auth": auth, "secret": "s" }));
        request.headers.into_iter().find(|(given, _)| given == name).unwrap().1
    };
    assert_eq!(with(Value::Null, "authorization"), "Bearer s");
    assert_eq!(with(json!({ "username": "Ada" }), "authorization"), "Basic QWRhOnM=");
    assert_eq!(with(json!({ "header": "X-Key" }), "X-Key"), "s");
}

/// R-N9: what seed 002 has under `spec` comes as configuration, its numbers as seconds.
#[test]
fn patience_is_told_as_in_seed_002_or_by_durations() {
    let patience = |config: Value, inputs: Value| {
        serve([answer(200, &[], "")]);
        let ran = Test::new().config(config).input("url", "https://a.example").inputs(inputs).run(http);
        assert_eq!(ran.outcome.message, "");
        sent().remove(0).patience
    };
    let of = |connect: u64, read: u64| Patience {
        connect: Duration::from_millis(connect),
        read: Duration::from_millis(read),
    };
    let seed = json!({ "spec": { "timeout": { "connect": 5, "read": 15 }, "other": 1 } });
    assert_eq!(patience(seed.clone(), json!({})), of(5_000, 15_000));
    assert_eq!(patience(seed, json!({ "timeout": { "read": "250ms" } })), of(10_000, 250));
    assert_eq!(patience(json!({}), json!({ "timeout": { "connect": 0.5 } })), of(500, 60_000));
    assert_eq!(patience(json!({}), json!({})), of(10_000, 60_000));
}

#[test]
fn what_does_not_fit_is_named() {
    let rows = [
        (json!({ "url": "ftp://a" }), "input `url`: expected `https://…` or `http://…`"),
        (json!({ "url": "a.example" }), "input `url`: expected `https://…` or `http://…`"),
        (json!({ "url": "https:///x" }), "input `url`: expected a host after the scheme"),
        (json!({ "url": "https://a", "method": "G T" }), "input `method`: expected a word such as `GET`"),
        (
            json!({ "url": "https://a", "params": { "q": {} } }),
            "input `params`: expected a text, a number, true, false, null or a list of them in `q`",
        ),
        (
            json!({ "url": "https://a", "auth": {} }),
            "input `auth`: expected `bearer`, or `username` and `password`, or `header` and the input `secret`",
        ),
    ];
    for (inputs, message) in rows {
        let outcome = call(http, inputs);
        assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Error, message));
        assert_eq!(outcome.detail["error"], json!({ "kind": "input", "retryable": false }));
    }
    let outcome = call(http, json!({ "url": "https://a", "timeout": { "read": 0 } }));
    assert!(
        outcome.message.contains("expected seconds, or a duration such as `1m 30s`"),
        "{}",
        outcome.message
    );
}

#[test]
fn a_good_answer_is_its_outputs() {
    let json = ("content-type", "application/vnd.a+json; charset=utf-8");
    let rows = [
        (json!({}), vec![json], r#"{"a":1}"#, "json", json!({ "a": 1 })),
        (json!({}), vec![json], "{", "text", json!("{")),
        (json!({}), vec![], r#"{"a":1}"#, "text", json!(r#"{"a":1}"#)),
        (json!({ "expect": "json" }), vec![], r#"{"a":1}"#, "json", json!({ "a": 1 })),
        (json!({ "expect": "text" }), vec![json], "1", "text", json!("1")),
        (json!({ "expect": "base64" }), vec![json], "1", "base64", json!("MQ==")),
        (json!({ "expect": "json" }), vec![], "", "text", json!("")),
    ];
    for (inputs, headers, body, format, expected) in rows {
        let outcome = told(200, &headers, body, inputs);
        assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Succeeded, ""));
        assert_eq!(outcome.get("body"), Some(expected));
        assert_eq!(
            (outcome.get("format"), outcome.get("size")),
            (Some(json!(format)), Some(json!(body.len())))
        );
        assert_eq!(outcome.get("url"), Some(json!("https://a.example/x")));
        assert_eq!(outcome.detail["http"]["status"], json!(200));
    }
    let outcome = told(404, &[("a", "1"), ("a", "2")], "", json!({ "accept": [404] }));
    assert_eq!((outcome.code, outcome.get("headers")), (ExecCode::Succeeded, Some(json!({ "a": "1, 2" }))));
}

#[test]
fn what_was_expected_and_did_not_come_fails() {
    let outcome = told(200, &[], "<html>", json!({ "expect": "json" }));
    assert_eq!(outcome.code, ExecCode::Failed);
    assert_eq!(
        outcome.message,
        "GET https://a.example/x: the body is not JSON: expected value at line 1 column 1"
    );
    assert_eq!(outcome.detail["error"]["kind"], json!("parse"));
    assert_eq!(outcome.detail["http"]["status"], json!(200));
    let json = [("content-type", "application/json")];
    for (headers, inputs) in [(&json[..0], json!({ "expect": "json" })), (&json[..], json!({}))] {
        let outcome = told(200, headers, "{\"id\": 18446744073709551616}", inputs);
        let message = "GET https://a.example/x: the body cannot be read as JSON: number 18446744073709551616 cannot be kept exactly";
        assert!(outcome.message.starts_with(message), "{}", outcome.message);
    }
    let outcome = told(200, &[], "12345", json!({ "maxBytes": 4 }));
    let message = "GET https://a.example/x: the body is larger than 4 bytes; `maxBytes` sets the limit, `saveTo` streams it into a file";
    assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Failed, message));
}

/// R-N4: rules read `outcome.http.status` and `outcome.error`.
#[test]
fn each_status_has_its_code_and_kind() {
    let rows = [
        (400, ExecCode::Failed, "client_error", false, "400 Bad Request"),
        (401, ExecCode::Failed, "auth", false, "401 Unauthorized"),
        (403, ExecCode::Failed, "auth", false, "403 Forbidden"),
        (404, ExecCode::Failed, "client_error", false, "404 Not Found"),
        (408, ExecCode::Error, "timeout", true, "408 Request Timeout"),
        (418, ExecCode::Failed, "client_error", false, "418"),
        (429, ExecCode::Error, "rate_limit", true, "429 Too Many Requests"),
        (500, ExecCode::Error, "server_error", true, "500 Internal Server Error"),
        (501, ExecCode::Failed, "server_error", false, "501 Not Implemented"),
        (503, ExecCode::Error, "server_error", true, "503 Service Unavailable"),
        (304, ExecCode::Failed, "redirect", false, "304 Not Modified"),
    ];
    for (status, code, kind, retryable, words) in rows {
        let outcome = told(status, &[("content-type", "application/json")], r#"{"why":"so"}"#, json!({}));
        assert_eq!(outcome.code, code, "{status}");
        assert_eq!(outcome.message, format!("GET https://a.example/x: {words}"));
        assert_eq!(outcome.detail["error"], json!({ "kind": kind, "code": status, "retryable": retryable }));
        assert_eq!(outcome.detail["http"]["status"], json!(status));
        assert_eq!(outcome.get("body"), Some(json!({ "why": "so" })));
    }
}

#[test]
fn when_to_come_back_is_told_in_seconds() {
    let rows = [
        (vec![("retry-after", "7")], Some(7)),
        (
            vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), ("date", "Wed, 21 Oct 2026 07:28:00 GMT")],
            Some(30),
        ),
        (
            vec![("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"), ("date", "Wed, 21 Oct 2026 07:28:30 GMT")],
            Some(0),
        ),
        (vec![("retry-after", "soon")], None),
        (vec![], None),
    ];
    for (headers, seconds) in rows {
        let outcome = told(429, &headers, "", json!({}));
        assert_eq!(
            outcome.detail["http"].get("retryAfter"),
            seconds.map(|s| json!(s)).as_ref(),
            "{headers:?}"
        );
        assert_eq!(outcome.message.ends_with(", to be tried again after 7 s"), seconds == Some(7));
    }
}

#[test]
fn each_fault_has_its_code_and_kind() {
    let rows = [
        (Kind::Timeout, ExecCode::Timeout, "timeout", true),
        (Kind::Connection, ExecCode::Error, "connection", true),
        (Kind::Protocol, ExecCode::Error, "protocol", true),
        (Kind::Tls, ExecCode::Error, "tls", false),
        (Kind::Grant, ExecCode::Error, "grant", false),
        (Kind::Input, ExecCode::Error, "input", false),
    ];
    for (kind, code, word, retryable) in rows {
        serve([Err(Fault::new(kind, "so"))]);
        let outcome = call(http, json!({ "url": "https://u:p@a.example/x?key=hidden" }));
        assert_eq!((outcome.code, outcome.message.as_str()), (code, "GET https://a.example/x: so"));
        assert_eq!(outcome.detail["error"], json!({ "kind": word, "retryable": retryable }));
        assert_eq!(outcome.detail.get("http"), None);
    }
    let mut broken = answer(200, &[], "1234").unwrap();
    broken.parts.push_back(Err(Fault::new(Kind::Connection, "the answer broke off")));
    serve([Ok(broken)]);
    let outcome = call(http, json!({ "url": "https://a.example" }));
    assert_eq!(
        (outcome.code, outcome.message.as_str()),
        (ExecCode::Error, "GET https://a.example/: the answer broke off")
    );
}

#[test]
fn a_body_is_streamed_into_a_file_that_is_whole_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin").to_str().unwrap().to_owned();
    let names = || fs::read_dir(directory.path()).unwrap().count();
    let outcome = told(200, &[], "123456789", json!({ "saveTo": path }));
    assert_eq!(
        (outcome.message.as_str(), outcome.get("size"), outcome.get("path")),
        ("", Some(json!(9)), Some(json!(path)))
    );
    assert_eq!(outcome.get("body"), None);
    assert_eq!(fs::read_to_string(&path).unwrap(), "123456789");
    let outcome = told(500, &[], "oh", json!({ "saveTo": path }));
    assert_eq!((outcome.code, outcome.get("body")), (ExecCode::Error, Some(json!("oh"))));
    let outcome = told(200, &[], "123456789", json!({ "saveTo": path, "maxBytes": 5 }));
    assert_eq!(outcome.code, ExecCode::Failed);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("123456789", 1));
    let missing = directory.path().join("none/a");
    let outcome = told(200, &[], "1", json!({ "saveTo": missing }));
    assert_eq!((outcome.code, &outcome.detail["error"]["kind"]), (ExecCode::Error, &json!("io")));
}

#[test]
fn redirects_are_new_requests_without_what_is_for_the_first_host() {
    let location = |status, to: &str| answer(status, &[("location", to)], "");
    let go = |inputs: Value, answers: Vec<Result<Answer, Fault>>| {
        serve(answers.into_iter().chain([answer(200, &[], "there")]));
        let mut all = json!({ "url": "https://a.example/x/y?q=1", "headers": { "Authorization": "s", "Cookie": "c", "X": "1" } });
        all.as_object_mut().unwrap().extend(inputs.as_object().unwrap().clone());
        let outcome = call(http, all);
        let shown = |r: &Request| format!("{} {}{}", r.method, r.url.shown(), r.url.query);
        (outcome, sent().iter().map(shown).collect::<Vec<_>>(), ())
    };
    let rows = [
        ("/z", "GET https://a.example/z"),
        ("z?b=2", "GET https://a.example/x/z?b=2"),
        ("../../../z/.", "GET https://a.example/z/"),
        ("?b", "GET https://a.example/x/y?b"),
        ("//b.example", "GET https://b.example/"),
        ("https://b.example:8443/u", "GET https://b.example:8443/u"),
    ];
    for (to, expected) in rows {
        let (outcome, asked, ()) = go(json!({}), vec![location(302, to)]);
        assert_eq!(asked, ["GET https://a.example/x/y?q=1", expected]);
        assert_eq!(outcome.get("body"), Some(json!("there")));
    }
    let (_, asked, ()) =
        go(json!({ "method": "POST", "body": "b" }), vec![location(307, "/1"), location(303, "/2")]);
    assert_eq!(
        asked,
        ["POST https://a.example/x/y?q=1", "POST https://a.example/1", "GET https://a.example/2"]
    );
    let (outcome, asked, ()) = go(json!({ "maxRedirects": 0 }), vec![location(301, "/1")]);
    assert_eq!((outcome.code, asked.len()), (ExecCode::Failed, 1));
    let (outcome, asked, ()) = go(json!({}), vec![location(301, "http://a.example/")]);
    assert_eq!(
        (outcome.message.as_str(), asked.len()),
        ("GET https://a.example/x/y: redirected from https to http://a.example/", 1)
    );
    let endless = (0..9).map(|_| location(301, "/1")).collect();
    let (outcome, asked, ()) = go(json!({}), endless);
    assert_eq!((outcome.code, asked.len()), (ExecCode::Failed, 6));
}

#[test]
fn another_host_gets_no_credentials() {
    let names = |to: &str| {
        serve([answer(302, &[("location", to)], ""), answer(200, &[], "")]);
        let headers = json!({ "Cookie": "c", "X": "1" });
        let _ = call(
            http,
            json!({ "url": "https://a.example", "headers": headers, "auth": { "header": "X-Key" }, "secret": "s" }),
        );
        let request = sent().remove(1);
        request.headers.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names("/2"), ["Cookie", "X", "X-Key", "user-agent", "accept"]);
    for other in ["https://b.example", "https://a.example:444/", "https://sub.a.example"] {
        assert_eq!(names(other), ["X", "user-agent", "accept"], "{other}");
    }
}

/// A request says how long its body is, also where there is none, unless its method has none.
#[test]
fn the_length_of_a_body_is_said_once() {
    for (method, body, expected) in [
        ("GET", json!(null), None),
        ("HEAD", json!(null), None),
        ("GET", json!("ab"), Some(2)),
        ("POST", json!(null), Some(0)),
        ("PUT", json!(null), Some(0)),
        ("PATCH", json!(null), Some(0)),
        ("DELETE", json!(null), Some(0)),
        ("POST", json!("abc"), Some(3)),
    ] {
        let mut inputs = json!({ "method": method, "url": "http://a.example" });
        if !body.is_null() {
            inputs["body"] = body;
        }
        assert_eq!(request(inputs).content_length(), expected, "{method}");
    }
    for name in ["Content-Length", "content-length", "Transfer-Encoding"] {
        serve([]);
        let outcome = call(http, json!({ "url": "http://a.example", "headers": { name: "5" } }));
        assert!(outcome.message.contains(&format!("`{name}` follows from `body`")), "{}", outcome.message);
        assert!(sent().is_empty());
    }
}

/// Each of several cookies stays itself; other headers are joined.
#[test]
fn several_cookies_are_a_list() {
    let cookies = [
        ("set-cookie", "a=1; Expires=Wed, 01 Jan 2030 00:00:00 GMT"),
        ("set-cookie", "b=2"),
        ("set-cookie", "c=3"),
    ];
    let headers = [&cookies[..], &[("vary", "a"), ("vary", "b")]].concat();
    let outcome = told(200, &headers, "", json!({}));
    let shown: Value = outcome.outputs.iter().find(|(name, _)| name == "headers").unwrap().1.parse().unwrap();
    assert_eq!(shown["set-cookie"], json!(["a=1; Expires=Wed, 01 Jan 2030 00:00:00 GMT", "b=2", "c=3"]));
    assert_eq!(shown["vary"], json!("a, b"));
    let one = told(200, &[("set-cookie", "a=1")], "", json!({}));
    let shown: Value = one.outputs.iter().find(|(name, _)| name == "headers").unwrap().1.parse().unwrap();
    assert_eq!(shown["set-cookie"], json!("a=1"));
}

fn sent_bytes(request: &Request) -> Vec<u8> {
    let mut all = Vec::new();
    let content = request.body.as_ref().unwrap();
    content
        .for_each(|part| {
            all.extend_from_slice(part);
            Ok(())
        })
        .unwrap();
    assert_eq!(content.len(), all.len() as u64);
    all
}

fn header<'r>(request: &'r Request, name: &str) -> &'r str {
    request
        .headers
        .iter()
        .find(|(given, _)| given.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
        .unwrap()
}

#[test]
fn a_file_is_sent_as_the_body() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv").to_str().unwrap().to_owned();
    // Longer than one piece.
    let long = "a,b\n".repeat(content::PIECE_BYTES);
    fs::write(&path, &long).unwrap();
    let by_path = request(json!({ "url": "https://a.example", "method": "PUT", "bodyFile": path }));
    assert_eq!(
        (sent_bytes(&by_path), header(&by_path, "content-type")),
        (long.clone().into_bytes(), "application/octet-stream")
    );
    let artifact = json!({ "artifact": "sha256:00", "path": path, "media": "text/csv", "name": "rows.csv" });
    let by_reference = request(json!({ "url": "https://a.example", "method": "PUT", "bodyFile": artifact }));
    assert_eq!(
        (sent_bytes(&by_reference), header(&by_reference, "content-type")),
        (long.into_bytes(), "text/csv")
    );
    for (inputs, code, says) in [
        (json!({ "bodyFile": directory.path().join("none") }), ExecCode::Failed, "it does not exist"),
        (json!({ "bodyFile": directory.path() }), ExecCode::Failed, "it is a directory"),
        (
            json!({ "bodyFile": path, "body": "x" }),
            ExecCode::Error,
            "expected one of `body`, `bodyFile` and `form`",
        ),
        (json!({ "bodyFile": { "artifact": "sha256:00" } }), ExecCode::Error, "`artifacts = true`"),
        (json!({ "bodyFile": 5 }), ExecCode::Error, "expected a path or an artifact"),
    ] {
        let outcome = told(200, &[], "", inputs);
        assert_eq!(outcome.code, code, "{}", outcome.message);
        assert!(outcome.message.contains(says), "{}", outcome.message);
    }
}

#[test]
fn fields_and_files_are_sent_as_a_form() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a\".txt").to_str().unwrap().to_owned();
    fs::write(&path, "hello").unwrap();
    let sent = request(json!({ "url": "https://a.example", "method": "POST", "form": [
        { "name": "note\r\n\"x\"", "value": "plain" },
        { "name": "rows", "value": [1, 2] },
        { "name": "file", "file": path, "contentType": "text/plain" },
        { "name": "renamed", "file": path, "filename": "b.bin" },
    ] }));
    let kind = header(&sent, "content-type");
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let part = |head: &str, body: &str| {
        format!("--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n")
    };
    let expected = [
        part("name=\"note%0D%0A%22x%22\"\r\ncontent-type: text/plain; charset=utf-8", "plain"),
        part("name=\"rows\"\r\ncontent-type: application/json", "[1,2]"),
        part("name=\"file\"; filename=\"a%22.txt\"\r\ncontent-type: text/plain", "hello"),
        part("name=\"renamed\"; filename=\"b.bin\"\r\ncontent-type: application/octet-stream", "hello"),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(String::from_utf8(sent_bytes(&sent)).unwrap(), expected.concat());
    for (form, says) in [
        (json!([{ "name": "a" }]), "input `form[0]`: expected `value` or `file`"),
        (json!([{ "name": "a", "value": 1, "file": "x" }]), "input `form[0]`: expected `value` or `file`"),
        (json!([{ "name": "a", "value": 1, "contentType": "a\r\nb" }]), "expected a media type"),
    ] {
        let outcome = told(200, &[], "", json!({ "method": "POST", "form": form }));
        assert!(outcome.code == ExecCode::Error && outcome.message.contains(says), "{}", outcome.message);
    }
}

fn pages(answers: Vec<Result<Answer, Fault>>, pages: Value) -> (Outcome, Vec<String>) {
    serve(answers);
    let outcome = call(http, json!({ "url": "https://a.example/items?x=1", "secret": "s", "pages": pages }));
    let asked = sent()
        .iter()
        .map(|request| format!("{}{}{}", request.url.authority, request.url.path, request.url.query))
        .collect();
    (outcome, asked)
}

#[test]
fn pages_are_read_until_there_is_no_next() {
    let link = |to: &str| format!("<https://a.example/first>; rel=\"first\", <{to}>; rel=\"prev next\"");
    let (outcome, asked) = pages(
        vec![
            answer(200, &[("link", &link("/items?page=2"))], "[1,2]"),
            answer(200, &[("link", "</items>; rel=first")], "[3]"),
        ],
        json!({}),
    );
    assert_eq!(
        (outcome.get("items"), outcome.get("pages"), outcome.get("size")),
        (Some(json!([1, 2, 3])), Some(json!(2)), Some(json!(8)))
    );
    assert_eq!(asked, ["a.example/items?x=1", "a.example/items?page=2"]);
    let (outcome, asked) = pages(
        vec![
            answer(
                200,
                &[],
                "{\"data\":{\"rows\":[{\"n\":1}]},\"links\":[{\"next\":\"https://a.example/b\"}]}",
            ),
            answer(302, &[("location", "/c")], ""),
            answer(200, &[], "{\"data\":{\"rows\":[]},\"links\":[{\"next\":null}]}"),
        ],
        json!({ "items": "data.rows", "next": "links.0.next" }),
    );
    assert_eq!((outcome.get("items"), outcome.get("body")), (Some(json!([{ "n": 1 }])), None));
    assert_eq!(asked, ["a.example/items?x=1", "a.example/b", "a.example/c"]);
}

#[test]
fn pages_end_where_something_is_wrong() {
    let next = [("link", "</items>; rel=next")];
    for (answers, given, code, says) in [
        (vec![answer(200, &[], "{}")], json!({}), ExecCode::Failed, "the body is no list; `pages.items`"),
        (
            vec![answer(200, &[], "{}")],
            json!({ "items": "a.b" }),
            ExecCode::Failed,
            "`a.b` of the body is no list",
        ),
        (vec![answer(200, &[], "x")], json!({}), ExecCode::Failed, "the body is not JSON"),
        (
            vec![answer(200, &next, "[1]"), answer(200, &next, "[2]")],
            json!({ "maxPages": 2 }),
            ExecCode::Failed,
            "more than 2 pages",
        ),
        (vec![answer(200, &next, "[1]"), answer(503, &[], "busy")], json!({}), ExecCode::Error, "503"),
        (
            vec![answer(200, &[("link", "<http://a.example/x>; rel=next")], "[1]")],
            json!({}),
            ExecCode::Failed,
            "from https to",
        ),
    ] {
        let (outcome, _) = pages(answers, given);
        assert_eq!(outcome.code, code, "{}", outcome.message);
        assert!(outcome.message.contains(says), "{}", outcome.message);
    }
    // Another host gets no credentials.
    serve([answer(200, &[("link", "<https://b.example/x>; rel=next")], "[1]"), answer(200, &[], "[]")]);
    assert_eq!(call(http, json!({ "url": "https://a.example", "secret": "s", "pages": {} })).message, "");
    let asked = sent();
    let has = |request: &Request| request.headers.iter().any(|(name, _)| name == "authorization");
    assert_eq!((has(&asked[0]), has(&asked[1])), (true, false));
}
