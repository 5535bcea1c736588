//! Limits of a request in size and time.

use std::time::{Duration, Instant};

use phasm::sandbox::{HttpConfig, HttpLimits};
use serde_json::json;

use super::TIER;
use crate::{
    guest::{Guests, grant, said},
    server::{Reply, Server, ok, status},
};

fn limited(limits: HttpLimits) -> Guests {
    Guests::new(TIER, grant(&["http://127.0.0.1:*"], &[]), HttpConfig { limits, ..HttpConfig::default() })
}

/// R-I23: each limit ends the request that meets it, and names itself.
#[tokio::test]
async fn limits_are_met_and_named() {
    let usual = HttpLimits::default;
    let big = format!("\"{}\"", "x".repeat(100_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", format!("a: {}\r\n", "x".repeat(1000)).repeat(90));
    let redirect = || Reply::Says(302, "location: /\r\n", String::new());
    let rows = [
        (
            HttpLimits { requests: 3, ..usual() },
            redirect(),
            json!({}),
            "limit of 3 requests reached (`requests`) under `[http]`",
        ),
        (
            HttpLimits { received: 65_536, ..usual() },
            ok(&big),
            json!({}),
            "limit of 64 KiB to receive reached (`received`) under `[http]`",
        ),
        (
            HttpLimits { received: 65_536, ..usual() },
            Reply::Flood,
            json!({}),
            "more to read than this host allows",
        ),
        (
            HttpLimits { sent: 65_536, ..usual() },
            ok("1"),
            json!({ "method": "PUT", "body": big }),
            "limit of 64 KiB to send reached (`sent`) under `[http]`",
        ),
        (
            HttpLimits { headers: 8192, ..usual() },
            Reply::Raw(many.into_bytes()),
            json!({}),
            "HttpResponseHeaderSectionSize",
        ),
        (
            HttpLimits { headers: 1024, ..usual() },
            ok("1"),
            json!({ "url": format!("/{}", "x".repeat(2000)) }),
            "limit of 1 KiB of headers reached (`headers`) under `[http]`",
        ),
        (HttpLimits { time: Duration::from_millis(50), ..usual() }, Reply::Hang, json!({}), "timeout"),
        (
            HttpLimits { time: Duration::from_millis(50), ..usual() },
            Reply::Stall,
            json!({}),
            "timeout of the whole request",
        ),
        (
            usual(),
            Reply::Stall,
            json!({ "timeout": { "read": 0.05 } }),
            "timeout of waiting for the response",
        ),
        (usual(), Reply::Hang, json!({ "timeout": { "read": 0.05 } }), "timeout of waiting for the response"),
    ];
    for (row, (limits, reply, mut inputs, expected)) in rows.into_iter().enumerate() {
        let server = Server::start([reply]).await;
        let path =
            inputs.get("url").and_then(|path| path.as_str().map(str::to_owned)).unwrap_or("/".to_owned());
        inputs["url"] = json!(server.url(&path));
        let outcome = limited(limits).ask(inputs).await;
        assert!(outcome.message.contains(expected), "{row}: {} {}", outcome.code, outcome.message);
        assert_eq!(outcome.code == 4, expected.contains("timeout"), "{row}: {}", outcome.message);
    }
}

/// R-N4: what a server does wrong has a kind, and whether it may be worth another try.
#[tokio::test]
async fn faults_of_servers_have_kinds() {
    let raw = |text: &str| Reply::Raw(text.as_bytes().to_vec());
    let rows = [
        (Reply::Reset, "connection", true),
        (raw(""), "connection", true),
        (raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"), "connection", true),
        (raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"), "connection", true),
        (raw("SSH-2.0-OpenSSH\r\n"), "protocol", true),
        (raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), "connection", true),
    ];
    for (reply, kind, retryable) in rows {
        let server = Server::start([reply.clone()]).await;
        let outcome = Guests::local(TIER).ask(json!({ "url": server.url("/") })).await;
        assert_eq!(outcome.code, 3, "{reply:?}: {}", outcome.message);
        assert_eq!(
            said(&outcome)["detail"]["error"],
            json!({ "kind": kind, "retryable": retryable }),
            "{reply:?}: {}",
            outcome.message
        );
    }
    let gone = { Server::start([status(200)]).await.url("/") };
    let outcome = Guests::local(TIER).ask(json!({ "url": gone.clone() })).await;
    assert_eq!(said(&outcome)["detail"]["error"]["kind"], json!("connection"), "{}", outcome.message);
    // The host and port that failed are named.
    let host = gone.trim_start_matches("http://").trim_end_matches('/');
    assert!(outcome.message.ends_with(&format!("{host} refused the connection")), "{}", outcome.message);
}

/// R-I21: a request whose method may have content says that it has none.
#[tokio::test]
async fn a_request_without_a_body_says_so() {
    for (method, length) in
        [("POST", Some("content-length: 0\r\n")), ("DELETE", Some("content-length: 0\r\n")), ("GET", None)]
    {
        let server = Server::start([status(200)]).await;
        let outcome = Guests::local(TIER).ask(json!({ "url": server.url("/"), "method": method })).await;
        assert_eq!(outcome.code, 0, "{}", outcome.message);
        let asked = server.requests().remove(0).to_lowercase();
        assert!(!asked.contains("transfer-encoding"), "{asked}");
        assert_eq!(asked.contains("content-length"), length.is_some(), "{asked}");
        assert!(length.is_none_or(|length| asked.contains(length)), "{asked}");
    }
}

/// R-I23: what is over its deadline, or not wanted any more, leaves no connection behind.
#[tokio::test]
async fn the_end_of_an_attempt_closes_its_connections() {
    for reply in [Reply::Hang, Reply::Stall, Reply::Flood] {
        let mut server = Server::start([ok("{}"), reply.clone()]).await;
        let inputs = json!({ "url": server.url("/"), "maxBytes": 1_u64 << 40 });
        let guests = limited(HttpLimits { received: u64::MAX, ..HttpLimits::default() });
        // The plugin is compiled before there is a deadline.
        assert_eq!(guests.ask(inputs.clone()).await.code, 0);
        assert_eq!((server.news.recv().await, server.news.recv().await), (Some("asked"), Some("closed")));
        let (outcome, _) = guests.heard(inputs.clone(), Some(Instant::now() + Duration::from_secs(1))).await;
        assert!(outcome.code == 4 || matches!(reply, Reply::Flood), "{reply:?}: {}", outcome.message);
        assert_eq!(
            (server.news.recv().await, server.news.recv().await),
            (Some("asked"), Some("closed")),
            "{reply:?}"
        );
    }
    let mut server = Server::start([Reply::Hang]).await;
    let guests = Guests::local(TIER);
    let mut asking = Box::pin(guests.ask(json!({ "url": server.url("/") })));
    let asked = tokio::select! {
        _ = &mut asking => panic!("no response"),
        news = server.news.recv() => news,
    };
    drop(asking);
    assert_eq!((asked, server.news.recv().await), (Some("asked"), Some("closed")));
}

/// R-I23: one plugin's connections wait for one another where they are bounded.
#[tokio::test]
async fn connections_of_a_plugin_wait_for_one_another() {
    let limits = HttpLimits { plugin_connections: 1, ..HttpLimits::default() };
    let mut server = Server::start([Reply::Hang, ok("2")]).await;
    let guests = limited(limits);
    let mut first = Box::pin(guests.ask(json!({ "url": server.url("/1"), "timeout": { "read": 0.2 } })));
    let asked = tokio::select! {
        outcome = &mut first => panic!("{outcome:?}"),
        news = server.news.recv() => news,
    };
    assert_eq!(asked, Some("asked"));
    let mut second = Box::pin(guests.ask(json!({ "url": server.url("/2") })));
    // The second would have its response long before the first has none. The first makes room when its connection is closed, and
    // its guest may end after that of the second.
    let mut told = Vec::new();
    let (first, second) = tokio::select! {
        biased;
        outcome = &mut first => (outcome, second.await),
        outcome = &mut second => {
            told.extend(std::iter::from_fn(|| server.news.try_recv().ok()));
            assert!(told.contains(&"closed"), "it did not wait: {outcome:?} {told:?}");
            (first.await, outcome)
        }
    };
    assert_eq!((first.code, second.code), (4, 0), "{} {}", first.message, second.message);
    // Two tasks of the server tell these, in either order.
    while !["asked", "closed"].iter().all(|news| told.contains(news)) {
        told.push(server.news.recv().await.unwrap());
    }
}
