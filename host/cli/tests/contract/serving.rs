//! A server with runs that have ended, are running, and wait for an answer.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::bench::Bench;

/// Serves until it is dropped.
pub(crate) struct Serving {
    bench: Bench,
    store: String,
    child: Child,
    pub(crate) url: String,
    runs: Vec<String>,
}

const KINDS: [(&str, &str); 4] =
    [("echo", ""), ("suspend", ""), ("trap", "retry: { limit: 1, delay: 1d }"), ("linger", "")];

impl Serving {
    pub(crate) fn start(store: &str) -> Self {
        let bench = Bench::new();
        bench.write("phasm.toml", "[artifacts]\ndirectory = \"artifacts\"\nattempt-size = \"1 MiB\"\n");
        let mut child = bench
            .command(&[
                "serve",
                "--config",
                "phasm.toml",
                "--store",
                store,
                "--listen",
                "127.0.0.1:0",
                "--json",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
            said.get("url")?.as_str().map(str::to_owned)
        });
        // The endpoint is notified of each run, and would wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let mut serving = Self { bench, store: store.to_owned(), child, url: url.unwrap(), runs: Vec::new() };
        serving.runs = KINDS.map(|(kind, more)| serving.submit(kind, more)).into();
        serving
    }

    fn submit(&self, executor: &str, more: &str) -> String {
        let file = format!("{executor}.yaml");
        self.bench.task(&file, executor, more);
        let ran = self.bench.phasm(&["submit", &file, "--server", &self.url, "--json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json().get("runID").unwrap().as_str().unwrap().to_owned()
    }

    /// A new key.
    pub(crate) fn key(&self, name: &str, role: &str, namespaces: &[&str]) -> String {
        let mut arguments = vec!["key", "add", name, "--role", role, "--store", self.store.as_str()];
        arguments.extend(namespaces.iter().flat_map(|namespace| ["--namespace", *namespace]));
        let ran = self.bench.phasm(&arguments);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stdout.split_whitespace().find(|word| word.starts_with("phasm_")).unwrap().to_owned()
    }

    /// Configuration of schemathesis: paths mostly exist, and what a schema cannot say is no failure.
    pub(crate) fn config(&self) -> PathBuf {
        let hooks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/contract/hooks.py");
        let runs = json!(self.runs);
        let text = format!(
            "hooks = {hooks:?}\n\n[dictionaries]\nruns = {{ values = {runs} }}\ntasks = {{ values = [\"main\"] }}\n\
             spaces = {{ values = [\"default\", \"other\"] }}\nnames = {{ values = [\"w\", \"nightly\"] }}\n\n[parameters]\n\
             \"path.run\" = {{ dictionary = \"runs\", probability = 0.7 }}\n\"path.task\" = {{ dictionary = \"tasks\", probability = 0.7 }}\n\
             \"path.namespace\" = {{ dictionary = \"spaces\", probability = 0.7 }}\n\"path.name\" = {{ dictionary = \"names\", probability = 0.7 }}\n\n\
             [checks]\npositive_data_acceptance = {{ expected-statuses = [\"2xx\", 304, 401, 403, 404, 409, 422, 429] }}\n"
        );
        self.bench.write("schemathesis.toml", text);
        self.bench.path("schemathesis.toml")
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.bench.path("")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
