//! A child process, as its parent sees it.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    process::{Child, Command, ExitStatus},
    thread,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
#[cfg(feature = "compile")]
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;

use super::{CHILD_ARGUMENT, Children};

/// A child process. Dropping it kills it.
pub(super) struct ChildProcess {
    process: OwnedFd,
    ended: oneshot::Receiver<io::Result<ExitStatus>>,
}

/// Standard streams of a child.
#[cfg(feature = "compile")]
pub(super) struct Streams {
    pub(super) input: Sender,
    pub(super) output: Receiver,
    pub(super) errors: Receiver,
}

impl ChildProcess {
    /// Starts a child to do `job` on `threads` threads. Must be called on the runtime that uses its streams.
    #[cfg(feature = "compile")]
    pub(super) fn start(children: &Children, job: &[String], threads: usize) -> io::Result<(Self, Streams)> {
        let mut child = command(children, job)
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()?;
        let streams = Streams::of(&mut child);
        Ok((Self::of(child)?, streams?))
    }

    /// Wraps a child that was started.
    pub(super) fn of(child: Child) -> io::Result<Self> {
        let process = open_pidfd(&child);
        let ended = reap(child)?;
        Ok(Self { process: process?, ended })
    }

    /// Waits for the child and returns its exit status.
    pub(super) async fn status(&mut self) -> io::Result<ExitStatus> {
        let status = (&mut self.ended).await;
        status.unwrap_or_else(|_| Err(io::Error::other("the exit status of the child is lost")))
    }

    /// Returns whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.ended.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }

    /// Describes the end of an attempt's process, for people.
    pub(super) async fn last_status(&mut self) -> String {
        match self.status().await {
            Ok(status) => format!("host fault: the process of the attempt ended with {status}"),
            Err(error) => format!("host fault: the process of the attempt ended: {error}"),
        }
    }
}

/// Returns the command that starts a child to do `job`.
pub(super) fn command(children: &Children, job: &[String]) -> Command {
    let mut command = Command::new(children.program());
    command
        .arg0("phasm")
        .arg(CHILD_ARGUMENT)
        .args(job)
        .env_clear()
        // Memory that an allocator reserves counts against the limit, unless it is committed lazily.
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .current_dir("/")
        // Signals of the terminal to its foreground group are not for children.
        .process_group(0);
    command
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // The child may have ended by itself.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }
}

#[cfg(feature = "compile")]
impl Streams {
    fn of(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::other("the child has no such stream");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        Ok(Self {
            input: Sender::from_owned_fd(input.into())?,
            output: Receiver::from_owned_fd(output.into())?,
            errors: Receiver::from_owned_fd(errors.into())?,
        })
    }
}

fn open_pidfd(child: &Child) -> io::Result<OwnedFd> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the child has no number"))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits for the child on a thread of its own; there are only ever a few.
fn reap(mut child: Child) -> io::Result<oneshot::Receiver<io::Result<ExitStatus>>> {
    let (sender, ended) = oneshot::channel();
    // Without a thread the child ends with its streams, and its zombie with this process.
    thread::Builder::new().name("phasm-reaper".to_owned()).spawn(move || sender.send(child.wait()))?;
    Ok(ended)
}
