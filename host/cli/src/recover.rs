//! `phasm recover`: goes on with every open run of a store.

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

/// Goes on with every open run of a store until it ends or is parked.
///
/// Waits keep their times, what was being executed is executed again under the same numbers, suspended tasks stay
/// suspended. The exit status is that of the run to worry about most, in the order 3, 4, 1, 5, 6, 0 of `run`'s; 2 if
/// another process holds the store. Ctrl-C leaves the runs open and exits with 130.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm recover --store runs.db\n  \
                        phasm recover --store runs.db --wait --config phasm.toml --events")]
pub(super) struct RecoverArguments {
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
    let manner = Manner { leaves_open: true, several: true, ..Manner::new(&arguments.drive, log_level) };
    drive::drive(manner, screen, start(arguments, screen))
}

async fn start(arguments: &RecoverArguments, screen: &Screen) -> Result<Started, Failure> {
    let RecoverArguments { store, drive } = arguments;
    let prepared = store.host(drive, screen).await?;
    let open = prepared.host.store().open_runs().await.map_err(Failure::host)?;
    if open.is_empty() {
        screen.err(&format!("no run is open in {}\n", store.path().display()));
    }
    let mut exit = Exit::Done;
    let mut ready = Vec::new();
    for row in &open {
        match stored::recorded(&prepared, &row.head.run_id).await {
            Ok(run) => ready.push((run.id().clone(), run.plan().clone(), Plain::after(&run))),
            Err(failure) => exit = exit.worst(failure.report(screen)),
        }
    }
    prepared.build_unpinned(ready.iter().map(|(_, plan, _)| &**plan)).await;
    prepared.create_dirs()?;
    let mut runs = Vec::new();
    for (run_id, plan, plain) in ready {
        match prepared.host.recover_run_watched(&run_id).await {
            Ok((handle, notices)) => {
                screen.err(&format!("{}: recovered {}\n", text::dim(&run_id), text::bold(&plan.name)));
                runs.push(Driven { handle, notices, plain });
            }
            Err(error) => exit = exit.worst(stored::failed(error, &[]).report(screen)),
        }
    }
    Ok(Started { prepared, runs, answers: Answers::default(), exit })
}
