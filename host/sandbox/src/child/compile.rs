//! Compiling a component in a child: the parent's side and the child's.
//!
//! ```text
//! parent ── length, component ──▶ stdin    stays open until the child has ended: a child whose input closes ends, too
//!        ◀── machine code ─────── stdout   or the reason of a refusal, with exit status 3
//!        ◀── messages ─────────── stderr
//! ```

use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, exit},
    sync::Arc,
    thread,
    time::Duration,
};

use rustix::process::Signal;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    join,
    net::unix::pipe::Sender,
    time::timeout,
};

use super::{
    Children, EXIT_PARENT_GONE,
    process::{ChildProcess, Streams},
    rlimits::{self, ResourceLimits},
};
use crate::{
    limits::Limits,
    pool,
    program::{LoadError, Overrun},
    sealed_code::FreshCode,
};

pub(super) const JOB: &str = "compile";

/// Exit statuses of a child that could not compile: the component is refused, or memory was short.
const EXIT_REFUSED: i32 = 3;
const EXIT_OUT_OF_MEMORY: i32 = 4;

/// Maximum number of threads of one child; each takes memory, and more than a few gain little.
const MAX_THREADS: usize = 4;
/// Wall-clock limit of a child, as a multiple of its CPU time.
const WALL_TIME_FACTOR: u32 = 4;
/// Bytes of a child's standard error that are kept.
const MAX_STDERR_BYTES: u64 = 4 << 10;
/// Bytes of the reason why a component is refused.
const MAX_REASON_BYTES: usize = 4 << 10;

/// Returns the maximum size of the machine code of a component of `size` bytes; real ones have 3 to 6 times as much.
const fn most_code(size: usize) -> u64 {
    let most = (size as u64).saturating_mul(32).saturating_add(16 << 20);
    if most > 256 << 20 { 256 << 20 } else { most }
}

/// Compiles `component` in a child.
///
/// # Errors
/// Says what is wrong with the component, or which limit it met.
pub(crate) async fn in_child(
    children: &Children,
    component: Arc<[u8]>,
    limits: &Limits,
) -> Result<FreshCode, LoadError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (mut child, streams) = ChildProcess::start(children, &job(limits), cores.min(MAX_THREADS))
        .map_err(|error| LoadError::Fault(format!("no process to compile in: {error}")))?;
    let longest = limits.compile_time.saturating_mul(WALL_TIME_FACTOR);
    let most = most_code(component.len());
    let ended = async {
        let (output, stderr, _open) = exchange(streams, &component, most).await;
        let output = output?;
        // A child that returns too much is not waited for.
        Ok(if output.len() as u64 > most {
            Err(Overrun::Code(most))
        } else {
            Ok((child.status().await?, output, stderr))
        })
    };
    let ended: io::Result<Result<_, Overrun>> =
        timeout(longest, ended).await.unwrap_or(Ok(Err(Overrun::Time(longest))));
    let ended = ended.map_err(|error| LoadError::Fault(format!("the process that compiles: {error}")))?;
    let (status, output, stderr) = ended.map_err(LoadError::Overrun)?;
    conclude(status, output, &stderr, limits)
}

fn job(limits: &Limits) -> Vec<String> {
    let cpu = u64::try_from(limits.compile_time.as_millis()).unwrap_or(u64::MAX);
    let numbers = [limits.compile_memory, cpu, limits.stack];
    [JOB.to_owned()].into_iter().chain(numbers.map(|number| number.to_string())).collect()
}

/// Sends the component and reads the child's output. The last value returned keeps the child's input open.
async fn exchange(
    Streams { input, output, errors }: Streams,
    component: &[u8],
    most: u64,
) -> (io::Result<Vec<u8>>, Vec<u8>, Sender) {
    let stderr = async { read_up_to(errors, MAX_STDERR_BYTES).await.unwrap_or_default() };
    let (output, stderr, open) = join!(read_up_to(output, most + 1), stderr, send(input, component));
    (output, stderr, open)
}

async fn send(mut input: Sender, component: &[u8]) -> Sender {
    let length = (component.len() as u64).to_le_bytes();
    // A child that does not read to the end has ended, and its status says why.
    if input.write_all(&length).await.is_ok() {
        let _ = input.write_all(component).await;
    }
    input
}

async fn read_up_to(stream: impl AsyncRead + Unpin, most: u64) -> io::Result<Vec<u8>> {
    let mut heard = Vec::new();
    stream.take(most).read_to_end(&mut heard).await?;
    Ok(heard)
}

fn conclude(
    status: ExitStatus,
    output: Vec<u8>,
    stderr: &[u8],
    limits: &Limits,
) -> Result<FreshCode, LoadError> {
    let stderr = String::from_utf8_lossy(stderr);
    let memory = || LoadError::Overrun(Overrun::Memory(limits.compile_memory));
    Err(match (status.code(), status.signal()) {
        (Some(0), _) => return Ok(FreshCode::new(output)),
        (Some(EXIT_REFUSED), _) => LoadError::Invalid(String::from_utf8_lossy(&output).into_owned()),
        (Some(EXIT_OUT_OF_MEMORY), _) => memory(),
        (_, Some(signal)) if signal == Signal::XCPU.as_raw() => {
            LoadError::Overrun(Overrun::Cpu(limits.compile_time))
        }
        // Messages of Rust's allocator and of its handler of stack overflows.
        (_, Some(signal)) if signal == Signal::ABORT.as_raw() && stderr.contains("memory allocation of") => {
            memory()
        }
        (_, Some(signal)) if signal == Signal::ABORT.as_raw() && stderr.contains("overflowed its stack") => {
            LoadError::Overrun(Overrun::Stack)
        }
        _ => {
            LoadError::Fault(format!("the process that compiles ended with {status}: {}", in_a_line(&stderr)))
        }
    })
}

/// Joins a child's output to one line, without Rust's note about backtraces.
fn in_a_line(stderr: &str) -> String {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("note: "));
    lines.collect::<Vec<_>>().join("; ")
}

/// Does the job and returns the exit status.
pub(super) fn serve(job: &[String]) -> i32 {
    match run(job) {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            1
        }
    }
}

fn run(job: &[String]) -> io::Result<i32> {
    let numbers = job.iter().map(|number| number.parse().map_err(io::Error::other));
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>()?;
    let [memory, cpu, stack] = numbers.as_slice() else {
        return Err(io::Error::other("no job of this version of Phasm"));
    };
    ResourceLimits { memory: *memory, cpu: Some(Duration::from_millis(*cpu)), files: 0 }.enter()?;
    rlimits::limit_addresses(*memory)?;
    let component = component()?;
    thread::spawn(exit_with_parent);
    let engine = pool::compiling(*stack).map_err(io::Error::other)?;
    let (status, output) = match engine.precompile_component(&component) {
        Ok(code) => (0, code),
        Err(error) if error.is::<wasmtime::error::OutOfMemory>() => (EXIT_OUT_OF_MEMORY, Vec::new()),
        Err(error) => (EXIT_REFUSED, reason(&error).into_bytes()),
    };
    io::stdout().write_all(&output)?;
    Ok(status)
}

fn component() -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    io::stdin().read_exact(&mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(io::Error::other)?;
    let mut component = vec![0; length];
    io::stdin().read_exact(&mut component)?;
    Ok(component)
}

/// Waits for the end of the input, which the parent keeps open for as long as it lives and waits.
fn exit_with_parent() {
    let _ = io::stdin().read(&mut [0]);
    exit(EXIT_PARENT_GONE);
}

fn reason(error: &wasmtime::Error) -> String {
    let mut text = format!("{error:#}");
    text.truncate(text.floor_char_boundary(MAX_REASON_BYTES));
    text
}
