//! A server on loopback with two tenants, and their requests.

use std::{fmt::Write as _, future::Future, net::SocketAddr, path::Path, pin::Pin, sync::Arc, thread};

use phasm::{
    Host, Map, Outcome, Plan, Tenant,
    executor::{Executor, Invocation, Observer},
    plugins::{Library, Manifest},
    store::Sqlite,
};
use phasm_server::{
    Server, ServerConfig,
    keys::{Key, KeyFile, Role},
};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};

use super::client::{Client, Request, login};

/// Connections where they are not what is measured.
pub(crate) const MANY: usize = 16_384;
/// Task runs of the large run, and runs that are searched.
const LARGE_RUN: usize = 20_000;
const RUNS: usize = 20_000;
/// Size of the light tenant's workflow file.
const MEDIUM: usize = 33 << 10;

/// Does nothing, at once; or `block`, for ever.
struct Doer;

impl Executor for Doer {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move {
            if &*call.executor_type == "block" {
                std::future::pending::<()>().await;
            }
            Outcome::default()
        })
    }
}

/// A server that runs, until it is dropped.
pub(crate) struct Site {
    runtime: Option<Runtime>,
    host: Arc<Host>,
    address: SocketAddr,
    keys: [(&'static str, String); 3],
    stop: Option<oneshot::Sender<()>>,
    _dir: tempfile::TempDir,
}

impl Site {
    /// With runs in a file.
    pub(crate) fn open(connections: usize) -> Self {
        Self::serve(connections, |dir| {
            let store = Sqlite::open(dir.join("runs.db")).expect("a store");
            Host::builder().executor(Arc::new(Doer)).store(Arc::new(store))
        })
    }

    /// With a library of plugins for each tenant.
    pub(crate) fn with_library() -> Self {
        Self::serve(MANY, |dir| Host::builder().plugin_library(Library::at(dir.join("library"))))
    }

    fn serve(connections: usize, build: impl FnOnce(&Path) -> phasm::HostBuilder) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let key_file = dir.path().join("keys");
        let keys = ["light", "heavy", "operator"].map(|name| {
            let namespaces = if name == "operator" { Vec::new() } else { vec![name.to_owned()] };
            let (key, text) = Key::make(name, Role::Admin, namespaces).expect("a key");
            KeyFile::at(key_file.clone()).add(key).expect("a file of keys");
            (name, text)
        });
        let builder = build(dir.path()).tenant("light", Tenant::default()).tenant("heavy", Tenant::default());
        let host = Arc::new(builder.open().expect("a host"));
        let mut config = ServerConfig { keys: Some(key_file), ..ServerConfig::default() };
        config.limits.connections = connections;
        // The number of the command: most of the cores are for other work.
        let threads = thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        let runtime = runtime.expect("threads");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("an address");
        let address = listener.local_addr().expect("an address");
        let server = Server::new(Arc::clone(&host), config).expect("a server");
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(async move { server.serve(listener, async { drop(stopped.await) }).await });
        Self { runtime: Some(runtime), host, address, keys, stop: Some(stop), _dir: dir }
    }

    pub(crate) fn client(&self, name: &str) -> Client {
        let key = self.keys.iter().find(|(known, _)| *known == name).map(|(_, key)| key.clone());
        Client { address: self.address, key: key.expect("a key") }
    }

    /// Requests that were refused to keys so far.
    pub(crate) fn refused(&self) -> u64 {
        let client = self.client("operator");
        let metrics = Request { line: "GET /metrics".into(), ..Request::default() };
        let mut said = String::new();
        let read =
            client.begin(&metrics).map(|mut stream| std::io::Read::read_to_string(&mut stream, &mut said));
        drop(read);
        let refused = said.lines().filter_map(|line| line.strip_prefix("phasm_resource_refusals_total"));
        refused.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    }

    /// The requests of a part: those of the light tenant, and of the heavy one.
    pub(crate) fn requests(&self, part: &str, large: usize) -> (Request, Request) {
        let validate = |body: String| posted("POST /v1/validate", body);
        let get = |line: String| Request { line, ..Request::default() };
        let list = || get("GET /v1/runs".into());
        match part {
            "plans" => (validate(document("light", MEDIUM)), validate(document("heavy", large))),
            "requests" => (validate(document("light", 0)), validate(document("heavy", 0))),
            "views" => {
                self.fill("light", 100);
                (list(), get(format!("GET /v1/runs/{}?tasks=10000", self.large_run())))
            }
            "lists" => {
                self.fill("light", 100);
                self.fill("heavy", RUNS);
                (list(), get("GET /v1/runs?text=nothing-has-it".into()))
            }
            "streams" => {
                let small = self.run(&document("light", 0));
                let follow = |run: String| get(format!("GET /v1/runs/{run}/events?stream"));
                (follow(small), follow(self.large_run()))
            }
            "waits" => {
                self.fill("light", 100);
                let open = self.start(&document("heavy", 0).replace("ok", "block"));
                (list(), get(format!("GET /v1/runs/{open}?wait=5m")))
            }
            "bodies" => {
                let body = Request { missing: 200_000, ..validate(document("heavy", 0)) };
                (validate(document("light", 100 << 10)), body)
            }
            "uploads" => (upload(component()), Request { missing: 1_000_000, ..upload(b"\0asm".to_vec()) }),
            "logins" => {
                let cookie = self.client("light").sign_in();
                let page = Request { headers: vec![("cookie", cookie)], ..get("GET /runs".into()) };
                (page, login(&self.client("heavy").key))
            }
            other => unreachable!("PHASM_BENCH has no part `{other}`"),
        }
    }

    fn plan(&self, text: &str) -> Arc<Plan> {
        let runtime = self.runtime.as_ref().expect("threads");
        runtime.block_on(self.host.plan("bench.yaml", text)).expect("a plan")
    }

    /// Starts a run.
    fn start(&self, text: &str) -> String {
        let (plan, runtime) = (self.plan(text), self.runtime.as_ref().expect("threads"));
        runtime.block_on(self.host.submit(&plan, &Map::new())).expect("submitted").id().to_string()
    }

    /// Runs a workflow to its end.
    fn run(&self, text: &str) -> String {
        let (plan, runtime) = (self.plan(text), self.runtime.as_ref().expect("threads"));
        runtime.block_on(async {
            let run = self.host.submit(&plan, &Map::new()).await.expect("submitted");
            run.wait().await.expect("an end");
            run.id().to_string()
        })
    }

    fn large_run(&self) -> String {
        self.run(&dag("heavy", LARGE_RUN))
    }

    /// Runs a small workflow that often.
    fn fill(&self, namespace: &str, count: usize) {
        let (plan, runtime) = (self.plan(&document(namespace, 0)), self.runtime.as_ref().expect("threads"));
        runtime.block_on(async {
            let mut runs = tokio::task::JoinSet::new();
            for number in 0..count {
                let (host, plan) = (Arc::clone(&self.host), Arc::clone(&plan));
                runs.spawn(
                    async move { host.submit(&plan, &Map::new()).await.expect("submitted").wait().await },
                );
                if number % 500 == 499 {
                    while runs.join_next().await.is_some() {}
                }
            }
            while runs.join_next().await.is_some() {}
        });
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

fn posted(line: &str, body: String) -> Request {
    let headers = vec![("content-type", "application/yaml".to_owned())];
    Request { line: line.into(), headers, body: body.into(), missing: 0 }
}

fn upload(body: Vec<u8>) -> Request {
    let headers = vec![("content-type", "application/wasm".to_owned())];
    Request { line: "PUT /v1/plugins/greet/1.0.0".into(), headers, body, missing: 0 }
}

/// The smallest guest of the tests, with its manifest.
fn component() -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| std::fs::read_to_string(guests.join(name)).expect("a guest");
    let bytes =
        wat::parse_str(read("world.wat").replace(";; GUEST", &read("echo.wat"))).expect("a component");
    let manifest = serde_json::json!({ "name": "greet", "version": "1.0.0" });
    let manifest: Manifest = serde_json::from_value(manifest).expect("a manifest");
    manifest.embed(&bytes).expect("a component with its manifest")
}

/// A workflow file of about so many bytes.
fn document(namespace: &str, bytes: usize) -> String {
    let one = dag(namespace, 1).len();
    let two = dag(namespace, 2).len();
    dag(namespace, bytes.saturating_sub(one) / (two - one + 4) + 1)
}

/// A dag of so many tasks.
fn dag(namespace: &str, tasks: usize) -> String {
    let mut text = format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: bench, namespace: {namespace} }}\nspec:\n  entrypoint: main\n  \
         templates:\n  - dag:\n      name: main\n      tasks:\n"
    );
    for number in 0..tasks {
        let _ = writeln!(text, "      - {{ name: t{number}, executor: {{ type: ok }} }}");
    }
    text
}
