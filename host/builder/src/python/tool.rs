//! componentize-py: on PATH, or in an environment of its own in the cache folder.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    environment::command_in,
    process::{self, BUILD_LIMIT, ProcessError},
    progress::Progress,
    script::{ScriptToolError, installed_once},
};

/// The version of componentize-py that plugins are built with.
pub const COMPONENTIZE_VERSION: &str = "0.25.1";
const NAME: &str = "componentize-py";

/// A componentize-py of the version that is needed.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    program: PathBuf,
}

impl Tool {
    /// Finds componentize-py, or installs it for this user. Blocks.
    ///
    /// # Errors
    /// [`ScriptToolError`].
    pub(crate) fn find_or_make(progress: &dyn Progress) -> Result<Self, ScriptToolError> {
        if let Some(program) = process::which(NAME).filter(|program| has_version(program)) {
            return Ok(Self { program });
        }
        let dir = installed_once("python", &format!("{NAME}-{COMPONENTIZE_VERSION}"), progress, |dir| {
            make(dir, progress)
        })?;
        Ok(Self { program: program_in(&dir) })
    }

    /// The tool, working in `folder`; of the user's own Python it sees nothing.
    pub(super) fn command(&self, folder: &Path, environment: &Path) -> Command {
        let mut command = command_in(folder, &self.program);
        for name in ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        // Without one, packages of the user's own Python would be found.
        command.env("VIRTUAL_ENV", environment);
        command
    }
}

fn program_in(dir: &Path) -> PathBuf {
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    dir.join(bin).join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX))
}

fn has_version(program: &Path) -> bool {
    let said = process::query(Command::new(program).arg("--version"));
    said.is_ok_and(|said| said.split_whitespace().any(|word| word == COMPONENTIZE_VERSION))
}

fn make(dir: &Path, progress: &dyn Progress) -> Result<(), ScriptToolError> {
    let language = |message: String| ScriptToolError::Language { message };
    let python = process::which("python3").ok_or_else(|| {
        language(
            "`python3` is not installed, or not on PATH; building a Python plugin needs Python 3.10 or newer with `venv`: on Debian \
             and Ubuntu, `apt install python3 python3-venv`"
                .to_owned(),
        )
    })?;
    let parent = dir.parent().unwrap_or(dir);
    let works = process::query(command_in(parent, &python).args(["-c", "import venv, ensurepip"]));
    works.map_err(|error| {
        language(format!(
            "python3 has no `venv` with `pip`, which building a Python plugin needs: on Debian and Ubuntu, `apt install \
             python3-venv`; or put {NAME} {COMPONENTIZE_VERSION} on PATH. python3 says:\n{}",
            reason(error)
        ))
    })?;
    progress.step(&format!(
        "{NAME} {COMPONENTIZE_VERSION} is not on PATH: installing it once for this user, 72 MB in {}",
        dir.display()
    ));
    let installed = |source| ScriptToolError::Install {
        tools: format!("{NAME} {COMPONENTIZE_VERSION}"),
        installer: "pip",
        source,
    };
    let mut venv = command_in(parent, &python);
    process::run(venv.args(["-m", "venv"]).arg(dir), BUILD_LIMIT, progress).map_err(installed)?;
    let mut pip = command_in(parent, program_in(dir).with_file_name("python"));
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"]);
    pip.arg(format!("{NAME}=={COMPONENTIZE_VERSION}"));
    process::run(&mut pip, BUILD_LIMIT, progress).map(drop).map_err(installed)
}

fn reason(error: ProcessError) -> String {
    match error {
        ProcessError::Failed { output, .. } => output,
        other @ (ProcessError::Missing { .. }
        | ProcessError::Start { .. }
        | ProcessError::TimedOut { .. }) => other.to_string(),
    }
}
