//! Clients that send too much, too slowly, or malformed requests.

use std::time::Duration;

use phasm_server::ServerConfig;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    client::{Answer, LONG},
    page,
    world::{World, workflow},
};

const SHORT: Duration = Duration::from_millis(200);

fn small(config: &mut ServerConfig) {
    config.limits.body = 2000;
    config.limits.head = 4096;
    config.limits.head_time = SHORT;
    config.limits.body_time = SHORT;
}

/// Returns the server's response to these bytes, until it closes the connection.
async fn raw(world: &World, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(world.client.address).await.unwrap();
    let _refused = stream.write_all(bytes).await;
    let mut said = Vec::new();
    let _cut = timeout(LONG, stream.read_to_end(&mut said)).await.expect("it is closed");
    String::from_utf8_lossy(&said).into_owned()
}

/// R-A12.
#[tokio::test]
async fn a_body_that_is_too_large_or_broken_is_refused() {
    let world = World::with(|builder| builder, small).await;
    let large = "x".repeat(100_000);
    world.client.post_yaml("/v1/runs", &large).await.expect(413);
    let chunked = [("content-type", "application/yaml"), ("transfer-encoding", "chunked")];
    let chunks = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    world.client.send("POST", "/v1/runs", &chunked, &chunks).await.expect(413);
    world.client.send("POST", "/v1/runs", &chunked, "zz\r\n").await.expect(400);
    world.client.send("POST", "/v1/runs", &[("content-type", "application/yaml")], "\u{0}").await.expect(400);
    let bytes = b"POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n\xff\xfe";
    assert!(raw(&world, bytes).await.starts_with("HTTP/1.1 400"));
    let deep = format!("{}1{}", "[".repeat(900), "]".repeat(900));
    world.client.post_json("/v1/runs", &deep).await.expect(422);
    world.client.post_json("/v1/runs", &format!("{{\"document\": {deep}}}")).await.expect(422);
    world.client.post_json("/v1/runs", "{\"document\": 5}").await.expect(400);
    world.client.post_json("/v1/runs", "{\"document\": {}, \"more\": 1}").await.expect(400);
    world.client.post_json("/v1/runs", "{\"document\": \"a: [\"}").await.expect(422);
    world.client.post_yaml("/v1/runs", "").await.expect(422);
    // The server works afterwards.
    world.client.post_yaml("/v1/runs", &workflow("default", &["ok"])).await.expect(202);
}

/// R-A12: on one thread, large documents delay no other request, whichever way they come.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn who_sends_a_large_document_keeps_nobody_waiting() {
    let world = World::new().await;
    let document = workflow("default", &["ok"; 5000]);
    let (client, sent) = (world.client.clone(), document.clone());
    let large = async move { client.post_yaml("/v1/validate", &sent).await.expect(200) };
    others_are_answered(&world, tokio::spawn(large)).await;
    let client = world.client.clone();
    let written = format!("document={}", page::encoded(&document));
    let large = async move { page::post(&client, "/submit/check", &written).await.expect(200) };
    others_are_answered(&world, tokio::spawn(large)).await;
}

async fn others_are_answered(world: &World, large: tokio::task::JoinHandle<Answer>) {
    for _ in 0..20 {
        world.client.get("/healthz").await.expect(200);
    }
    assert!(!large.is_finished(), "20 answers took longer than a plan of 5000 tasks");
    large.await.unwrap();
}

/// R-A12: a body, or a head, a byte at a time.
#[tokio::test]
async fn who_is_too_slow_is_cut_off() {
    let world = World::with(|builder| builder, small).await;
    let head = "POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/yaml\r\ncontent-length: 100\r\n\r\n";
    let said = raw(&world, head.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("application/problem+json"), "{said}");
    for begun in ["", "G", "GET /healthz HTTP/1.1\r\nhost: localhost\r\n"] {
        let said = raw(&world, begun.as_bytes()).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    // Also one that has had an answer, and never asks again.
    let said = raw(&world, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
}

/// R-A12.
#[tokio::test]
async fn a_head_that_is_too_large_or_none_is_refused() {
    let world = World::with(|builder| builder, small).await;
    let many = "a: b\r\n".repeat(100);
    let long = format!("a: {}\r\n", "x".repeat(10_000));
    for fields in [many, long] {
        let said =
            raw(&world, format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{fields}\r\n").as_bytes()).await;
        assert!(said.starts_with("HTTP/1.1 431"), "{said}");
    }
    let path = "x".repeat(70_000);
    let said = raw(&world, format!("GET /{path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 4"), "{said}");
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        let said = raw(&world, nonsense).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    let smuggled =
        b"POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!";
    assert!(raw(&world, smuggled).await.starts_with("HTTP/1.1 400"));
    world.client.get("/healthz").await.expect(200);
}

/// R-A12: those beyond wait to be accepted.
#[tokio::test]
async fn so_many_connections_are_accepted_at_once() {
    let world = World::with(
        |builder| builder,
        |config| {
            config.limits.connections = 2;
            config.limits.head_time = SHORT;
        },
    )
    .await;
    let _idle = [
        TcpStream::connect(world.client.address).await.unwrap(),
        TcpStream::connect(world.client.address).await.unwrap(),
    ];
    // Once those that say nothing have been cut off.
    world.client.get("/healthz").await.expect(200);
}

/// R-A7: through a socket.
#[tokio::test]
async fn other_names_and_other_pages_are_refused() {
    let world = World::with(|builder| builder, |config| config.hosts = vec!["phasm.example".into()]).await;
    let document = workflow("default", &["ok"]);
    let yaml = ("content-type", "application/yaml");
    let send = |headers: Vec<(&'static str, &'static str)>| {
        let (client, document) = (world.client.clone(), document.clone());
        async move { client.send("POST", "/v1/runs", &headers, &document).await }
    };
    send(vec![yaml, ("host", "evil.example")]).await.expect(421);
    send(vec![yaml, ("origin", "http://evil.example")]).await.expect(403);
    send(vec![yaml, ("sec-fetch-site", "cross-site")]).await.expect(403);
    send(vec![yaml, ("host", "phasm.example"), ("origin", "https://phasm.example")]).await.expect(202);
    // A form of another page can only send media types that no document has.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        send(vec![("content-type", kind)]).await.expect(415);
    }
    let answer = world.client.get("/v1/docs").await.expect(200);
    assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(!answer.body.contains("<script>"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
}
