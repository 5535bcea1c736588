//! Node.js, and the packages that make components of scripts: on PATH, or in the cache folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    environment::command_in,
    process::{self, BUILD_LIMIT, ProcessError},
    progress::Progress,
    script::{ScriptToolError, installed_once},
};

/// An npm package of the version that plugins are built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedPackage {
    /// The package.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// The program in it.
    program: &'static str,
}

/// Makes components with QuickJS.
pub const COMPONENTIZE_QJS: PinnedPackage =
    PinnedPackage { name: "componentize-qjs", version: "0.4.5", program: "componentize-qjs" };
/// Puts a script and what it imports into one file.
pub const ESBUILD: PinnedPackage = PinnedPackage { name: "esbuild", version: "0.25.12", program: "esbuild" };
/// Checks the types of TypeScript.
pub const TYPESCRIPT: PinnedPackage = PinnedPackage { name: "typescript", version: "7.0.2", program: "tsc" };

const ALL: [PinnedPackage; 3] = [COMPONENTIZE_QJS, ESBUILD, TYPESCRIPT];
/// The first version of Node.js that the SDK works with.
const MIN_NODE: u32 = 20;

/// Node.js and the packages.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    node: PathBuf,
    /// The folder of their programs; without one they are on PATH.
    programs: Option<PathBuf>,
}

impl Tools {
    /// Finds the tools, or installs them for this user. Blocks.
    ///
    /// # Errors
    /// [`ScriptToolError`].
    pub(crate) fn find_or_make(progress: &dyn Progress) -> Result<Self, ScriptToolError> {
        let node = node()?;
        if ALL.iter().all(is_on_path) {
            return Ok(Self { node, programs: None });
        }
        let dir = installed_once("javascript", &listed("-", "_"), progress, |dir| make(dir, progress))?;
        Ok(Self { node, programs: Some(dir.join("node_modules").join(".bin")) })
    }

    /// Node.js, working in `folder`.
    pub(super) fn node(&self, folder: &Path) -> Command {
        command_in(folder, &self.node)
    }

    /// A tool, working in `folder`.
    pub(super) fn command(&self, package: PinnedPackage, folder: &Path) -> Command {
        let program = match &self.programs {
            Some(dir) if cfg!(windows) => dir.join(format!("{}.cmd", package.program)),
            Some(dir) => dir.join(package.program),
            None => PathBuf::from(package.program),
        };
        command_in(folder, program)
    }
}

/// npm, working in `folder`; neither scripts of packages nor questions.
///
/// # Errors
/// When there is no npm.
pub(super) fn npm(folder: &Path, action: &str) -> Result<Command, ScriptToolError> {
    let npm = process::which("npm").ok_or_else(|| ScriptToolError::Language {
        message: format!(
            "`npm` is not installed, or not on PATH; it installs the tools for JavaScript plugins: on Debian and Ubuntu, \
             `apt install npm`; or put {} on PATH",
            listed(" ", ", ")
        ),
    })?;
    let mut command = command_in(folder, npm);
    command.arg(action).args(["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    // One that was set for another folder, by an npm that started us.
    command.arg("--prefix").arg(folder);
    Ok(command)
}

/// The packages with their versions.
fn listed(before_version: &str, between: &str) -> String {
    ALL.map(|package| format!("{}{before_version}{}", package.name, package.version)).join(between)
}

fn node() -> Result<PathBuf, ScriptToolError> {
    let wanted = format!(
        "building a JavaScript plugin needs Node.js {MIN_NODE} or newer with npm: on Debian and Ubuntu, `apt install nodejs npm`"
    );
    let language = |message: String| ScriptToolError::Language { message };
    let node = process::which("node")
        .ok_or_else(|| language(format!("`node` is not installed, or not on PATH; {wanted}")))?;
    let said = process::query(Command::new(&node).arg("--version")).unwrap_or_default();
    let version = said.trim().trim_start_matches('v');
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major >= MIN_NODE) {
        return Ok(node);
    }
    Err(language(format!("{} is Node.js `{version}`; {wanted}", node.display())))
}

fn is_on_path(package: &PinnedPackage) -> bool {
    process::which(package.program).is_some_and(|program| is_of(&program, package))
}

/// Whether a program belongs to the package: npm lays links to programs, and a package's folder has its version.
fn is_of(program: &Path, package: &PinnedPackage) -> bool {
    let Ok(program) = fs::canonicalize(program) else { return false };
    program.ancestors().skip(1).take(3).any(|dir| {
        let text = phasm_files::read_regular_text(&dir.join("package.json"), 1 << 20).unwrap_or_default();
        let found: Value = serde_json::from_str(&text).unwrap_or_default();
        let is = |member: &str, value: &str| found.get(member).and_then(Value::as_str) == Some(value);
        is("name", package.name) && is("version", package.version)
    })
}

fn make(dir: &Path, progress: &dyn Progress) -> Result<(), ScriptToolError> {
    let mut install = npm(dir, "install")?;
    progress.step(&format!(
        "{} are not on PATH: installing them once for this user, 80 MB in {}",
        listed(" ", ", "),
        dir.display()
    ));
    let at_dir = |source| ScriptToolError::Write { path: dir.to_owned(), source };
    fs::create_dir_all(dir).map_err(at_dir)?;
    fs::write(dir.join("package.json"), "{ \"private\": true }\n").map_err(at_dir)?;
    install.args(ALL.map(|package| format!("{}@{}", package.name, package.version))).arg("--save-exact");
    let installed = |source: ProcessError| ScriptToolError::Install {
        tools: listed(" ", ", "),
        installer: "npm",
        source,
    };
    process::run(&mut install, BUILD_LIMIT, progress).map(drop).map_err(installed)
}
