//! `phasm abandon`: ends an unrecoverable run.

use clap::Args;
use phasm::{Host, store::Migration};

#[cfg(unix)]
use crate::backend::live_request;
use crate::{
    drive::{opened, runtime},
    exit::Exit,
    failure::Failure,
    store::local_user::local_user,
    store::{argument::StoreArgument, runs},
    terminal::screen::Screen,
};

/// Marks an unrecoverable run as Error, such as one whose journal cannot be read, so that it can be deleted.
///
/// The run ends as Error. Where its journal can be read, the reason is recorded, and open tasks are Cancelled. Executors that have
/// begun are not stopped: use `cancel` for a run that is merely not wanted any more. Where another process has the store, that
/// process ends the run, unless it can resume it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm abandon RUN --store runs.db\n  \
                        phasm abandon RUN --reason 'its plugin is lost' --store runs.db")]
pub(crate) struct AbandonArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// Reason, which is shown with the run.
    #[arg(long, value_name = "TEXT", default_value = "abandoned by the user")]
    reason: String,

    #[command(flatten)]
    store: StoreArgument,
}

/// Ends a run.
pub(super) fn abandon(arguments: &AbandonArguments, screen: &Screen) -> Result<Exit, Failure> {
    let AbandonArguments { run, reason, store } = arguments;
    let (path, target) = (store.path()?, store.target()?);
    let why = format!("the run was abandoned by {}: {reason}", local_user());
    #[cfg(unix)]
    if let Some((run, recorded)) = runtime()?.block_on(live_request::abandon(run, store, &why))? {
        return Ok(told(screen, &run, recorded));
    }
    let (host, run, recorded) = runtime()?.block_on(async {
        let (_, run) = store.find(run).await?;
        let store = opened(&path, Migration::Refuse).await.map_err(Failure::store)?;
        let host = Host::builder().store(store).max_concurrency_hint(1).open().map_err(Failure::host)?;
        let recorded = host.abandon(&run, &why).await.map_err(|error| runs::unavailable(error, &target))?;
        Ok::<_, Failure>((host, run, recorded))
    })?;
    host.close();
    Ok(told(screen, &run, recorded))
}

fn told(screen: &Screen, run: &str, recorded: bool) -> Exit {
    screen.err(&format!("{run} is abandoned\n"));
    if !recorded {
        screen.err("its journal cannot be read, so that the reason is not recorded\n");
    }
    Exit::Done
}
