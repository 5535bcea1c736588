//! A machine of our making, for tools that are scripts.

use std::{env, fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command, sync::Mutex};

use phasm_builder::bring_up_to_date;

/// Tells the copy of this test that runs in an environment of our making what to build and where to answer.
const FOLDER: &str = "PHASM_TEST_FOLDER";
const ANSWER: &str = "PHASM_TEST_ANSWER";

/// A PATH with nothing but these scripts on it, and projects.
pub(crate) struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new(tools: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("phasm with blank ").tempdir().unwrap();
        let machine = Self { dir };
        for (name, script) in tools {
            machine.script(&format!("bin/{name}"), script);
        }
        machine
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    pub(crate) fn script(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}"));
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Name of the component, or the error; and the steps.
    pub(crate) fn build(&self, project: &str) -> (String, String) {
        let answer = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "machine::the_copy_in_another_environment"]);
        command.env_remove("GOROOT").env("PATH", self.at("bin")).env("PHASM_CACHE_DIR", self.at("cache"));
        command.env(FOLDER, self.at(project)).env(ANSWER, answer.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let said = fs::read_to_string(answer.path()).unwrap();
        let (built, steps) = said.split_once('\0').unwrap();
        (built.to_owned(), steps.to_owned())
    }

    pub(crate) fn calls(&self, tool: &str) -> usize {
        fs::read_to_string(self.at(tool)).map_or(0, |calls| calls.lines().count())
    }
}

#[test]
fn the_copy_in_another_environment() {
    let (Some(folder), Some(answer)) = (env::var_os(FOLDER), env::var_os(ANSWER)) else { return };
    let steps = Mutex::new(String::new());
    let progress = |step: &str| {
        let mut steps = steps.lock().unwrap();
        steps.push_str(step);
        steps.push('\n');
    };
    let built = bring_up_to_date(&[folder], &progress).pop().unwrap();
    let said = built.map_or_else(|error| error.to_string(), |artefact| artefact.name);
    fs::write(answer, format!("{said}\0{}", steps.into_inner().unwrap())).unwrap();
}
