//! Driving runs in this process, whichever command brought them here: submitted, or taken up from a store.

mod answers;
mod callers;
pub(crate) mod follow;
mod line_reporter;
mod live_view;
mod notices;
mod prepare;
mod session;
mod snapshot;
mod summary;
mod watch_display;

use std::{collections::BTreeMap, convert::Infallible, path::Path, process::exit, sync::Arc, time::Duration};

use clap::Args;
use phasm::{
    Host, RunHandle, Watch,
    clock::Clock,
    engine::{
        phase::Phase,
        run::{Run, RunView},
    },
    notify::StoredRunView,
};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};

pub(super) use self::{
    answers::{Answer, Answers, answer, payload},
    line_reporter::LineReporter,
    prepare::{
        LoadedConfig, PlannerContext, PreparedHost, Purpose, WakeupGuard, configuration, open, opened,
    },
    summary::{of as summary, with_tree as summary_with_tree},
    watch_display::{Watching, recover_hint},
};
use self::{session::Session, snapshot::Snapshot};
use crate::{
    command_line::Target,
    exit::Exit,
    failure::{ContextError, Failure},
    input::times,
    paths::PathArguments,
    problems,
    terminal::{
        screen::Screen,
        signals::{Interrupts, Signal},
        text,
    },
    trace::LogLevel,
};

/// Options of every command that runs workflows in this process.
#[derive(Args, Clone, Debug)]
pub(super) struct DriveArguments {
    #[command(flatten)]
    pub(super) paths: PathArguments,

    /// Stay when only suspended tasks keep a run open, until a response, their timeouts or Ctrl-C end the wait.
    #[arg(long)]
    pub(super) wait: bool,

    /// Print the run view to stdout, one JSON object.
    #[arg(long, conflicts_with = "events")]
    pub(super) json: bool,

    /// Print the journal to stdout as it happens, one JSON object a line.
    #[arg(long)]
    events: bool,

    #[command(flatten)]
    grace: Grace,
}

/// How long a process that is told to end stays.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Grace {
    /// With a file store: how long attempts may take to end after SIGTERM, before their runs are left open.
    #[arg(long, value_name = "DURATION", value_parser = times::length, default_value = "10s")]
    pub(super) grace: Duration,
}

impl DriveArguments {
    /// The same with other plugins and another configuration.
    pub(super) fn at(&self, paths: PathArguments) -> Self {
        Self { paths, ..self.clone() }
    }

    /// How to come back to runs of a store that are driven like this.
    pub(super) fn target(&self, store: &Path) -> Target {
        Target::to(store).with(&self.paths)
    }
}

/// How runs are followed.
#[derive(Clone, Debug)]
pub(super) struct DriveOptions {
    /// Whether a run that only suspended tasks keep open is waited for.
    pub(super) stays: bool,
    /// Whether Ctrl-C leaves runs as they are, instead of cancelling them. SIGTERM does if there is a way back.
    pub(super) leaves_open: bool,
    /// How to come back to the runs; there is no coming back to runs in memory.
    pub(super) target: Option<Target>,
    /// How long attempts may take to end after SIGTERM.
    pub(super) grace: Duration,
    /// Whether there may be several runs, or none.
    pub(super) several: bool,
    pub(super) json: bool,
    pub(super) events: bool,
    pub(super) log_level: LogLevel,
}

impl DriveOptions {
    /// Returns the options of a command that runs one run of a store.
    pub(super) fn new(arguments: &DriveArguments, store: Option<&Path>, log_level: LogLevel) -> Self {
        let DriveArguments { wait, json, events, grace: Grace { grace }, .. } = *arguments;
        let target = store.map(|store| arguments.target(store));
        Self { stays: wait, leaves_open: false, several: false, target, grace, json, events, log_level }
    }

    /// Whether runs are left as they are when the process is told to end.
    fn leaves(&self, told: Signal) -> bool {
        match told {
            Signal::Interrupt => self.leaves_open,
            Signal::Terminate => self.target.is_some(),
        }
    }

    /// Returns the command that resumes a run that was left open, or all of them.
    fn go_on(&self, runs: &[&str]) -> Option<String> {
        let wait = if self.stays { &["--wait"][..] } else { &[] };
        self.target.as_ref().map(|target| target.go_on(runs, wait))
    }
}

/// A run that has begun to be driven.
pub(super) struct ActiveRun {
    pub(super) handle: RunHandle,
    pub(super) watch: Watch,
    /// Reports its events, from the state of the run before the first of them.
    pub(super) plain: LineReporter,
}

/// Runs that have begun to be driven, and the host that drives them.
pub(super) struct ActiveRuns {
    pub(super) prepared: PreparedHost,
    pub(super) runs: Vec<ActiveRun>,
    pub(super) answers: Answers,
    /// Exit status for failures of other runs, which have been reported.
    pub(super) exit: Exit,
}

/// End of a run, as far as this process is concerned.
enum SessionEnd {
    /// The run has ended.
    Over(RunSummary),
    /// Only suspended tasks keep the run open, and no answers are given here.
    Parked {
        stands: RunSummary,
        /// Whether an executor has refused the last response that this process gave.
        is_refused: bool,
    },
    /// The run was cancelled because the process was asked to end, or because stdout was closed.
    Interrupted(Signal, RunSummary),
    /// The run was left open, for the same reason.
    Left(Signal, RunSummary),
    /// A second signal came: nothing is waited for.
    Abandoned(Signal),
}

/// How a run stands at its end here.
struct RunSummary {
    run_id: Arc<str>,
    /// Its phase, or Timeout where a clock Cancelled it.
    counts_as: Phase,
    shown: Output,
}

/// Output about a run.
enum Output {
    /// Empty where all there was to print was printed as it happened.
    Page(String),
    View {
        view: Box<RunView>,
        /// Whether the run waits for people only.
        is_parked: bool,
    },
}

impl RunSummary {
    /// Returns the summary of a run. `open` names the state of one that has not ended.
    fn of(run: &Run, open: &str, options: &DriveOptions) -> Self {
        let shown = if options.json {
            Output::View { view: Box::new(RunView::of(run)), is_parked: run.is_parked() }
        } else if options.events {
            Output::Page(String::new())
        } else {
            Output::Page(summary(run, open, options.target.as_ref()))
        };
        Self { run_id: Arc::clone(run.id()), counts_as: run.counts_as(), shown }
    }
}

/// A run at its end here: what the command's exit status and result are made of.
struct Outcome {
    exit: Exit,
    stands: RunSummary,
    /// Whether it was left open as the process was told to end.
    is_left: bool,
}

impl SessionEnd {
    /// # Errors
    /// If it was abandoned: what the process was told.
    fn outcome(self) -> Result<Outcome, Signal> {
        let outcome = |exit, stands| Ok(Outcome { exit, stands, is_left: false });
        match self {
            Self::Over(stands) => outcome(stands.counts_as.into(), stands),
            Self::Parked { stands, is_refused: true } => outcome(Exit::Problems, stands),
            Self::Parked { stands, is_refused: false } => outcome(Exit::Parked, stands),
            Self::Interrupted(told, stands) => outcome(told.exit(), stands),
            Self::Left(told, stands) => Ok(Outcome { exit: told.exit(), stands, is_left: true }),
            Self::Abandoned(told) => Err(told),
        }
    }
}

/// Runs what `start` starts until all of it has ended or only waits for answers, and prints the result.
///
/// # Errors
/// When nothing could be started, or the only run was lost.
pub(super) fn drive(
    options: &DriveOptions,
    screen: &Screen,
    start: impl Future<Output = Result<ActiveRuns, Failure>>,
) -> Result<Exit, Failure> {
    let runtime = runtime()?;
    let (prepared, runs, ended, mut exit) = runtime.block_on(async {
        let interrupts = Interrupts::listen()
            .map_err(|error| Failure::host(ContextError::new("failed to install signal handlers", error)))?;
        let mut interrupted = interrupts.clone();
        let ActiveRuns { prepared, runs, answers, exit } = tokio::select! {
            started = start => started?,
            heard = interrupted.next() => abandon(heard.told),
        };
        let ids: Vec<Arc<str>> = runs.iter().map(|run| Arc::clone(run.handle.id())).collect();
        let ended = tokio::select! {
            never = hold_back(&prepared.host, options, interrupted) => match never {},
            ended = follow(options, screen, runs, answers, interrupts) => ended,
        };
        Ok((prepared, ids, ended, exit))
    })?;
    // Computations and builds are not waited for. The store is: closing folds its log into its file.
    runtime.shutdown_background();
    let mut outcomes = Vec::new();
    for ended in ended {
        match ended {
            Ok(ended) => outcomes.push(ended.outcome().unwrap_or_else(|told| {
                let runs: Vec<&str> = runs.iter().map(AsRef::as_ref).collect();
                screen.err(&options.go_on(&runs).unwrap_or_default());
                abandon(told)
            })),
            Err(failure) if !options.several => return Err(failure),
            Err(failure) => exit = exit.worst(failure.report(screen)),
        }
    }
    prepared.host.close();
    report(options, screen, &outcomes);
    let left = outcomes.iter().filter(|outcome| outcome.is_left);
    let left: Vec<&str> = left.map(|outcome| outcome.stands.run_id.as_ref()).collect();
    if !left.is_empty() {
        screen.err(&options.go_on(&left).unwrap_or_default());
    }
    Ok(outcomes.iter().fold(exit, |exit, outcome| exit.worst(outcome.exit)))
}

/// Whatever still goes on ends with the process.
pub(super) fn abandon(told: Signal) -> ! {
    exit(told.exit().status().into())
}

/// Has nothing new begun once runs are to be left as they are.
async fn hold_back(host: &Host, options: &DriveOptions, mut interrupts: Interrupts) -> Infallible {
    loop {
        if options.leaves(interrupts.next().await.told) {
            host.drain();
        }
    }
}

/// Task runs that a picture of a run has at most; of a larger one it shows what is active.
const MAX_DRAWN_TASKS: usize = 1000;

/// The tree of a run as it stands, in lines.
pub(super) fn tree(run: &Run) -> String {
    let snapshot = Snapshot::of(run, MAX_DRAWN_TASKS);
    let lines = live_view::tree(&snapshot, Clock::start().now(), None, usize::MAX, &BTreeMap::new());
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A loop for what a command does.
///
/// # Errors
/// When the system does not let us have one.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = RuntimeBuilder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::host(ContextError::new("failed to start the async runtime", error)))
}

/// Follows all runs at once; answers go to the only one.
async fn follow(
    options: &DriveOptions,
    screen: &Screen,
    runs: Vec<ActiveRun>,
    answers: Answers,
    interrupts: Interrupts,
) -> Vec<Result<SessionEnd, Failure>> {
    let alone = runs.len() == 1;
    let mut answers = Some(answers);
    let mut sessions = Vec::new();
    for run in runs {
        let prefix = if alone { String::new() } else { format!("{}: ", text::dim(run.handle.id())) };
        let answers = answers.take().unwrap_or_default();
        let ActiveRun { handle, watch, plain } = run;
        let session = Session::new(options.clone(), screen, handle, plain, answers, prefix);
        sessions.push(tokio::spawn(session.follow(watch, interrupts.clone())));
    }
    let mut ended = Vec::new();
    for session in sessions {
        ended.push(session.await.unwrap_or_else(|error| Err(Failure::host(error))));
    }
    ended
}

/// Prints how the runs stand.
fn report(options: &DriveOptions, screen: &Screen, outcomes: &[Outcome]) {
    let (mut pages, mut views) = (String::new(), Vec::new());
    for outcome in outcomes {
        match &outcome.stands.shown {
            Output::Page(page) => pages += page,
            Output::View { view, is_parked } => views.push(StoredRunView::left(view, *is_parked)),
        }
    }
    let result = match views.as_slice() {
        _ if !options.json => pages,
        [view] if !options.several => problems::json(screen, view),
        views => problems::json(screen, &views),
    };
    // A closed stdout does not change the exit status.
    let _gone = screen.out(&result);
}
