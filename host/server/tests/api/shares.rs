//! Attacks on what all clients share: a greedy key gets its share, and a key of another tenant is served as if it were alone.

use std::time::Duration;

use phasm_server::{ServerConfig, keys::Role};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Mutex,
    task::yield_now,
    time::timeout,
};

use crate::{
    client::{Client, LONG},
    page,
    plugins::component,
    world::{World, submit, workflow},
};

/// A server for attacks, with the keys of a greedy tenant, of another one, and of its operator.
struct Siege {
    world: World,
    greedy: Client,
    light: Client,
    /// One connection, from which metrics are read.
    operator: Mutex<KeptConnection>,
}

impl Siege {
    async fn of(world: World) -> Self {
        let key = |name: &str| world.key(name, Role::Admin, &[name]);
        let (greedy, light) = (key("greedy"), key("light"));
        let operator = Mutex::new(KeptConnection::open(&world.key("operator", Role::Admin, &[])).await);
        Self { world, greedy, light, operator }
    }

    async fn open(configure: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::of(World::with(|builder| builder, configure).await).await
    }

    /// A number of a resource, as metrics have it.
    async fn number(&self, what: &str, resource: &str) -> u64 {
        let text = self.operator.lock().await.get("/metrics").await;
        let series = format!("phasm_resource_{what}{{resource=\"{resource}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)).unwrap().parse().unwrap()
    }

    /// Waits until the number of a resource is that.
    async fn until(&self, what: &str, resource: &str, expected: u64) {
        let reached = async {
            while self.number(what, resource).await != expected {
                yield_now().await;
            }
        };
        timeout(LONG, reached).await.unwrap_or_else(|_| panic!("{what} of {resource} is not {expected}"));
    }
}

/// Reads the status of a response on a connection that is kept.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    timeout(LONG, stream.read_exact(&mut head)).await.expect("a response").unwrap();
    std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
}

/// Method, path and headers.
type Keeper = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Requests that keep a connection for as long as their client wants: waits, bodies that do not come, streams.
const KEEPERS: [Keeper; 3] = [
    ("GET", "/v1/runs/RUN?wait=5m", &[]),
    ("POST", "/v1/runs", &[("content-type", "application/yaml"), ("content-length", "100")]),
    ("GET", "/v1/runs/RUN/events?stream", &[]),
];

/// R-A105: connections that are kept busy are those of their key, and not of their address.
#[tokio::test]
async fn waiting_requests_keep_no_other_key_out() {
    let siege = Siege::open(|config| {
        config.limits.connections = 16;
        config.limits.body_time = Duration::from_secs(3600);
    })
    .await;
    let run = submit(&siege.greedy, &workflow("greedy", &["block"])).await;
    for (method, path, headers) in KEEPERS {
        let path = path.replace("RUN", &run);
        let mut kept = Vec::new();
        siege.until("held", "connections", 1).await;
        // The share of one key of 16 connections, one of which is the operator's.
        for held in 1..=5 {
            kept.push(siege.greedy.begin(method, &path, headers, "").await);
            siege.until("held", "connections", held + 1).await;
        }
        let mut refusals = 0;
        for _ in 0..70 {
            let mut another = siege.greedy.begin(method, &path, headers, "").await;
            refusals += u32::from(status(&mut another).await == 429);
            siege.light.get("/v1/runs").await.expect(200);
        }
        assert_eq!(refusals, 70, "{path}");
        let refused = siege.greedy.get("/v1/runs").await.expect(429);
        assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("1"), Some("close")));
        drop(kept);
        siege.until("held", "connections", 1).await;
        siege.greedy.get("/v1/runs").await.expect(200);
    }
}

/// R-A105: a client that says nothing has the share of its address, and waits for more; it does not fill the table.
#[tokio::test]
async fn connections_without_a_request_leave_room() {
    let siege = Siege::open(|config| {
        config.limits.connections = 16;
        config.limits.head_time = Duration::from_secs(3600);
    })
    .await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(siege.world.client.address).await.unwrap());
    }
    // A third of the places, and a third of those to wait; the operator has one, too.
    siege.until("held", "connections", 6).await;
    siege.until("waiting", "connections", 22).await;
    siege.until("refusals_total", "connections", 73).await;
    let mut last = silent.pop().unwrap();
    assert_eq!(status(&mut last).await, 503);
}

/// A connection that is kept between requests.
struct KeptConnection {
    stream: TcpStream,
    key: String,
}

impl KeptConnection {
    async fn open(client: &Client) -> Self {
        let stream = TcpStream::connect(client.address).await.unwrap();
        let mut kept = Self { stream, key: client.key.clone().unwrap() };
        kept.get("/metrics").await;
        kept
    }

    async fn get(&mut self, path: &str) -> String {
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n", self.key);
        self.stream.write_all(head.as_bytes()).await.unwrap();
        let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&said).into_owned();
            let length = text.split_once("\r\n\r\n").and_then(|(head, body)| {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
                (body.len() >= length.parse().unwrap()).then(|| body.to_owned())
            });
            if let Some(body) = length {
                return body;
            }
            let read = timeout(LONG, self.stream.read(&mut chunk)).await.expect("a response").unwrap();
            assert!(read > 0, "{text}");
            said.extend_from_slice(&chunk[..read]);
        }
    }
}

/// R-A105, R-A63: of four uploads at once two are a key's.
#[tokio::test]
async fn slow_uploads_keep_no_other_key_out() {
    let configure = |config: &mut ServerConfig| config.limits.body_time = Duration::from_secs(3600);
    let tenants = |builder: phasm::HostBuilder| {
        let tenant = phasm::Tenant::default;
        builder.tenant("greedy", tenant()).tenant("light", tenant())
    };
    let siege = Siege::of(World::with_library(tenants, configure).await).await;
    let mut slow = Vec::new();
    for number in 0..8 {
        let headers = [("content-type", "application/wasm"), ("content-length", "1000")];
        slow.push(siege.greedy.begin("PUT", &format!("/v1/plugins/slow/1.0.{number}"), &headers, "x").await);
    }
    siege.until("held", "uploads", 2).await;
    siege.until("waiting", "uploads", 6).await;
    let wasm = component("echo", &json!({ "name": "greet", "version": "1.0.0" }));
    let headers = [("content-type", "application/wasm")];
    siege.light.send_bytes("PUT", "/v1/plugins/greet/1.0.0", &headers, &wasm).await.expect(201);
    drop(slow);
    siege.until("held", "uploads", 0).await;
    siege.until("waiting", "uploads", 0).await;
    siege.greedy.send_bytes("PUT", "/v1/plugins/greet/1.0.0", &headers, &wasm).await.expect(201);
}

/// R-A105, R-A80: a thousand and more sessions and tickets of one key end none of another.
#[tokio::test]
async fn logins_of_one_key_sign_no_other_out() {
    let siege = Siege::open(|_| {}).await;
    let login = async |client: &Client| {
        let form = format!("key={}", client.key.as_ref().unwrap());
        let entered = page::post(&siege.world.client, "/login", &form).await;
        let cookie = entered.header("set-cookie").unwrap().to_owned();
        cookie.split(';').next().unwrap().to_owned()
    };
    let is_in = async |cookie: &str| {
        siege.world.client.send("GET", "/runs", &[("cookie", cookie)], "").await.status == 200
    };
    let (light, first) = (login(&siege.light).await, login(&siege.greedy).await);
    let ticket = siege.light.post("/v1/tickets").await.expect(200).text("/ticket");
    for _ in 0..1100 {
        siege.greedy.post("/v1/tickets").await.expect(200);
        login(&siege.greedy).await;
    }
    let last = login(&siege.greedy).await;
    assert!(is_in(&light).await && is_in(&last).await);
    assert!(!is_in(&first).await, "the oldest of the same key");
    let form = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let entered = siege.world.client.send("POST", "/login", &form, &format!("ticket={ticket}")).await;
    assert_eq!(entered.status, 303);
    assert!(siege.number("held", "sessions").await < 1500);
}

/// R-A120, R-A105: values that are sent have bounded memory, of which a key has its share until its clients have read them.
#[tokio::test]
async fn large_values_of_one_key_leave_room() {
    let siege = Siege::of(World::in_file().await).await;
    let mut huge = Vec::new();
    for key in [&siege.greedy, &siege.light] {
        let namespace = if huge.is_empty() { "greedy" } else { "light" };
        let run = key
            .post_yaml("/v1/runs?wait=30s", &workflow(namespace, &["huge"]))
            .await
            .expect(200)
            .text("/runID");
        huge.push(format!("/v1/runs/{run}/tasks/t0/outputs/text"));
    }
    // Each value takes nine of 512 places, and a key has about a third of them.
    let mut slow = Vec::new();
    for _ in 0..30 {
        slow.push(siege.greedy.begin("GET", &huge[0], &[], "").await);
    }
    siege.until("held", "values", 19 * 9).await;
    siege.until("waiting", "values", 11).await;
    let value = siege.light.get(&huge[1]).await;
    assert_eq!((value.status, value.body.trim_end().len()), (200, (8 << 20) + 2));
    drop(slow);
    siege.until("waiting", "values", 0).await;
    siege.until("held", "values", 0).await;
}
