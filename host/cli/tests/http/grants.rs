//! Requests that are not granted are blocked in every disguise, and the operator is told how to grant them.

use std::net::{IpAddr, Ipv4Addr};

use phasm::sandbox::HttpConfig;
use serde_json::json;

use super::TIER;
use crate::{
    guest::{Guests, grant, said},
    server::{Reply, Server, ok},
};

/// R-I21: granted requests are answered.
#[tokio::test]
async fn a_granted_request_is_answered() {
    let server = Server::start([ok(r#"{"a":[1]}"#)]).await;
    let inputs = json!({
        "url": server.url("/v1/x?y=1"), "method": "POST", "params": { "z": "ä b" }, "headers": { "X-A": "1" }, "body": { "b": 2 },
    });
    let outcome = Guests::local(TIER).ask(inputs).await;
    assert_eq!((outcome.code, &*outcome.message), (0, ""));
    let said = said(&outcome);
    assert_eq!(said["outputs"]["body"], json!({ "a": [1] }));
    assert_eq!((&said["outputs"]["status"], &said["detail"]["http"]["status"]), (&json!(200), &json!(200)));
    let asked = server.requests().remove(0);
    assert!(asked.starts_with("POST /v1/x?y=1&z=%C3%A4%20b HTTP/1.1\r\n"), "{asked}");
    assert!(asked.ends_with("\r\n\r\n{\"b\":2}"), "{asked}");
    for header in [
        format!("host: 127.0.0.1:{}", server.port),
        "x-a: 1".to_owned(),
        "content-type: application/json".to_owned(),
        "content-length: 7".to_owned(),
    ] {
        assert!(asked.contains(&format!("\r\n{header}\r\n")), "{header} in {asked}");
    }
}

/// R-I24: a word of where it belongs goes with each request, and is the same for every execution of it.
#[tokio::test]
async fn a_request_says_which_run_it_is_of() {
    let server = Server::start([ok("{}")]).await;
    let guests = Guests::local(TIER);
    let parent = |number: usize| {
        let asked = server.requests()[number].clone();
        asked.lines().find_map(|line| line.strip_prefix("traceparent: ")).map(str::to_owned).unwrap()
    };
    for _ in 0..2 {
        guests.ask(json!({ "url": server.url("/") })).await;
    }
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    guests.ask(json!({ "url": server.url("/"), "headers": { "traceparent": given } })).await;
    assert_eq!(parent(0), parent(1));
    let parts: Vec<_> = parent(0).split('-').map(str::len).collect();
    assert_eq!((parts, parent(2).as_str()), (vec![2, 32, 16, 2], given));
}

/// A request to a server at that port, and why it is not granted.
fn refused(port: u16) -> Vec<(&'static str, String, String)> {
    let local = |path: &str| format!("http://127.0.0.1:{port}{path}");
    vec![
        (
            "POST",
            local("/v1/x"),
            format!(
                "not granted; `http = [\"POST {0}\"]` under `[grants.http]` in the configuration (`--config`) grants it",
                local("/v1/x")
            ),
        ),
        (
            "GET",
            local("/v2?token=1"),
            format!(
                "not granted; `http = [\"GET {0}\"]` under `[grants.http]` in the configuration (`--config`) grants it",
                local("/v2")
            ),
        ),
        ("GET", local("/v1/%2e%2e/v2"), format!("`http = [\"GET http://127.0.0.1:{port}\"]` under")),
        ("GET", local("/v1/..%2fv2"), "not granted".to_owned()),
        (
            "GET",
            "http://127.0.0.1:1/v1/x".to_owned(),
            "`http = [\"GET http://127.0.0.1:1/v1/x\"]`".to_owned(),
        ),
        ("GET", format!("https://127.0.0.1:{port}/v1/x"), "not granted".to_owned()),
        ("GET", format!("http://localhost:{port}/v1/x"), "not granted".to_owned()),
        ("GET", format!("http://[::1]:{port}/v1/x"), "not granted".to_owned()),
        ("GET", format!("http://0.0.0.0:{port}/v1/x"), "not granted".to_owned()),
        (
            "GET",
            format!("http://127.1:{port}/v1/x"),
            "its host is invalid: it ends with a number and is not an IPv4 address of four decimal numbers"
                .to_owned(),
        ),
        ("GET", format!("http://2130706433:{port}/v1/x"), "its host is invalid".to_owned()),
        ("GET", format!("http://0x7f000001:{port}/v1/x"), "its host is invalid".to_owned()),
        ("GET", format!("http://0177.0.0.1:{port}/v1/x"), "its host is invalid".to_owned()),
        ("GET", format!("http://127.0.0.1.:{port}/v1/x"), "it ends with a dot; write it without".to_owned()),
        (
            "GET",
            format!("http://user:hunter2@127.0.0.1:{port}/v1/x"),
            "there is a user in its URL".to_owned(),
        ),
        (
            "GET",
            format!("http://api.example.com@127.0.0.1:{port}/v1/x"),
            "there is a user in its URL".to_owned(),
        ),
        (
            "GET",
            format!("http://127.0.0.1:{port}@evil.example/v1/x"),
            "there is a user in its URL".to_owned(),
        ),
        ("GET", "https://example.com/".to_owned(), "not granted".to_owned()),
        ("GET", "https://evilexample.com/".to_owned(), "not granted".to_owned()),
        ("GET", "https://a.example.com.evil.example/".to_owned(), "not granted".to_owned()),
        ("GET", "https://a.example.com:444/".to_owned(), "not granted".to_owned()),
        ("TRACE", local("/v1/x"), "TRACE is never granted".to_owned()),
        ("CONNECT", local("/v1/x"), "CONNECT is never granted".to_owned()),
        ("track", local("/v1/x"), "TRACK is never granted".to_owned()),
        // A method that no server is known to have is granted by its name alone.
        ("BREW", "https://a.example.com/".to_owned(), "not granted".to_owned()),
        ("MKCOL", "https://a.example.com/".to_owned(), "not granted".to_owned()),
        ("G\u{2126}T", local("/v1/x"), "method".to_owned()),
        ("GET /v2 HTTP/1.1\r\nx:", local("/v1/x"), "method".to_owned()),
    ]
}

/// R-I21: the message has the request and the line of the configuration that would grant it.
#[tokio::test]
async fn what_is_not_granted_is_refused_and_explained() {
    let server = Server::start([ok("{}")]).await;
    let port = server.port;
    let allow = [&*format!("GET http://127.0.0.1:{port}/v1/*"), "https://*.example.com"];
    let guests = Guests::new(TIER, grant(&allow, &[]), HttpConfig::default());
    let local = |path: &str| format!("http://127.0.0.1:{port}{path}");
    for (method, url, why) in refused(port) {
        let outcome = guests.ask(json!({ "method": method, "url": url })).await;
        assert_eq!(outcome.code, 3, "{method} {url}: {}", outcome.message);
        assert!(outcome.message.contains(&why), "{method} {url}: {}", outcome.message);
        assert!(
            !outcome.message.contains("hunter2") && !outcome.message.contains("token"),
            "{}",
            outcome.message
        );
    }
    for name in ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override"] {
        let headers = json!({ name: "DELETE" });
        let outcome = guests.ask(json!({ "url": local("/v1/x"), "headers": headers })).await;
        assert!(outcome.code == 3 && outcome.message.contains("DELETE"), "{name}: {}", outcome.message);
    }
    assert_eq!(server.requests(), Vec::<String>::new());
    let outcome = guests.ask(json!({ "url": local("/v1/x?token=1") })).await;
    assert_eq!((outcome.code, server.requests().len()), (0, 1));
}

/// R-I21: without a grant there is no network at all.
#[tokio::test]
async fn nothing_is_granted_by_default() {
    let server = Server::start([ok("{}")]).await;
    let outcome = Guests::new(TIER, grant(&[], &[]), HttpConfig::default())
        .ask(json!({ "url": server.url("/") }))
        .await;
    assert_eq!((outcome.code, server.requests().len()), (3, 0));
    let told = outcome.message.split_once(": ").unwrap().1;
    assert!(told.starts_with("not sent; refused: not granted; `http = ["), "{}", outcome.message);
    assert_eq!(said(&outcome)["detail"]["error"], json!({ "kind": "grant", "retryable": false }));
}

/// R-I22: a name that leads inside is as good as the address, and so is a redirect.
#[tokio::test]
async fn names_and_redirects_lead_no_further_than_grants() {
    let inside = Server::start([ok("\"secret\"")]).await;
    let port = inside.port;
    let outside = Server::start([Reply::Says(302, location(port), String::new())]).await;
    let hosts = [
        ("api.example", IpAddr::from(Ipv4Addr::LOCALHOST)),
        ("mapped.example", Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()),
    ];
    let hosts = hosts
        .into_iter()
        .map(|(name, address)| (name.to_owned(), vec![address]))
        .collect::<std::collections::BTreeMap<_, _>>();
    let config = HttpConfig { hosts, ..HttpConfig::default() };
    let guests = Guests::new(TIER, grant(&["http://*:*"], &[]), config.clone());
    for name in [
        "api.example",
        "mapped.example",
        "localhost",
        "127.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "[::]",
        "169.254.169.254",
    ] {
        let outcome = guests.ask(json!({ "url": format!("http://{name}:{port}/") })).await;
        assert_eq!(outcome.code, 3, "{name}: {}", outcome.message);
        assert!(
            outcome.message.contains("` under `[grants.http]` in the configuration (`--config`) grants it"),
            "{name}: {}",
            outcome.message
        );
    }
    let granted = Guests::new(TIER, grant(&["http://*:*"], &["127.0.0.0/8"]), config.clone());
    for name in ["api.example", "mapped.example", "[::ffff:127.0.0.1]"] {
        let outcome = granted.ask(json!({ "url": format!("http://{name}:{port}/") })).await;
        assert_eq!(said(&outcome)["outputs"]["body"], json!("secret"), "{name}: {}", outcome.message);
    }
    let asked = inside.requests().len();
    let allow = format!("http://127.0.0.1:{}", outside.port);
    let outcome =
        Guests::new(TIER, grant(&[&allow], &[]), config).ask(json!({ "url": outside.url("/") })).await;
    assert!(
        outcome.message.contains(&format!("not granted; `http = [\"GET http://127.0.0.1:{port}/inside\"]`")),
        "{}",
        outcome.message
    );
    assert_eq!((outside.requests().len(), inside.requests().len()), (1, asked));
}

fn location(port: u16) -> &'static str {
    format!("location: http://127.0.0.1:{port}/inside\r\n").leak()
}
