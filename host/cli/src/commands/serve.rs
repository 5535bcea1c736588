//! `phasm serve`: a host that drives what is due in a store, until it is told to end.

mod descriptors;
mod listener;
mod printer;
mod reporter;

use std::{
    convert::Infallible,
    future::pending,
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use tokio::{
    sync::broadcast::{
        Receiver,
        error::{RecvError, TryRecvError},
    },
    time::sleep,
};

use phasm::{Host, RunLifecycleEvent, config::ServerSettings, store::StoreError};
use phasm_server::ServerLimits;
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};

use self::{listener::Listener, printer::Printer, reporter::ServeReporter};
use super::key;
use crate::{
    command_line::Target,
    drive::{self, Grace, LoadedConfig, Purpose, WakeupGuard, abandon},
    exit::Exit,
    failure::{ContextError, Failure},
    paths::PathArguments,
    store::argument::StoreArgument,
    terminal::{
        screen::Screen,
        signals::{Interrupts, Signal},
    },
    trace::LogFormat,
};

/// Executes the runs of a store, and starts its schedules when they are due, until SIGTERM or Ctrl-C.
///
/// Waiting runs use no memory; they exist in the store only. Any number of these may serve one database,
/// and one of them a file. Runs stay open when it ends: with 143 after SIGTERM, once attempts had their time to end; with 130
/// after Ctrl-C, at once.
///
/// With `--listen` it is reached over HTTP as well; the store is then, if none is named, a file in the user's data directory.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm serve --listen\n  phasm serve --store runs.db\n  \
                        phasm serve --store postgres://phasm@db/phasm --config phasm.toml --json")]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    paths: PathArguments,

    /// Serve HTTP at that address, or at 127.0.0.1:8484, and have a page there. Without a key (`phasm key add`) it has to be
    /// one of loopback.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:8484", value_parser = address_and_port)]
    listen: Option<SocketAddr>,

    /// The file of keys of a server; else the one that the configuration names, else the one next to the store.
    #[arg(long, value_name = "FILE", requires = "listen")]
    keys: Option<PathBuf>,

    /// How many threads decide what runs do next; a quarter of the machine's unless it is configured.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    grace: Grace,

    /// Format of the log, which goes to stderr.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) log_format: LogFormat,

    /// Print what becomes of runs to stdout, one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Reads where to listen: an IP address and a port, `localhost` and a port, or a port of this machine alone.
///
/// # Errors
/// The message that clap shows to the user.
fn address_and_port(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        "expected an IP address and a port, such as 127.0.0.1:8484, or a port for this machine alone"
            .to_owned()
    })
}

/// Serves a store.
pub(super) fn serve(arguments: &ServeArguments, screen: &Screen) -> Result<Exit, Failure> {
    // Before anything asks how many there are.
    let open_files = descriptors::raise();
    let runtime = arguments.runtime()?;
    let store = arguments.store.named()?;
    let served = runtime.block_on(serving(arguments, &store, screen, open_files));
    // Also where it failed: requests may still be carried out.
    runtime.shutdown_timeout(DROP_TIMEOUT);
    let (served, told) = served?;
    // Requests that are still carried out have the host as well; what is recorded is recorded.
    if let Some(host) = Arc::into_inner(served.host) {
        host.close();
    }
    let target = Target::to(&store).with(&arguments.paths);
    let words = arguments.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if !served.is_read {
        return Ok(told.exit());
    }
    screen.err(&format!("resume with: {}\n", target.command(&words)));
    Ok(told.exit())
}

/// How long requests may take to be dropped.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);
/// For how long lines about runs are kept for those that come after them: each by itself would wake a thread for every run.
const REPORT_BATCH_INTERVAL: Duration = Duration::from_millis(20);
/// Threads that answer requests: half of the machine's, up to this number.
const MAX_HTTP_THREADS: usize = 8;

/// Returns the number of threads. Each one more is woken for each request; long work is done on other threads.
fn answering() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    (cores / 2).clamp(1, MAX_HTTP_THREADS)
}

impl ServeArguments {
    fn runtime(&self) -> Result<Runtime, Failure> {
        if self.listen.is_none() {
            return drive::runtime();
        }
        let runtime = RuntimeBuilder::new_multi_thread().worker_threads(answering()).enable_all().build();
        runtime.map_err(|error| {
            Failure::host(ContextError::new("the server's threads cannot be started", error))
        })
    }

    /// How it was called.
    fn words(&self) -> Vec<String> {
        let listen = self.listen.map(|address| ["--listen".to_owned(), address.to_string()]);
        let keys = self.keys.as_ref().map(|keys| ["--keys".to_owned(), keys.display().to_string()]);
        ["serve".to_owned()]
            .into_iter()
            .chain(listen.into_iter().flatten())
            .chain(keys.into_iter().flatten())
            .collect()
    }
}

/// A host that serves, and by which other processes reach it.
struct ServingHost {
    host: Arc<Host>,
    /// Whether what was printed was read, so that more can be.
    is_read: bool,
    _wakeups: WakeupGuard,
}

async fn serving(
    arguments: &ServeArguments,
    path: &Path,
    screen: &Screen,
    open_files: u64,
) -> Result<(ServingHost, Signal), Failure> {
    let ServeArguments { paths, threads, grace, json, .. } = arguments;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::host(ContextError::new("failed to install signal handlers", error)))?;
    let configured = LoadedConfig::read(paths, screen, *json)?;
    let mut settings = configured.server();
    settings.keys = arguments.keys.clone().or_else(|| key::file_of(&settings, path));
    let purpose = Purpose { claims: true, threads: *threads, ..Purpose::default() };
    let planning = drive::open(paths, configured, screen, purpose)?;
    planning.environment.create_dirs()?;
    let hidden_paths = planning.environment.host_paths(path);
    // Events of all claimed runs. Claiming begins when the store is opened.
    let mut tidings = planning.planner.lifecycle();
    let printer = Printer::start(screen.clone()).map_err(|error| {
        Failure::host(ContextError::new("the thread that prints cannot be started", error))
    })?;
    let telling = ServeReporter { printer, as_json: *json, log: arguments.log_format };
    let prepared = tokio::select! {
        opened = planning.with_room(path, |full| telling.wait(full)) => opened?,
        heard = interrupts.next() => abandon(heard.told),
    };
    prepared.tell_tenants().await?;
    let (host, wakeups) = prepared.into_parts();
    let mut served = ServingHost { host: Arc::new(host), is_read: true, _wakeups: wakeups };
    let listening = match arguments.listen {
        Some(address) => {
            settings.connections = connections(&settings, open_files, &telling);
            Some(Listener::begin(&served.host, path, address, settings, hidden_paths, &telling).await?)
        }
        None => {
            telling.begin(&served.host, path);
            None
        }
    };
    let told = tokio::select! {
        never = tell_all(&telling, &mut tidings) => match never {},
        heard = interrupts.next() => heard.told,
        gone = served.host.store().until_gone() => match gone {
            Err(error @ (StoreError::Gone { .. } | StoreError::Newer { .. })) => return Err(Failure::store(error)),
            Ok(()) | Err(_) => pending().await,
        },
    };
    served.host.drain();
    let left = async {
        telling.end(told, grace.grace);
        let answered = async {
            if let Some(listening) = listening {
                listening.end().await;
            }
        };
        let executed = async {
            if told == Signal::Terminate {
                tokio::select! {
                    () = served.host.idle() => {}
                    () = sleep(grace.grace) => {}
                }
            }
        };
        tokio::join!(answered, executed);
    };
    tokio::select! {
        () = left => {}
        never = tell_all(&telling, &mut tidings) => match never {},
        heard = interrupts.next() => abandon(heard.told),
    }
    tell_rest(&telling, &mut tidings);
    served.is_read = telling.printer.end();
    Ok((served, told))
}

/// How many connections are accepted at once; what is promised and cannot be kept is said.
fn connections(settings: &ServerSettings, open_files: u64, telling: &ServeReporter) -> Option<u32> {
    let usual = ServerLimits::default().connections;
    let (connections, doubt) = descriptors::connections(settings.connections, usual, open_files);
    if let Some(doubt) = doubt {
        telling.doubt(&doubt);
    }
    u32::try_from(connections).ok()
}

/// Reports the progress of runs, for as long as the process lives: the first event at once, close ones in batches.
async fn tell_all(telling: &ServeReporter, tidings: &mut Receiver<RunLifecycleEvent>) -> Infallible {
    loop {
        match tidings.recv().await {
            Ok(tiding) => telling.tell(&tiding),
            Err(RecvError::Lagged(count)) => telling.printer.leave_out(count),
            Err(RecvError::Closed) => pending().await,
        }
        tell_rest(telling, tidings);
        sleep(REPORT_BATCH_INTERVAL).await;
    }
}

/// Tells what has become of runs meanwhile.
fn tell_rest(telling: &ServeReporter, tidings: &mut Receiver<RunLifecycleEvent>) {
    loop {
        match tidings.try_recv() {
            Ok(tiding) => telling.tell(&tiding),
            Err(TryRecvError::Lagged(count)) => telling.printer.leave_out(count),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return,
        }
    }
}
