//! `phasm recover`: goes on with open runs of a store.

use std::sync::Arc;

use clap::Args;

use super::{
    drive::{self, Answers, DriveArguments, Driven, Manner, Plain, Started},
    exit::Exit,
    failure::Failure,
    screen::Screen,
    stored::{self, StoreArgument},
    text,
    trace::LogLevel,
};

/// Goes on with every open run of a store, or with those named, until it ends or is parked.
///
/// Waits keep their times, what was being executed is executed again under the same numbers, suspended tasks stay
/// suspended. The exit status is that of the run to worry about most, in the order 3, 4, 1, 5, 6, 0 of `run`'s; 2 if
/// another process holds the store. Ctrl-C leaves the runs open and exits with 130, SIGTERM with 143.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm recover --store runs.db\n  phasm recover @last --store runs.db\n  \
                        phasm recover --store runs.db --wait --config phasm.toml --events"
)]
pub(super) struct RecoverArguments {
    /// Only these: each an id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    drive: DriveArguments,
}

/// Goes on with all open runs.
pub(super) fn recover(
    arguments: &RecoverArguments,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let manner = Manner::new(&arguments.drive, Some(&arguments.store.path()?), log_level);
    let manner = Manner { leaves_open: true, several: true, ..manner };
    drive::drive(&manner, screen, start(arguments, screen))
}

async fn start(arguments: &RecoverArguments, screen: &Screen) -> Result<Started, Failure> {
    let RecoverArguments { runs, store, drive } = arguments;
    let way = drive.way(&store.path()?);
    let mut wanted = Vec::new();
    for meant in runs {
        let (_, run_id) = store.find(meant).await?;
        if !wanted.contains(&run_id) {
            wanted.push(run_id);
        }
    }
    let prepared = store.host(drive, screen).await?;
    if runs.is_empty() {
        let open = prepared.host.store().open_runs().await.map_err(Failure::host)?;
        wanted.extend(open.iter().map(|row| Arc::clone(&row.head.run_id)));
    }
    if wanted.is_empty() {
        screen.err(&format!("no run is open in {}\n", store.path()?.display()));
    }
    let mut exit = Exit::Done;
    let mut ready = Vec::new();
    for run_id in &wanted {
        match stored::recorded(&prepared, run_id, &way).await {
            Ok(run) => ready.push((run.id().clone(), run.plan().clone(), Plain::after(&run))),
            Err(failure) => exit = exit.worst(failure.report(screen)),
        }
    }
    prepared.build_unpinned(ready.iter().map(|(_, plan, _)| &**plan)).await;
    prepared.create_dirs()?;
    let mut runs = Vec::new();
    for (run_id, plan, plain) in ready {
        match prepared.host.recover_run_watched(&run_id).await {
            Ok((handle, watch)) => {
                screen.err(&format!("{}: recovered {}\n", text::dim(&run_id), text::bold(&plan.name)));
                runs.push(Driven { handle, watch, plain });
            }
            Err(error) => exit = exit.worst(stored::failed(error, &way).report(screen)),
        }
    }
    Ok(Started { prepared, runs, answers: Answers::default(), exit })
}
