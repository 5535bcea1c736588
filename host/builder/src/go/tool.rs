//! The go command: on PATH, in `GOROOT`, or where systems have it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    environment::command_in,
    process::{self, query},
    script::ScriptToolError,
};

/// The oldest minor version of Go 1 that exports functions of modules.
const MINIMUM: u32 = 24;
/// Minor versions that Debian may have in a folder of their own, the newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = MINIMUM..=40;
/// Folders of installations without a package.
const PLACES: [&str; 2] = ["/usr/local/go", "/opt/homebrew/opt/go/libexec"];

/// A go command that is new enough.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    program: PathBuf,
}

impl Tool {
    /// Finds a go command.
    ///
    /// # Errors
    /// [`ScriptToolError`], with the commands that are too old.
    pub(crate) fn find() -> Result<Self, ScriptToolError> {
        let mut old = Vec::new();
        for program in candidates() {
            let said = query(Command::new(&program).arg("version")).unwrap_or_default();
            if minor(&said).is_some_and(|minor| minor >= MINIMUM) {
                return Ok(Self { program });
            }
            let version = said.split(' ').nth(2).unwrap_or("no go command that runs").to_owned();
            old.push(format!("{} is {version}", program.display()));
        }
        let found = if old.is_empty() {
            format!(
                "there is none on PATH, in GOROOT, in /usr/lib/go-1.{MINIMUM} and in {}",
                PLACES.join(" and ")
            )
        } else {
            old.join(", ")
        };
        Err(ScriptToolError::Language {
            message: format!(
                "building a plugin in Go needs Go 1.{MINIMUM} or newer: {found}\non Debian 13 and newer: `apt install golang-go`\non \
                 macOS with Homebrew: `brew install go`\nelsewhere: unpack a release of Go, or Debian's packages golang-1.24-go and \
                 golang-1.24-src, and set GOROOT to its folder with `bin/go`"
            ),
        })
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The command, working in a folder, for modules of WebAssembly.
    pub(super) fn for_components(&self, folder: &Path) -> Command {
        let mut command = self.for_this_machine(folder);
        command.envs([("GOOS", "wasip1"), ("GOARCH", "wasm")]);
        command
    }

    /// The command, working in a folder.
    pub(super) fn for_this_machine(&self, folder: &Path) -> Command {
        let mut command = command_in(folder, &self.program);
        // A workspace around the project would have other modules than its `go.mod`.
        command.envs([("CGO_ENABLED", "0"), ("GOWORK", "off")]);
        for name in ["GOOS", "GOARCH"] {
            command.env_remove(name);
        }
        // One of another version than the command's own.
        let root = self.program.ancestors().nth(2).map(|root| root.join("src/runtime"));
        if root.is_some_and(|runtime| runtime.is_dir()) {
            command.env_remove("GOROOT");
        }
        command
    }
}

/// All go commands of this machine, the one to prefer first.
pub(super) fn candidates() -> Vec<PathBuf> {
    let roots = env::var_os("GOROOT").filter(|root| !root.is_empty()).map(PathBuf::from).into_iter();
    let of_debian = VERSIONS.rev().map(|version| PathBuf::from(format!("/usr/lib/go-1.{version}")));
    let roots = roots.chain(of_debian).chain(PLACES.map(PathBuf::from));
    let programs = roots.map(|root| root.join("bin").join(format!("go{}", env::consts::EXE_SUFFIX)));
    process::which("go").into_iter().chain(programs.filter(|program| program.is_file())).collect()
}

/// The minor version in `go version go1.24.4 linux/amd64`, or `go version devel go1.27-0a1b2c linux/amd64`.
fn minor(said: &str) -> Option<u32> {
    let version = said.strip_prefix("go version ")?.split(' ').find_map(|word| word.strip_prefix("go1."))?;
    version.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_a_minor_number() {
        for (said, expected) in [
            ("go version go1.24.4 linux/amd64\n", Some(24)),
            ("go version go1.26 linux/amd64\n", Some(26)),
            ("go version go1.27rc1 linux/amd64\n", Some(27)),
            ("go version devel go1.27-0a1b2c linux/amd64\n", Some(27)),
            ("go version go2 linux/amd64\n", None),
            ("", None),
        ] {
            assert_eq!(minor(said), expected, "{said}");
        }
    }
}
