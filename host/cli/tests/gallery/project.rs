//! An example in a folder of its own, as `phasm init` writes it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::peer::Peer;

/// Example in a folder, with the shipped executors.
pub(crate) struct Project {
    dir: TempDir,
}

/// Exit status and output of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The run view that it printed.
    pub(crate) fn view(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Returns the value of an output of the run; null if it has none.
pub(crate) fn output(view: &Value, name: &str) -> Value {
    let found = view["outputs"].as_array().unwrap().iter().find(|output| output["name"] == name);
    found.map(|output| output["value"].clone()).unwrap_or_default()
}

/// Returns the phases of all task runs with that name, in the order in which they were created.
pub(crate) fn phases(view: &Value, name: &str) -> Vec<String> {
    let tasks = view["tasks"].as_array().unwrap().iter().filter(|task| task["taskName"] == name);
    tasks.map(|task| task["phase"].as_str().unwrap().to_owned()).collect()
}

impl Project {
    /// Makes the folder, checks it by its own script, and names `peer` instead of every address.
    pub(crate) fn new(example: &str, peer: Option<&Peer>) -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        let made = project.sh(&format!("phasm init . --example {example}"));
        assert_eq!(made.status, 0, "{made:?}");
        let checked = project.sh("API_TOKEN=any ./check.sh");
        assert_eq!((checked.status, checked.stderr.as_str()), (0, ""), "{checked:?}");
        for file in ["workflow.yaml", "phasm.toml", "README.md"].map(|file| project.path(file)) {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let local = peer.map_or(text.clone(), |peer| at_peer(&text, &peer.url));
            fs::write(file, local).unwrap();
        }
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_phasm")).parent().unwrap().to_owned();
        let found = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs].into_iter().chain(env::split_paths(&found))).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.dir.path())
            .env("PATH", path)
            .env("XDG_DATA_HOME", self.path("data-home"))
            .env("PHASM_PLUGINS", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins"))
            .stdin(Stdio::null());
        for name in ["PHASM_CONFIG", "PHASM_STORE", "PHASM_SERVER", "PHASM_KEY", "PHASM_LIBRARY", "API_TOKEN"]
        {
            command.env_remove(name);
        }
        command
    }

    /// Runs a line of a shell.
    pub(crate) fn sh(&self, line: &str) -> Ran {
        let output = self.command(line).output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the line of the README's commands that has `part`.
    pub(crate) fn line(&self, part: &str) -> String {
        let page = self.text("README.md");
        let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        let line = blocks.flat_map(str::lines).find(|line| line.contains(part)).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no {part}: {page}"))
    }

    /// Runs the README's line that has `part`, with more options; its exit status and the run view.
    pub(crate) fn run(&self, part: &str, more: &str) -> (i32, Value) {
        let line = self.line(part);
        let json = if line.contains("--json") { "" } else { "--json" };
        let ran = self.sh(&format!("{line} {json} {more}"));
        (ran.status, ran.view())
    }

    /// Starts a line of a shell.
    pub(crate) fn start(&self, line: &str) -> Server {
        let line = format!("exec {line}");
        let child = self.command(&line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Server { child }
    }

    /// Returns the last run of the store `runs.db` once it has ended.
    pub(crate) fn ended(&self, run: &str) -> Value {
        for _ in 0..600 {
            let got = self.sh(&format!("phasm get {run} --store runs.db --json"));
            if got.stdout.contains("\"finishedAt\":\"") {
                let view = got.view();
                if !view["finishedAt"].is_null() {
                    return view;
                }
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{run} has not ended");
    }
}

/// Process that is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Replaces each `https://HOST.example.com`, and the address of an example's own service.
fn at_peer(text: &str, url: &str) -> String {
    let text = text.replace("http://127.0.0.1:9000", url);
    let mut parts = text.split("https://");
    let mut local = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(".example.com") {
            Some((host, rest)) if host.chars().all(char::is_alphanumeric) => {
                local += url;
                local += rest;
            }
            _ => {
                local += "https://";
                local += part;
            }
        }
    }
    local
}
