//! Finds a cargo that builds for `wasm32-wasip2`, and makes one where there is none.
//!
//! In this order: the toolchain that the folder uses anyway, if it has the target; a private one that was made here before; the target
//! from rustup; a private one, made of the distribution's packages. Only the first step is taken without the lock.

mod apt;
mod debian;
mod error;
mod linker_packages;
mod linkers;
mod make;
mod packages;
mod private;
mod recipe;
mod rust;
mod std_source;
mod unpack;
mod wasi_libc;

use std::{ffi::OsString, fmt, path::Path, path::PathBuf, process::Command, time::Duration};

use self::{private::Private, rust::Rust};
use super::{
    cache::{self, CacheError},
    environment::command_in,
    folder::TARGET,
    process::{self, ProcessError},
    progress::Progress,
};

/// The oldest compiler that can build a guest: the SDK asks for the same version as the host.
const MINIMUM: &str = env!("CARGO_PKG_RUST_VERSION");
/// A server that swallows packets must not hold up the other ways for long.
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

/// A way to run cargo that can build for `wasm32-wasip2`.
#[derive(Clone, Debug)]
pub struct Toolchain {
    cargo: PathBuf,
    environment: Vec<(&'static str, OsString)>,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    Installed,
    Private { release: String },
}

/// One way to the target that did not work.
#[derive(Debug)]
pub struct Failure {
    /// The way that was tried.
    pub way: String,
    /// Why it did not work.
    pub reason: String,
    /// Advice that makes it work.
    pub remedy: String,
}

/// Why nothing can build for the target.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// There is no Rust at all.
    #[error(
        "`{tool}` is not installed, or not on PATH; building a plugin needs Rust {MINIMUM} or newer: install it and run this \
         again"
    )]
    NoRust {
        /// Which program is missing.
        tool: &'static str,
    },
    /// The folder's own compiler does not run.
    #[error("the Rust compiler for {} does not run: {source}", folder.display())]
    BrokenRust {
        /// The workspace's folder.
        folder: PathBuf,
        /// Why.
        source: ProcessError,
    },
    /// A private toolchain has no place.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Every way failed.
    #[error("{}", no_way(tried))]
    NoWay {
        /// All of them, in the order they were tried.
        tried: Vec<Failure>,
    },
}

impl Toolchain {
    /// Finds or makes a toolchain for what lies in `folder`, which may pin its own compiler. Blocks.
    ///
    /// Making one takes minutes, once per user; processes that start meanwhile wait for it.
    ///
    /// # Errors
    /// [`ToolchainError`].
    pub fn find_or_prepare(folder: &Path, progress: &dyn Progress) -> Result<Self, ToolchainError> {
        let rust = Rust::of(folder)?;
        if rust.has_target() {
            return Ok(Self::installed());
        }
        let home = cache::dir()?.join("toolchain");
        if let Some(toolchain) = Private::open(&home).and_then(|private| private.toolchain(&rust)) {
            return Ok(toolchain);
        }
        let _lock = cache::lock(&home, "prepares the toolchain for wasm32-wasip2", progress)?;
        // Another process may have done it while this one waited.
        if rust.has_target() {
            return Ok(Self::installed());
        }
        if let Some(toolchain) = Private::open(&home).and_then(|private| private.toolchain(&rust)) {
            return Ok(toolchain);
        }
        prepare(&rust, &home, progress).map_err(|tried| ToolchainError::NoWay { tried })
    }

    fn installed() -> Self {
        Self { cargo: PathBuf::from("cargo"), environment: Vec::new(), origin: Origin::Installed }
    }

    /// Cargo, working in `folder`, in an environment free of settings meant for the host's own build.
    pub(super) fn cargo(&self, folder: &Path) -> Command {
        let mut command = command_in(folder, &self.cargo);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Installed => f.write_str("the installed toolchain"),
            Origin::Private { release } => write!(f, "a private toolchain, rustc {release}"),
        }
    }
}

fn prepare(rust: &Rust, home: &Path, progress: &dyn Progress) -> Result<Toolchain, Vec<Failure>> {
    add_target(rust, progress)
        .or_else(|rustup| make::make(home, rust, progress).map_err(|private| vec![rustup, private]))
}

fn add_target(rust: &Rust, progress: &dyn Progress) -> Result<Toolchain, Failure> {
    let command = format!("rustup target add {TARGET}");
    progress.step(&format!("the target {TARGET} is not installed: trying `{command}`"));
    let mut rustup = command_in(rust.folder(), "rustup");
    rustup.env_remove("RUST_BACKTRACE");
    let reason = match process::run(rustup.args(["target", "add", TARGET]), RUSTUP_LIMIT, progress) {
        Ok(_) if rust.has_target() => return Ok(Toolchain::installed()),
        Ok(_) => "it succeeded, but the compiler still lacks the target's standard library".to_owned(),
        Err(error) => error.to_string(),
    };
    let remedy = format!("install rustup, let it reach its server, and run `{command}`");
    Err(Failure { way: format!("`{command}`"), reason, remedy })
}

fn no_way(tried: &[Failure]) -> String {
    let reasons = tried.iter().map(|failure| format!("\n- {}: {}", failure.way, failure.reason));
    let remedies = tried.iter().map(|failure| format!("\n- {}", failure.remedy));
    format!(
        "nothing on this machine can build for {TARGET}:{}\nDo one of these and run this again:{}",
        reasons.collect::<String>(),
        remedies.collect::<String>()
    )
}
