//! A greedy key that has its share of a resource waits, and a key of another tenant does not, whichever route they ask.

use std::{net::SocketAddr, pin::pin, time::Duration};

use phasm::Map;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::{JoinHandle, yield_now},
    time::timeout,
};

use super::*;
use crate::{
    Server, ServerConfig,
    keys::{Key, KeyFile, Role},
    state::AppState,
};

/// For what would otherwise hang a test for ever.
const LONG: Duration = Duration::from_secs(60);

/// A server with a key of each of two tenants.
struct House {
    app: Arc<AppState>,
    address: SocketAddr,
    greedy: String,
    light: String,
    _dir: tempfile::TempDir,
    serving: JoinHandle<()>,
}

impl Drop for House {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl House {
    async fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keys = dir.path().join("keys");
        let key = |name: &str| {
            let (key, text) = Key::make(name, Role::Admin, vec![name.to_owned()]).unwrap();
            KeyFile::at(keys.clone()).add(key).unwrap();
            text
        };
        let (greedy, light) = (key("greedy"), key("light"));
        let host = Arc::new(Host::builder().allow_missing().open().unwrap());
        let config = ServerConfig { keys: Some(keys.clone()), ..ServerConfig::default() };
        let server = Server::new(host, config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (app, address) = (Arc::clone(server.app()), listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            server.serve(listener, std::future::pending()).await.unwrap();
        });
        Self { app, address, greedy, light, _dir: dir, serving }
    }

    /// A run of a key's namespace, which has ended.
    async fn run(&self, namespace: &str) -> String {
        let plan = self.app.host.plan("w.yaml", &workflow(namespace, 1)).await.unwrap();
        let run = self.app.host.submit(&plan, &Map::new()).await.unwrap();
        run.wait().await.unwrap();
        run.id().to_string()
    }

    /// Sends a request; what comes is its status.
    fn send(&self, key: &str, request: &(String, String)) -> JoinHandle<u16> {
        let (address, key, (line, body)) = (self.address, key.to_owned(), request.clone());
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head = format!(
                "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {key}\r\ncontent-type: application/yaml\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            let mut said = String::new();
            let _refused = stream.write_all(head.as_bytes()).await;
            let _refused = stream.write_all(body.as_bytes()).await;
            stream.read_to_string(&mut said).await.unwrap();
            said.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default()
        })
    }

    fn waiting(&self, resource: Resource) -> u64 {
        self.app.resources.queue(resource).usage().waiting
    }
}

fn workflow(namespace: &str, tasks: usize) -> String {
    let tasks: String = (0..tasks)
        .map(|number| format!("    - {{ name: t{number}, executor: {{ type: none }} }}\n"))
        .collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w, namespace: {namespace} }}\nspec:\n  entrypoint: main\n  \
         templates:\n  - dag:\n      name: main\n      tasks:\n{}",
        tasks.replace("    -", "      -")
    )
}

fn holder_of(name: &str) -> Holder {
    Holder { tenant: name.into(), key: name.into(), weight: 1 }
}

fn get(path: &str) -> (String, String) {
    (format!("GET {path}"), String::new())
}

/// R-A105: documents, views, lists, pages and pictures.
#[tokio::test]
async fn who_has_its_share_waits_and_others_do_not() {
    let house = House::open().await;
    let (greedy, light) = (house.run("greedy").await, house.run("light").await);
    let requests = |namespace: &str, run: &str| {
        let large = workflow(namespace, 200);
        let both = [
            "GET /v1/runs",
            "GET /v1/runs?text=x",
            "GET /v1/rows",
            "GET /v1/workflows",
            "GET /v1/schedules",
            "GET /runs",
        ];
        let mut all: Vec<_> = both.iter().map(|line| ((*line).to_owned(), String::new())).collect();
        for end in ["", "?wait=1s", "/events", "/logs", "/graph.svg", "/graph.svg?timeline", "/tasks/t0"] {
            all.push(get(&format!("/v1/runs/{run}{end}")));
        }
        all.extend([
            get(&format!("/v1/rows/{run}?since=0&logs")),
            get(&format!("/runs/{run}?view=timeline")),
        ]);
        all.push(("POST /v1/validate".to_owned(), large.clone()));
        all.push(("POST /v1/runs".to_owned(), large.clone()));
        all.push((format!("PUT /v1/workflows/{namespace}/w"), large));
        all.push((format!("POST /v1/runs/{run}/rerun"), String::new()));
        all
    };
    for (of_greedy, of_light) in requests("greedy", &greedy).iter().zip(&requests("light", &light)) {
        let queue = house.app.resources.queue(Resource::Work);
        let held: Vec<_> = std::iter::from_fn(|| queue.try_enter(&holder_of("greedy"))).collect();
        assert!(!held.is_empty());
        let asked = house.send(&house.greedy, of_greedy);
        while house.waiting(Resource::Work) == 0 {
            assert!(!asked.is_finished(), "{} takes no turn", of_greedy.0);
            yield_now().await;
        }
        let status =
            timeout(LONG, house.send(&house.light, of_light)).await.expect("not after the others").unwrap();
        assert!((200..300).contains(&status), "{} {status}", of_light.0);
        assert_eq!(house.waiting(Resource::Work), 1, "{}", of_greedy.0);
        drop(held);
        let status = timeout(LONG, asked).await.expect("its turn comes").unwrap();
        assert!((200..300).contains(&status), "{} {status}", of_greedy.0);
    }
}

/// R-A105: a body is not read before there is room for it.
#[tokio::test]
async fn large_bodies_have_shares_of_memory() {
    let house = House::open().await;
    let queue = house.app.resources.queue(Resource::Bodies);
    let held: Vec<_> = std::iter::from_fn(|| queue.try_enter(&holder_of("greedy"))).collect();
    assert!(held.len() < MAX_BODIES / 2);
    let large = |namespace: &str| {
        let document = workflow(namespace, 1);
        ("POST /v1/validate".to_owned(), format!("{document}# {}\n", "x".repeat(100_000)))
    };
    let asked = house.send(&house.greedy, &large("greedy"));
    while house.waiting(Resource::Bodies) == 0 {
        yield_now().await;
    }
    assert_eq!(timeout(LONG, house.send(&house.light, &large("light"))).await.unwrap().unwrap(), 200);
    let small = ("POST /v1/validate".to_owned(), workflow("greedy", 1));
    assert_eq!(timeout(LONG, house.send(&house.greedy, &small)).await.unwrap().unwrap(), 200);
    drop(held);
    assert_eq!(timeout(LONG, asked).await.unwrap().unwrap(), 200);
    assert_eq!(queue.usage().held, 0);
}

/// R-A105: however many requests a key makes; and who hangs up keeps no place, except while it computes.
#[tokio::test]
async fn work_of_a_key_takes_one_turn_after_the_other() {
    let resources = Arc::new(Resources::new(&ServerLimits::default()));
    let mut gates = Vec::new();
    let greedy: Vec<_> = (0..16)
        .map(|number| {
            let (open, gate) = oneshot::channel::<()>();
            gates.push(open);
            let resources = Arc::clone(&resources);
            let work = async move {
                gate.await.unwrap();
                number
            };
            tokio::spawn(async move { resources.work(&holder_of("greedy"), work).await.unwrap() })
        })
        .collect();
    let usage = || resources.queue(Resource::Work).usage();
    while usage().waited + usage().held < 16 {
        yield_now().await;
    }
    assert!(usage().held * 3 <= usage().places + 2, "{:?}", usage());
    assert_eq!(resources.work(&holder_of("light"), async { "done" }).await.unwrap(), "done");
    assert_eq!(usage().held + usage().waiting, 16);
    let last = greedy.last().unwrap();
    last.abort();
    while usage().held + usage().waiting > 15 {
        yield_now().await;
    }
    gates.pop();
    gates.into_iter().for_each(|gate| gate.send(()).unwrap());
    for (number, working) in greedy.into_iter().take(15).enumerate() {
        assert_eq!(working.await.unwrap(), number);
    }
    while usage().held > 0 {
        yield_now().await;
    }
    assert_eq!((usage().waiting, usage().refused), (0, 0));
}

/// R-A105: one more than the places to wait is refused, to that key alone.
#[tokio::test]
async fn a_key_that_overfills_is_refused() {
    let resources = Resources::new(&ServerLimits { uploads: 4, body_time: LONG, ..ServerLimits::default() });
    let queue = resources.queue(Resource::Uploads);
    let held: Vec<_> = std::iter::from_fn(|| queue.try_enter(&holder_of("greedy"))).collect();
    assert_eq!(held.len(), 2);
    let (greedy, mut waiting) = (holder_of("greedy"), Vec::new());
    while queue.usage().refused < 1 {
        let mut entering = Box::pin(queue.enter(&greedy));
        let polled = pin!(&mut entering).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        if polled.is_pending() {
            waiting.push(entering);
        }
    }
    assert!(waiting.len() > 10, "{}", waiting.len());
    let refused = resources.enter(Resource::Uploads, &holder_of("greedy")).await.unwrap_err();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(resources.enter(Resource::Uploads, &holder_of("light")).await.is_ok());
}

/// Keys of one tenant share its part, and a key of several or of none is a tenant by itself. Nothing that a client chooses makes another.
#[tokio::test]
async fn a_caller_counts_for_its_tenant() {
    let tenant = |weight, namespaces: &[&str]| phasm::Tenant {
        weight,
        namespaces: namespaces.iter().map(|name| Arc::from(*name)).collect(),
        ..phasm::Tenant::default()
    };
    let builder = Host::builder().tenant("acme", tenant(3, &["builds"])).tenant("other", tenant(1, &[]));
    let host = builder.open().unwrap();
    let of = |name: &str, namespaces: &[&str]| {
        let namespaces = namespaces.iter().map(|name| Arc::from(*name)).collect();
        let found = holder(&host, &Caller { key: Some(name.into()), role: Role::Read, namespaces });
        (found.tenant.to_string(), found.key.to_string(), found.weight)
    };
    assert_eq!(of("ci", &["acme", "builds"]), ("acme".into(), "ci".into(), 3));
    assert_eq!(of("page", &["builds"]), ("acme".into(), "page".into(), 3));
    assert_eq!(of("free", &["free"]), ("free".into(), "free".into(), 1));
    assert_eq!(of("both", &["acme", "other"]), ("/both".into(), "both".into(), 1));
    assert_eq!(of("root", &[]), ("/root".into(), "root".into(), 1));
    let peer = |text: &str| address(text.parse().unwrap()).tenant.to_string();
    assert_eq!(peer("192.0.2.7"), peer("::ffff:192.0.2.7"));
    assert_eq!(peer("2001:db8::1"), peer("2001:db8::2:3:4"));
    assert_ne!(peer("2001:db8::1"), peer("2001:db8:0:1::1"));
}
