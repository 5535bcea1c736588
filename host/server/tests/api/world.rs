//! A server with executors that do as they are told.

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use phasm::{
    Host, HostBuilder, Outcome, Value,
    artifacts::ArtifactPlace,
    executor::{Executor, Invocation, Level, Observer},
    plugins::Library,
    sandbox::{Limits, SandboxConfig},
    store::{Sqlite, Store},
};
use phasm_server::{
    Server, ServerConfig,
    keys::{Key, KeyFile, Role},
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::client::Client;

/// A question as the approval executor asks it, for the callers that the configuration names.
fn decision(config: &Value) -> Value {
    let schema = r#"{ "type": "object", "required": ["approved"], "properties": { "approved": { "type": "boolean" },
        "by": { "type": "string" }, "comment": { "type": "string" } } }"#;
    let mut asked = phasm::Map::from([
        ("message".into(), "Release it?".into()),
        ("schema".into(), Value::from_json(schema).unwrap()),
    ]);
    asked.extend(config.member("approvers").map(|approvers| ("approvers".into(), approvers.clone())));
    asked.into()
}

/// Does what the executor's type says: `ok`, `fail`, `decide` (approved or not), `ask` (an answer), `gate` (an answer of bob), `block` (until it is stopped), `talk` (some lines), `large`,
/// `huge` (8 MiB), `odd` (a large object of an odd name).
pub(crate) struct Doer;

impl Executor for Doer {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move {
            match &*call.executor_type {
                "fail" => Outcome::failed("as asked"),
                "gate" if !call.resumed => Outcome::suspended(),
                // Takes the response of bob, and says of other callers who they are.
                "gate" => match call.config.as_object().and_then(|config| config.get("phasm.resumedBy")) {
                    Some(by) if *by == Value::from("bob") => Outcome::default(),
                    by => {
                        let why = format!("not by {}", by.map_or_else(|| "?".to_owned(), Value::to_json));
                        let detail = serde_json::json!({ "refused": why });
                        Outcome { detail: Some(detail.into()), ..Outcome::suspended() }
                    }
                },
                "decide" if call.resumed => {
                    call.inputs.iter().fold(Outcome::default(), |outcome, (name, value)| {
                        outcome.output(&**name, value.clone())
                    })
                }
                "decide" => Outcome::suspended().output("asked", decision(&call.config)),
                "ask" if call.resumed => Outcome::default().output("answered", true),
                "ask" => Outcome::suspended(),
                "block" => std::future::pending().await,
                "talk" => {
                    (0..3).for_each(|n| observer.log(Level::Info, &format!("line {n}")));
                    Outcome::default()
                }
                "large" => Outcome::default().output("text", "x".repeat(200_000)),
                "odd" => {
                    let list = vec![Value::from(7); 40_000];
                    let output = Value::from(phasm::Map::from([("list".into(), list.into())]));
                    Outcome::default().output("a/b ü?%", output)
                }
                "huge" => Outcome::default().output("text", "x".repeat(8 << 20)),
                _ => Outcome::default().output("said", Value::from("hello")),
            }
        })
    }
}

/// A server that runs, until it is dropped.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) host: Arc<Host>,
    pub(crate) dir: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl World {
    /// With runs in memory, and no keys.
    pub(crate) async fn new() -> Self {
        Self::with(|builder| builder, |_| {}).await
    }

    pub(crate) async fn with(
        build: impl FnOnce(HostBuilder) -> HostBuilder,
        configure: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let build = |builder: HostBuilder, _: &Path| build(builder.executor(Arc::new(Doer)));
        Self::open(build, configure).await
    }

    /// With plugins in a library, and a sandbox for them.
    pub(crate) async fn with_library(
        build: impl FnOnce(HostBuilder) -> HostBuilder,
        configure: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let build = |builder: HostBuilder, dir: &Path| {
            let mut limits = Limits::default();
            limits.component = 1 << 20;
            let sandbox = SandboxConfig { slots: 8, limits, ..SandboxConfig::default() };
            build(builder.sandbox(sandbox).plugin_library(Library::at(dir.join("library"))))
        };
        Self::open(build, configure).await
    }

    async fn open(
        build: impl FnOnce(HostBuilder, &Path) -> HostBuilder,
        configure: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = ServerConfig { keys: Some(dir.path().join("keys")), ..ServerConfig::default() };
        configure(&mut config);
        let host = Arc::new(
            build(Host::builder().artifacts(ArtifactPlace::Folder(dir.path().join("artifacts"))), dir.path())
                .open()
                .unwrap(),
        );
        let server = Server::new(Arc::clone(&host), config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client { address: listener.local_addr().unwrap(), key: None };
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            server.serve(listener, async { drop(stopped.await) }).await.unwrap();
        });
        Self { client, host, dir, stop: Some(stop), serving: Some(serving) }
    }

    /// With runs in a file.
    pub(crate) async fn in_file() -> Self {
        Self::on_file_in(tempfile::tempdir().unwrap()).await
    }

    async fn on_file_in(dir: tempfile::TempDir) -> Self {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(dir.path().join("runs.db")).unwrap());
        let keys = dir.path().join("keys");
        let mut world = Self::with(|builder| builder.store(store), |config| config.keys = Some(keys)).await;
        world.dir = dir;
        world
    }

    /// Stops the server, and opens another on the same file, which has nothing in memory.
    pub(crate) async fn reopened(mut self) -> Self {
        self.stop().await;
        let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        drop(self);
        Self::on_file_in(dir).await
    }

    /// A client with a new key.
    pub(crate) fn key(&self, name: &str, role: Role, namespaces: &[&str]) -> Client {
        let namespaces = namespaces.iter().map(ToString::to_string).collect();
        let (key, text) = Key::make(name, role, namespaces).unwrap();
        KeyFile::at(self.dir.path().join("keys")).add(key).unwrap();
        self.client.with_key(&text)
    }

    /// Stops the server and waits until it has.
    pub(crate) async fn stop(&mut self) {
        drop(self.stop.take());
        self.serving.take().unwrap().await.unwrap();
    }

    /// Submits a document and waits until the run has ended or waits for a response.
    pub(crate) async fn submit(&self, document: &str) -> String {
        submit(&self.client, document).await
    }

    /// How many events a run has in the store.
    pub(crate) async fn events(&self, run: &str) -> u64 {
        self.host.store().get(run).await.unwrap().unwrap().seq
    }
}

pub(crate) async fn submit(client: &Client, document: &str) -> String {
    client.post_yaml("/v1/runs", document).await.expect(202).text("/runID")
}

/// A document of one dag with a task of each executor type, one after the other.
pub(crate) fn workflow(namespace: &str, types: &[&str]) -> String {
    let mut tasks = String::new();
    for (number, kind) in types.iter().enumerate() {
        let after =
            number.checked_sub(1).map(|before| format!(", dependencies: [t{before}]")).unwrap_or_default();
        tasks += &format!("          - {{ name: t{number}, executor: {{ type: {kind} }}{after} }}\n");
    }
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w, namespace: {namespace}, labels: {{ team: data }} }}\nspec:\n  \
         entrypoint: main\n  arguments:\n    parameters: [{{ name: who, type: string, default: world }}]\n  templates:\n    \
         - dag:\n        name: main\n        tasks:\n{tasks}"
    )
}
