//! This program as a confined child process, for work that is too dangerous for the process that hosts guests: compiling
//! components, and guests that are to be [isolated](super::Isolation).
//!
//! A program permits this by calling [`serve_if_asked`] first thing in its `main`. From then on its sandboxes compile components
//! in children, as configured by [`SandboxConfig::children`](super::SandboxConfig). In a program that never calls it, everything
//! happens in one process.

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

/// First argument of a child. The following ones name its job.
#[cfg(target_os = "linux")]
const CHILD_ARGUMENT: &str = "--phasm-child";

/// Exit status of a child whose parent has gone.
#[cfg(target_os = "linux")]
const EXIT_PARENT_GONE: i32 = 5;

static SERVES: AtomicBool = AtomicBool::new(false);

/// Program to start as a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Children {
    program: PathBuf,
}

impl Children {
    /// Returns this program, if its `main` has called [`serve_if_asked`]. Returns `None` where children cannot be confined, which
    /// is everywhere but on Linux.
    #[must_use]
    pub fn here() -> Option<Self> {
        // The file that this process was started from, even if it has been replaced or deleted since.
        SERVES.load(Relaxed).then(|| Self { program: "/proc/self/exe".into() })
    }

    /// Returns another program whose `main` calls [`serve_if_asked`]. It must be of this same version of Phasm, as the code that
    /// it compiles is executed.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        // A child is started in another directory. A bare name is looked up in `PATH`.
        let is_relative = program.is_relative() && program.components().count() > 1;
        let absolute = is_relative.then(|| std::path::absolute(&program).ok()).flatten();
        Self { program: absolute.unwrap_or(program) }
    }

    /// Returns the path of the program that is started.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Does the job of this process and exits, if a sandbox started it as its child; otherwise returns at once.
///
/// Call it before anything else: a child has hardly any memory, files or time to spare, and an empty environment.
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

/// Does a job and returns the exit status.
#[cfg(target_os = "linux")]
fn serve(job: &[String]) -> i32 {
    match job.split_first() {
        #[cfg(feature = "compile")]
        Some((job, how)) if job == compile::JOB => compile::serve(how),
        Some((job, how)) if job == attempt::JOB => attempt::serve(how),
        _ => 1,
    }
}
