//! `phasm recover`: resumes open runs of a store.

use std::{path::Path, sync::Arc};

use clap::Args;
use phasm::{
    clock::Clock,
    store::{Census, StoreError},
};

use crate::{
    command_line::Target,
    drive::{self, ActiveRun, ActiveRuns, Answers, DriveArguments, DriveOptions, LineReporter, PreparedHost},
    exit::Exit,
    failure::Failure,
    store::{argument::StoreArgument, runs},
    terminal::{screen::Screen, text},
    trace::LogLevel,
};

/// Resumes interrupted runs of a store, or those named, until they end or wait for a response.
///
/// Runs that wait for a response, or for longer than a minute, stay where they are unless they are named or `--wait` is given; the
/// last line says how many and why. Waits keep their times. Interrupted attempts are executed again under the same numbers. Suspended tasks stay
/// suspended. The exit status is the worst of all runs, in the order 3, 4, 1, 5, 6, 0 of `run`'s; 2 if
/// another process holds the store. Ctrl-C leaves the runs open and exits with 130, SIGTERM with 143.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm recover --store runs.db\n  phasm recover @last --store runs.db\n  \
                        phasm recover --store runs.db --wait --config phasm.toml --events"
)]
pub(crate) struct RecoverArguments {
    /// Only these: each an id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Resumes all open runs.
pub(super) fn recover(
    arguments: &RecoverArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let options = DriveOptions::new(&arguments.drive, Some(&arguments.store.path()?), log_level);
    let options = DriveOptions { leaves_open: true, several: true, ..options };
    drive::drive(&options, screen, start(arguments, screen))
}

async fn start(arguments: &RecoverArguments, screen: &Screen) -> Result<ActiveRuns, Failure> {
    let RecoverArguments { runs, store, drive } = arguments;
    let target = drive.target(&store.path()?);
    let (mut wanted, mut kept) = (Vec::new(), None);
    for meant in runs {
        let (reader, run_id) = store.find(meant).await?;
        kept = Some(reader);
        if !wanted.contains(&run_id) {
            wanted.push(run_id);
        }
    }
    let prepared = match (wanted.as_slice(), &kept) {
        ([run_id], Some(reader)) => store.host_for(reader, run_id, drive, screen).await?,
        _ => store.host(drive, screen).await?,
    };
    let mut exit = Exit::Done;
    if runs.is_empty() {
        wanted = due(&prepared, drive.wait).await.map_err(Failure::host)?;
        let left = RemainingRuns { idle: wanted.is_empty(), stays: drive.wait };
        exit = left.tell(&prepared, &store.path()?, &target, screen).await?;
    }
    let mut ready = Vec::new();
    for run_id in &wanted {
        match runs::replay(&prepared, run_id, &target).await {
            Ok(run) => {
                let (plain, repeated) = (LineReporter::after(&run), LineReporter::repeated(&run));
                ready.push((run.id().clone(), run.plan().clone(), plain, repeated));
            }
            Err(failure) => exit = exit.worst(refused(&prepared, run_id, failure, screen).await),
        }
    }
    prepared.environment.build_unpinned(ready.iter().map(|(_, plan, ..)| &**plan)).await;
    prepared.environment.create_dirs()?;
    let mut runs = Vec::new();
    for (run_id, plan, plain, repeated) in ready {
        let watch = prepared.host.watch_new(&run_id).await.map_err(Failure::host)?;
        match prepared.host.recover_run(&run_id).await {
            Ok(handle) => {
                screen.err(&format!("{}: recovered {}\n", text::dim(&run_id), text::bold(&plan.name)));
                let repeated = repeated.iter().map(|line| format!("{}: {line}", text::dim(&run_id)));
                screen.err(&repeated.collect::<String>());
                runs.push(ActiveRun { handle, watch, plain });
            }
            Err(error) => {
                exit =
                    exit.worst(refused(&prepared, &run_id, runs::unavailable(error, &target), screen).await);
            }
        }
    }
    Ok(ActiveRuns { prepared, runs, answers: Answers::default(), exit })
}

/// The runs that have something to do; all that are open, if suspended ones are waited for.
async fn due(prepared: &PreparedHost, all: bool) -> Result<Vec<Arc<str>>, StoreError> {
    let heads = if all {
        prepared.host.store().open_runs().await?.into_iter().map(|row| row.head).collect()
    } else {
        prepared.host.claim().await?
    };
    Ok(heads.iter().map(|head| Arc::clone(&head.run_id)).collect())
}

/// Another host may have a run that this one could not resume.
async fn refused(prepared: &PreparedHost, run_id: &str, failure: Failure, screen: &Screen) -> Exit {
    // A store that fails reports it at the next call.
    let _failed = prepared.host.release_run(run_id).await;
    failure.report(screen)
}

/// Report about the runs that stay open.
struct RemainingRuns {
    /// Whether there is nothing to do.
    idle: bool,
    /// Whether runs that wait are waited for.
    stays: bool,
}

impl RemainingRuns {
    /// Says how many there are, and why.
    async fn tell(
        self,
        prepared: &PreparedHost,
        file: &Path,
        target: &Target,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        let now = Clock::start().now();
        let census = prepared.host.store().census(now).await.map_err(Failure::host)?;
        if self.stays {
            if self.idle {
                screen.err(&none(file));
            }
            return Ok(Exit::Done);
        }
        let left = left(&census, target);
        if self.idle && left.is_empty() {
            screen.err(&if census.owned == 0 {
                none(file)
            } else {
                let driven = ["is running on another host", "are running on other hosts"];
                runs(census.owned, driven) + "\n"
            });
        }
        screen.err(&left);
        Ok(if left.is_empty() { Exit::Done } else { Exit::Parked })
    }
}

fn none(file: &Path) -> String {
    format!("no run is open in {}\n", file.display())
}

fn runs(count: u64, [one, many]: [&str; 2]) -> String {
    if count == 1 { format!("1 run {one}") } else { format!("{count} runs {many}") }
}

fn left(Census { waiting, parked, next, .. }: &Census, target: &Target) -> String {
    let mut left = String::new();
    if *parked > 0 {
        let waits = runs(
            *parked,
            ["is waiting for approval or a response", "are waiting for approval or a response"],
        );
        left += &format!("{waits}: {}\n", target.command(&["list", "--open"]));
    }
    if let Some(next) = next.filter(|_| *waiting > 0) {
        let waits = runs(*waiting, ["is waiting for its next time", "are waiting for their next time"]);
        let wait = target.command(&["recover", "--wait"]);
        left += &format!("{waits}, the next until {}; to wait for them: {wait}\n", next.to_rfc3339());
    }
    left
}
