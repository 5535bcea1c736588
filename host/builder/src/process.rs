//! Child processes: bounded in time, their output collected, their diagnostics passed on as they come.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use super::progress::Progress;

/// Maximum time of a look at an installed tool, on a machine that is busy with other things.
pub(super) const QUERY_LIMIT: Duration = Duration::from_secs(5 * 60);
/// Maximum time of a cargo build, downloads included.
pub(super) const BUILD_LIMIT: Duration = Duration::from_secs(60 * 60);

/// Why a tool did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such program.
    #[error("`{tool}` is not installed, or not on PATH")]
    Missing {
        /// The program's name.
        tool: String,
    },
    /// The system refused to run it.
    #[error("`{command}` could not be run: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Stopped because it took too long.
    #[error("`{command}` was stopped after {} s without an end", limit.as_secs())]
    TimedOut {
        /// The command line.
        command: String,
        /// The time it had.
        limit: Duration,
    },
    /// Ended with a failure.
    #[error("`{command}` failed ({status}):\n{output}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its standard error.
        output: String,
    },
}

/// Exit status and output of a process that ended by itself.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs to the end, whatever the exit status.
///
/// # Errors
/// [`ProcessError`], except `Failed`.
pub(super) fn capture(
    command: &mut Command,
    limit: Duration,
    progress: &dyn Progress,
) -> Result<Output, ProcessError> {
    capture_fed(command, Stdio::null(), limit, progress)
}

/// Runs `consumer` on what `producer` writes; both have to succeed.
///
/// # Errors
/// [`ProcessError`].
pub(super) fn pipe(
    producer: &mut Command,
    consumer: &mut Command,
    limit: Duration,
    progress: &dyn Progress,
) -> Result<(), ProcessError> {
    producer.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = producer.spawn().map_err(|source| start_error(producer, source))?;
    let fed = child.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let consumed = capture_fed(consumer, fed, limit, progress);
    // A consumer that gave up has closed the pipe; the producer must not outlive it in any case.
    if consumed.is_err() {
        let _ = child.kill();
    }
    let produced = child.wait().map_err(|source| start_error(producer, source))?;
    let Output { status, stderr, .. } = consumed?;
    // If both failed, the consumer is the one that said why.
    for (command, status) in [(consumer, status), (producer, produced)] {
        if !status.success() {
            return Err(ProcessError::Failed {
                command: display(command),
                status,
                output: last_lines(&stderr),
            });
        }
    }
    Ok(())
}

fn capture_fed(
    command: &mut Command,
    stdin: Stdio,
    limit: Duration,
    progress: &dyn Progress,
) -> Result<Output, ProcessError> {
    let deadline = Instant::now() + limit;
    let mut child = spawn(command, stdin)?;
    let events = listen(&mut child);
    match collect(&events, deadline, progress) {
        Some((stdout, stderr)) => {
            let status = child.wait().map_err(|source| start_error(command, source))?;
            Ok(Output { status, stdout, stderr })
        }
        None => {
            // The process may have ended in this very moment; then there is nothing left to kill.
            let _ = child.kill();
            let _ = child.wait();
            Err(ProcessError::TimedOut { command: display(command), limit })
        }
    }
}

/// Runs to a successful end and returns the standard output.
///
/// # Errors
/// [`ProcessError`].
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    progress: &dyn Progress,
) -> Result<String, ProcessError> {
    let Output { status, stdout, stderr } = capture(command, limit, progress)?;
    if status.success() {
        return Ok(stdout);
    }
    Err(ProcessError::Failed { command: display(command), status, output: last_lines(&stderr) })
}

/// [`run`] for a quick look without progress.
///
/// # Errors
/// [`ProcessError`].
pub(super) fn query(command: &mut Command) -> Result<String, ProcessError> {
    run(command, QUERY_LIMIT, &|_: &str| ())
}

/// The program a name on PATH stands for.
pub(super) fn which(tool: &str) -> Option<PathBuf> {
    which_in(tool, &env::var_os("PATH")?)
}

/// Returns the names that are not programs on PATH.
pub(super) fn missing<'a>(tools: &[&'a str]) -> Vec<&'a str> {
    tools.iter().copied().filter(|tool| which(tool).is_none()).collect()
}

fn which_in(tool: &str, path: &OsStr) -> Option<PathBuf> {
    let file = format!("{tool}{}", env::consts::EXE_SUFFIX);
    env::split_paths(path).map(|dir| dir.join(&file)).find(|candidate| is_program(candidate))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

fn spawn(command: &mut Command, stdin: Stdio) -> Result<Child, ProcessError> {
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|source| start_error(command, source));
    // The command would keep its end of a pipe open, and the writer would never learn that the reader is gone.
    command.stdin(Stdio::null());
    child
}

fn start_error(command: &Command, source: io::Error) -> ProcessError {
    if source.kind() == io::ErrorKind::NotFound {
        return ProcessError::Missing { tool: command.get_program().display().to_string() };
    }
    ProcessError::Start { command: display(command), source }
}

fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns the last lines, where the reason is.
fn last_lines(text: &str) -> String {
    const MAX_LINES: usize = 30;
    let lines = text.trim_end().lines().collect::<Vec<_>>();
    lines.get(lines.len().saturating_sub(MAX_LINES)..).unwrap_or_default().join("\n")
}

enum StreamEvent {
    Stdout(Vec<u8>),
    Diagnostic(Vec<u8>),
    End,
}

fn listen(child: &mut Child) -> Receiver<StreamEvent> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stdout) = child.stdout.take() {
        listen_to(sender.clone(), move |sender| {
            let mut all = Vec::new();
            // After a read error the output ends with what came before.
            let _ = stdout.read_to_end(&mut all);
            let _ = sender.send(StreamEvent::Stdout(all));
        });
    }
    if let Some(stderr) = child.stderr.take() {
        listen_to(sender, move |sender| {
            let lines = BufReader::new(stderr).split(b'\n').map_while(Result::ok);
            // A send fails only when the receiver has given up on the process.
            let _ = lines.map(StreamEvent::Diagnostic).try_for_each(|line| sender.send(line));
        });
    }
    receiver
}

fn listen_to(sender: Sender<StreamEvent>, read: impl FnOnce(&Sender<StreamEvent>) + Send + 'static) {
    thread::spawn(move || {
        read(&sender);
        let _ = sender.send(StreamEvent::End);
    });
}

/// Reads both streams to their ends; `None` when the deadline came first.
fn collect(
    events: &Receiver<StreamEvent>,
    deadline: Instant,
    progress: &dyn Progress,
) -> Option<(String, String)> {
    let (mut stdout, mut stderr, mut open) = (String::new(), String::new(), 2_u8);
    while open > 0 {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()? {
            StreamEvent::Stdout(bytes) => stdout = String::from_utf8_lossy(&bytes).into_owned(),
            StreamEvent::Diagnostic(bytes) => {
                let line = String::from_utf8_lossy(&bytes);
                progress.detail(line.trim());
                stderr.push_str(&line);
                stderr.push('\n');
            }
            StreamEvent::End => open -= 1,
        }
    }
    Some((stdout, stderr))
}

#[cfg(all(test, unix))]
mod tests;
