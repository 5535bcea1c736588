//! A directory with plugins in which commands are run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A directory of its own, with `plugins/` full of guests.
pub(crate) struct Bench {
    dir: TempDir,
}

/// Output and exit status of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        for guest in ["assert", "code", "doze", "echo", "linger", "say", "sleep", "nap", "suspend", "trap"] {
            bench.guest(guest);
        }
        bench
    }

    /// Puts one more guest among the plugins.
    pub(crate) fn guest(&self, guest: &str) {
        self.write(&format!("plugins/{guest}.wasm"), component(guest));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A document of one task template `main` with this executor, more fields in JSON or YAML flow style, and the parameter
    /// `code` as its input.
    pub(crate) fn task(&self, name: &str, executor: &str, more: &str) {
        self.write(
            name,
            format!(
                "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w }}\nspec:\n  entrypoint: main\n  arguments: \
                 {{ parameters: [{{ name: code, default: 0 }}] }}\n  templates:\n    - task:\n        name: main\n        \
                 executor: {{ type: {executor} }}\n        {more}\n        inputs: {{ parameters: [{{ name: code, value: \
                 \"{{{{ workflow.parameters.code }}}}\" }}] }}\n"
            ),
        );
    }

    /// The command, with nothing of the user's around it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasm"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("PHASM_CACHE_DIR", self.path("cache"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("PHASM_EXECUTORS", "")
            .env_remove("NO_COLOR")
            .env_remove("TRACEPARENT")
            .env_remove("PHASM_STORE")
            .env_remove("PHASM_SERVER")
            .env_remove("PHASM_KEY")
            .env_remove("PHASM_CONFIG")
            .env_remove("PHASM_PLUGINS")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn phasm(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// [`Self::phasm`] in a folder below.
    #[cfg(unix)]
    pub(crate) fn phasm_in(&self, folder: &str, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).current_dir(self.path(folder)).output().unwrap())
    }

    /// [`Self::phasm`] with variables of the environment.
    pub(crate) fn phasm_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).envs(variables.iter().copied()).output().unwrap())
    }

    /// Has a shell run the command that `text` has behind `lead`, as a person would who pastes it.
    pub(crate) fn paste(&self, text: &str, lead: &str, variables: &[(&str, &str)]) -> Ran {
        let line = text.lines().find_map(|line| line.split_once(lead).map(|(_, command)| command));
        let line = line.unwrap_or_else(|| panic!("no {lead}: {text}"));
        let mut shell = Command::new("sh");
        let command = self.command(&[]);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let shell = shell.args(["-c", line]).current_dir(self.dir.path()).stdin(Stdio::null());
        Ran::from(shell.envs(variables.iter().copied()).output().unwrap())
    }
}

impl Ran {
    /// stdout as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// stdout as one JSON value a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A guest of the tests, in its world.
fn component(guest: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    wat::parse_str(read("world").replace(";; GUEST", &read(guest))).unwrap()
}
