//! A server to look at, with executors that do as their names say.

use std::{future::Future, net::SocketAddr, path::Path, pin::Pin, sync::Arc, time::Duration};

use phasm::{
    Host, HostBuilder, Map, Outcome, RunHandle, Value,
    executor::{Executor, Invocation, Level, Observer},
    plugins::Library,
    sandbox::{Grants, HttpGrant, SandboxConfig},
};
use phasm_server::{
    Server, ServerConfig,
    keys::{Key, KeyFile, Role},
};
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};

/// Schema of an approval.
const SCHEMA: &str = r#"{ "type": "object", "required": ["approved"], "properties": {
    "approved": { "type": "boolean", "title": "Release it?", "description": "No ends the run as Failed." },
    "by": { "type": "string", "title": "Who decides" },
    "channel": { "enum": ["stable", "beta"], "title": "Channel", "default": "beta" },
    "comment": { "type": "string", "maxLength": 2000, "title": "Comment" } } }"#;

/// `talk` waits for a word, writes lines and waits for another, `flaky` fails once, `fail` always, `approval` asks, and
/// fails if it is rejected, `import` fails for two customers; all others succeed.
struct Doer {
    words: Arc<Semaphore>,
}

impl Executor for Doer {
    fn execute(
        &self,
        call: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let words = Arc::clone(&self.words);
        Box::pin(async move {
            // Long enough to be seen in a timeline; nothing waits for it.
            if &*call.executor_type != "import" {
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
            match &*call.executor_type {
                "flaky" if call.attempt == 1 => Outcome::error("connection refused by registry.example"),
                "fail" => Outcome::failed("2 of 318 tests failed"),
                "approval" if call.resumed => decided(&call),
                "import" => imported(&call, &*observer),
                "approval" => asking(),
                "talk" => {
                    words.acquire().await.unwrap().forget();
                    (1..4).for_each(|n| observer.log(Level::Info, &format!("compiling part {n} of 3")));
                    observer.log(Level::Warn, "a cache is cold: <b>this takes longer</b>");
                    words.acquire().await.unwrap().forget();
                    Outcome::default().output("artifact", "phasm-1.4.0.tar.zst")
                }
                "echo" => call.inputs.iter().fold(Outcome::default(), |outcome, (name, value)| {
                    outcome.output(&**name, value.clone())
                }),
                _ => Outcome::default().output("done", true),
            }
        })
    }
}

/// The values of a response. A rejection fails, as that of the approval executor does.
fn decided(call: &Invocation) -> Outcome {
    let is_rejected =
        call.inputs.iter().any(|(name, value)| &**name == "approved" && *value == Value::from(false));
    let comment =
        call.inputs.iter().find(|(name, _)| &**name == "comment").and_then(|(_, value)| value.as_str());
    let outcome = match is_rejected {
        true => Outcome::failed(format!("rejected: {}", comment.unwrap_or_default())),
        false => Outcome::default(),
    };
    call.inputs.iter().fold(outcome, |outcome, (name, value)| outcome.output(&**name, value.clone()))
}

fn imported(call: &Invocation, observer: &dyn Observer) -> Outcome {
    let customer = call.inputs.iter().find(|(name, _)| &**name == "customer");
    let customer = customer.and_then(|(_, value)| value.as_str()).unwrap_or_default();
    observer.log(Level::Info, &format!("looking at {customer}"));
    match customer {
        "customer-137" | "customer-402" => Outcome::failed(format!("{customer} has no address")),
        _ => Outcome::default(),
    }
}

fn asking() -> Outcome {
    let details = Map::from([("changes".into(), 14.into()), ("risk".into(), "low".into())]);
    let asked = Map::from([
        ("message".into(), "Release 1.4.0 to everybody?".into()),
        ("details".into(), details.into()),
        ("schema".into(), Value::from_json(SCHEMA).unwrap()),
    ]);
    Outcome::suspended().output("asked", asked)
}

/// The server.
pub(crate) struct Site {
    pub(crate) runtime: Runtime,
    host: Arc<Host>,
    address: SocketAddr,
    words: Arc<Semaphore>,
    pub(crate) dir: tempfile::TempDir,
    server: Arc<Server>,
    stop: Option<oneshot::Sender<()>>,
    serves: Option<JoinHandle<()>>,
    key: String,
}

impl Site {
    pub(crate) fn open() -> Self {
        let words = Arc::new(Semaphore::new(0));
        let doer = Doer { words: Arc::clone(&words) };
        Self::of(words, |builder, _| builder.executor(Arc::new(doer)))
    }

    /// With plugins in a library, of which `greet` is granted something.
    pub(crate) fn with_library() -> Self {
        let http = HttpGrant {
            allow: vec!["GET https://api.example.com/v1/*".parse().unwrap()],
            ..HttpGrant::default()
        };
        let grants = Grants { http, ..Grants::default() };
        Self::of(Arc::new(Semaphore::new(0)), |builder, dir| {
            let sandbox = SandboxConfig { slots: 8, ..SandboxConfig::default() };
            builder.sandbox(sandbox).plugin_library(Library::at(dir.join("library"))).grant("greet", grants)
        })
    }

    /// With a key of ada, who may run workflows.
    pub(crate) fn with_keys() -> Self {
        let words = Arc::new(Semaphore::new(0));
        let doer = Doer { words: Arc::clone(&words) };
        Self::serving(words, true, |builder, _| builder.executor(Arc::new(doer)))
    }

    fn of(words: Arc<Semaphore>, build: impl FnOnce(HostBuilder, &Path) -> HostBuilder) -> Self {
        Self::serving(words, false, build)
    }

    fn serving(
        words: Arc<Semaphore>,
        has_keys: bool,
        build: impl FnOnce(HostBuilder, &Path) -> HostBuilder,
    ) -> Self {
        let runtime = Runtime::new().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let inside = runtime.enter();
        let store = phasm::store::Sqlite::open(dir.path().join("runs.db")).unwrap();
        let host = build(Host::builder(), dir.path()).store(Arc::new(store));
        let host = Arc::new(host.auto_claim(Duration::from_secs(60)).open().unwrap());
        let (mut config, mut key) = (ServerConfig::default(), String::new());
        if has_keys {
            let file = dir.path().join("keys");
            let (made, text) = Key::make("ada", Role::Run, Vec::new()).unwrap();
            KeyFile::at(file.clone()).add(made).unwrap();
            key = text;
            config.keys = Some(file);
        }
        let server = Arc::new(Server::new(Arc::clone(&host), config).unwrap());
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        drop(inside);
        let mut site = Self { runtime, host, address, words, dir, server, stop: None, serves: None, key };
        site.serve(listener);
        site
    }

    fn serve(&mut self, listener: TcpListener) {
        let (stop, stopped) = oneshot::channel();
        let server = Arc::clone(&self.server);
        self.stop = Some(stop);
        self.serves = Some(self.runtime.spawn(async move {
            let stopped = async {
                let _dropped = stopped.await;
            };
            server.serve(listener, stopped).await.unwrap();
        }));
    }

    /// Ends the server, until it is started again.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        self.runtime.block_on(self.serves.take().unwrap()).unwrap();
    }

    /// Serves again at the same address.
    pub(crate) fn start(&mut self) {
        self.server = Arc::new(Server::new(Arc::clone(&self.host), ServerConfig::default()).unwrap());
        let listener = self.runtime.block_on(TcpListener::bind(self.address)).unwrap();
        self.serve(listener);
    }

    /// The key of ada.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// One `talk` goes on.
    pub(crate) fn say(&self) {
        self.words.add_permits(1);
    }

    pub(crate) fn submit(&self, document: &str) -> RunHandle {
        self.runtime.block_on(async {
            let plan = self.host.plan("document.yaml", document).await.unwrap();
            self.host.submit(&plan, &Map::new()).await.unwrap()
        })
    }

    /// Pauses a schedule, as another client does.
    pub(crate) fn suspend(&self, namespace: &str, name: &str) {
        self.runtime.block_on(self.host.suspend_schedule(namespace, name)).unwrap();
    }

    /// Saves a workflow.
    pub(crate) fn save(&self, document: &str) {
        self.runtime.block_on(async {
            let plan = self.host.plan("document.yaml", document).await.unwrap();
            let written = phasm::catalog::WrittenDocument { file: "audit.yaml", text: document };
            self.host.save_workflow(&plan, written, Some("ada")).await.unwrap();
        });
    }

    /// Saves a schedule of the namespace `default`, and starts so many runs of it, each after the end of the one before.
    pub(crate) fn fire(&self, name: &str, document: &str, times: usize) {
        self.runtime.block_on(async {
            let plan = self.host.plan("document.yaml", document).await.unwrap();
            let written = phasm::catalog::WrittenDocument { file: "nightly.yaml", text: document };
            self.host.put_schedule(&plan, written, Some("ada")).await.unwrap();
            for _ in 0..times {
                let (parameters, options) = (Map::new(), phasm::SubmitOptions::default());
                let request =
                    phasm::TriggerRequest { namespace: "default", name, parameters: &parameters, options };
                let started = self.host.trigger(request).await.unwrap();
                let row = self.host.store().get(&started.run_id).await.unwrap().unwrap();
                self.host.run_of(&row).wait().await.unwrap();
            }
        });
    }

    /// Submits a run, and waits until it has ended or waits for a response.
    pub(crate) fn settled(&self, document: &str) -> RunHandle {
        let run = self.submit(document);
        self.runtime.block_on(run.wait_or_park()).unwrap();
        run
    }
}

/// A workflow of that name whose tasks are lines.
pub(crate) fn workflow(name: &str, tasks: &[&str]) -> String {
    let lines: String = tasks.iter().map(|task| format!("          - {{ {task} }}\n")).collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: {name}, labels: {{ team: platform }} }}\nspec:\n  entrypoint: main\n  \
         templates:\n    - task: {{ name: work, executor: {{ type: work }} }}\n    - loop: {{ name: packages, items: [linux, macos, windows], \
         body: work }}\n    - dag:\n        name: main\n        tasks:\n{lines}"
    )
}

/// A workflow that imports so many customers, of whom two have no address.
pub(crate) fn customers(count: usize) -> String {
    let names: Vec<_> = (0..count).map(|number| format!("customer-{number}")).collect();
    format!(
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: {{ name: import }}\nspec:\n  entrypoint: main\n  templates:\n    - loop:\n        \
         name: main\n        items: [{}]\n        body: one\n        continueOn: {{ failed: true }}\n    - task:\n        name: one\n        \
         executor: {{ type: import }}\n        inputs: {{ customer: \"{{{{ loop.item }}}}\" }}\n",
        names.join(", ")
    )
}

/// The workflow of most pictures.
pub(crate) fn release(build: &str) -> String {
    workflow(
        "release",
        &[
            "name: fetch, executor: { type: flaky }, retry: { limit: 2, delay: 60ms }",
            &format!("name: build, executor: {{ type: {build} }}, dependencies: [fetch]"),
            "name: test, template: work, dependencies: [fetch]",
            "name: lint, executor: { type: fail }, dependencies: [fetch], continueOn: { failed: true }",
            "name: package, template: packages, dependencies: [build, test]",
            "name: approve, executor: { type: approval }, dependencies: [package, lint], timeout: 7d",
            "name: publish, template: work, dependencies: [approve]",
        ],
    )
}
