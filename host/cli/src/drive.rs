//! Driving runs in this process, whichever command brought them here: submitted, or taken up from a store.

mod answers;
mod live;
mod notices;
mod plain;
mod prepare;
mod session;
mod snapshot;
mod summary;

use std::process::exit;

use clap::Args;
use phasm::{Notice, RunHandle, engine::run::RunView};
use tokio::{
    runtime::{Builder as RuntimeBuilder, Runtime},
    sync::mpsc::UnboundedReceiver,
};

use self::session::Session;
pub(super) use self::{
    answers::{Answer, Answers, answer, payload},
    plain::Plain,
    prepare::{Configured, Prepared, configuration, open},
    summary::of as summary,
};
use super::{
    exit::Exit,
    failure::{Failure, While},
    places::Places,
    problems,
    screen::Screen,
    signals::Interrupts,
    text,
    trace::LogLevel,
};

/// What every command that drives runs is told.
#[derive(Args, Clone, Debug)]
pub(super) struct DriveArguments {
    #[command(flatten)]
    pub(super) places: Places,

    /// With a file store: stay when only suspended tasks keep a run open.
    #[arg(long)]
    pub(super) wait: bool,

    /// Print the run view to stdout, one JSON object.
    #[arg(long, conflicts_with = "events")]
    pub(super) json: bool,

    /// Print the journal to stdout as it happens, one JSON object a line.
    #[arg(long)]
    events: bool,
}

/// How runs are followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Whether a run that only suspended tasks keep open is waited for.
    pub(super) stays: bool,
    /// Whether an interrupt leaves runs as they are, instead of cancelling them.
    pub(super) leaves_open: bool,
    /// Whether there may be several runs, or none.
    pub(super) several: bool,
    pub(super) json: bool,
    pub(super) events: bool,
    pub(super) log_level: LogLevel,
}

impl Manner {
    /// That of a command that drives one run of a file.
    pub(super) fn new(arguments: &DriveArguments, log_level: LogLevel) -> Self {
        let DriveArguments { wait, json, events, .. } = *arguments;
        Self { stays: wait, leaves_open: false, several: false, json, events, log_level }
    }
}

/// A run that has begun to be driven.
pub(super) struct Driven {
    pub(super) handle: RunHandle,
    pub(super) notices: UnboundedReceiver<Notice>,
    /// Tells its notices, from where the run was before the first of them.
    pub(super) plain: Plain,
}

/// Runs that have begun to be driven, and the host that drives them.
pub(super) struct Started {
    pub(super) prepared: Prepared,
    pub(super) runs: Vec<Driven>,
    pub(super) answers: Answers,
    /// What went wrong with other runs, and has been said.
    pub(super) exit: Exit,
}

/// What a run came to, as far as this process is concerned.
enum Ended {
    /// It has ended.
    Over(Box<RunView>),
    /// Only suspended tasks keep it open, and nobody here answers them.
    Parked(Box<RunView>),
    /// It was cancelled because the user, or whoever read stdout, left.
    Interrupted(Box<RunView>),
    /// It was left as it is, for the same reason.
    Left(Box<RunView>),
    /// The user does not wait.
    Abandoned,
}

/// A run at its end here: what the command's exit status and result are made of.
struct Outcome {
    exit: Exit,
    view: Box<RunView>,
    /// What it is called if it is open.
    open: &'static str,
}

impl Ended {
    /// # Errors
    /// Nothing, if it was abandoned.
    fn outcome(self) -> Option<Outcome> {
        let outcome = |exit, view, open| Some(Outcome { exit, view, open });
        match self {
            Self::Over(view) => outcome(view.phase.into(), view, ""),
            Self::Parked(view) => outcome(Exit::Parked, view, "parked"),
            Self::Interrupted(view) => outcome(Exit::Interrupted, view, "interrupted"),
            Self::Left(view) => outcome(Exit::Interrupted, view, "left"),
            Self::Abandoned => None,
        }
    }
}

/// Drives what `start` starts until all of it has ended or is parked, and prints the result.
///
/// # Errors
/// When nothing could be started, or the only run was lost.
pub(super) fn drive(
    manner: Manner,
    screen: &Screen,
    start: impl Future<Output = Result<Started, Failure>>,
) -> Result<Exit, Failure> {
    let runtime = runtime()?;
    let (prepared, ended, mut exit) = runtime.block_on(async {
        let interrupts = Interrupts::listen()
            .map_err(|error| Failure::host(While::new("interrupts cannot be heard", error)))?;
        let mut interrupted = interrupts.clone();
        let Started { prepared, runs, answers, exit } = tokio::select! {
            started = start => started?,
            _ = interrupted.next() => abandon(),
        };
        Ok((prepared, follow(manner, screen, runs, answers, interrupts).await, exit))
    })?;
    // What still computes or builds is not waited for, but the store is: it folds its log into its file.
    runtime.shutdown_background();
    let mut outcomes = Vec::new();
    for ended in ended {
        match ended {
            Ok(ended) => outcomes.push(ended.outcome().unwrap_or_else(|| abandon())),
            Err(failure) if !manner.several => return Err(failure),
            Err(failure) => exit = exit.worst(failure.report(screen)),
        }
    }
    prepared.host.close();
    report(manner, screen, &outcomes);
    Ok(outcomes.iter().fold(exit, |exit, outcome| exit.worst(outcome.exit)))
}

/// Whatever still goes on ends with the process.
fn abandon() -> ! {
    exit(Exit::Interrupted.status().into())
}

/// A loop for what a command does.
///
/// # Errors
/// When the system does not let us have one.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = RuntimeBuilder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::host(While::new("the command's loop cannot be started", error)))
}

/// Follows all runs at once; answers go to the only one.
async fn follow(
    manner: Manner,
    screen: &Screen,
    runs: Vec<Driven>,
    answers: Answers,
    interrupts: Interrupts,
) -> Vec<Result<Ended, Failure>> {
    let alone = runs.len() == 1;
    let mut answers = Some(answers);
    let mut sessions = Vec::new();
    for run in runs {
        let prefix = if alone { String::new() } else { format!("{}: ", text::dim(run.handle.id())) };
        let answers = answers.take().unwrap_or_default();
        let Driven { handle, notices, plain } = run;
        let session = Session::new(manner, screen, handle, plain, answers, prefix);
        sessions.push(tokio::spawn(session.follow(notices, interrupts.clone())));
    }
    let mut ended = Vec::new();
    for session in sessions {
        ended.push(session.await.unwrap_or_else(|error| Err(Failure::host(error))));
    }
    ended
}

/// Prints how the runs stand.
fn report(manner: Manner, screen: &Screen, outcomes: &[Outcome]) {
    let views: Vec<&RunView> = outcomes.iter().map(|outcome| outcome.view.as_ref()).collect();
    let result = match views.as_slice() {
        _ if manner.events => return,
        [view] if manner.json && !manner.several => problems::json(screen, view),
        views if manner.json => problems::json(screen, &views),
        _ => outcomes.iter().map(|outcome| summary(&outcome.view, outcome.open)).collect(),
    };
    // Whoever has stopped reading still gets the exit status.
    let _gone = screen.out(&result);
}
