//! This program again, as a child process that is confined: for what is too dangerous to do within the process that hosts
//! guests, which is compiling components, and guests that are to be [kept apart](super::Isolation).
//!
//! A program lets that happen by calling [`serve_if_asked`] first thing in its `main`; from then on its sandboxes compile
//! components in children, as [`SandboxConfig::children`](super::SandboxConfig) says. In a program that never calls it everything
//! happens in the one process.

#[cfg(target_os = "linux")]
mod attempt;
#[cfg(all(feature = "compile", target_os = "linux"))]
mod compile;
#[cfg(target_os = "linux")]
mod cpu_watchdog;
#[cfg(target_os = "linux")]
mod hardening;
#[cfg(target_os = "linux")]
mod inbound;
#[cfg(target_os = "linux")]
mod outbound;
#[cfg(target_os = "linux")]
mod parent_channel;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod rlimits;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
mod worker;

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

#[cfg(all(feature = "compile", target_os = "linux"))]
pub(super) use self::compile::in_child as compile;
#[cfg(target_os = "linux")]
pub(super) use self::worker::Worker;

/// The first argument of a child; what follows says what it is to do.
#[cfg(target_os = "linux")]
const CHILD_ARGUMENT: &str = "--phasm-child";

/// The exit status of a child whose parent has gone.
#[cfg(target_os = "linux")]
const EXIT_PARENT_GONE: i32 = 5;

static SERVES: AtomicBool = AtomicBool::new(false);

/// Which program to start as a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Children {
    program: PathBuf,
}

impl Children {
    /// This very program, if its `main` has called [`serve_if_asked`]. Nothing where children cannot be confined: they are on Linux
    /// only.
    #[must_use]
    pub fn here() -> Option<Self> {
        // The file that this process was started from, even if it has been replaced or deleted since.
        SERVES.load(Relaxed).then(|| Self { program: "/proc/self/exe".into() })
    }

    /// Another program whose `main` calls [`serve_if_asked`], of this same version of Phasm: what it compiles is executed.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Returns the path of the program that is started.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Does what this process was started for and ends it, if a sandbox started it as its child; otherwise returns at once.
///
/// Call it before anything else: a child has next to no memory, files or time to spare, and nothing in its environment.
pub fn serve_if_asked() {
    #[cfg(target_os = "linux")]
    {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        if let Some((mark, job)) = arguments.split_first()
            && mark == CHILD_ARGUMENT
        {
            std::process::exit(serve(job));
        }
        SERVES.store(true, Relaxed);
    }
}

/// Does a job, and tells the exit status.
#[cfg(target_os = "linux")]
fn serve(job: &[String]) -> i32 {
    match job.split_first() {
        #[cfg(feature = "compile")]
        Some((job, how)) if job == compile::JOB => compile::serve(how),
        Some((job, how)) if job == attempt::JOB => attempt::serve(how),
        _ => 1,
    }
}
