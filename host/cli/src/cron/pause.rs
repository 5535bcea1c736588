//! `phasm cron suspend` and `phasm cron resume`.

use clap::Args;
use phasm::catalog::{Saved, ScheduleState, resume_schedule, suspend_schedule};

use super::{
    super::{
        drive,
        exit::Exit,
        failure::Failure,
        names::{QualifiedName, called, refused},
        problems,
        remote::RemoteCommands,
        screen::Screen,
        target::TargetArguments,
        writable_store::{StoreContext, WritableStore},
    },
    get,
};

/// Has a schedule pause until it is resumed, whatever its document says. Its open runs go on.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron suspend nightly --store runs.db")]
pub(crate) struct SuspendArguments {
    #[command(flatten)]
    pause: Pause,
}

/// Has a schedule that pauses go on. What came meanwhile is not made up for.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron resume nightly --store runs.db")]
pub(crate) struct ResumeScheduleArguments {
    #[command(flatten)]
    pause: Pause,
}

/// Which schedule.
#[derive(Args, Debug)]
struct Pause {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON object to stdout: the schedule, as of `get`.
    #[arg(long)]
    json: bool,
}

/// Has a schedule pause.
pub(super) fn suspend(
    SuspendArguments { pause }: &SuspendArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    change(pause, true, screen)
}

/// Has a schedule go on.
pub(super) fn resume(
    ResumeScheduleArguments { pause }: &ResumeScheduleArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    change(pause, false, screen)
}

fn change(pause: &Pause, pauses: bool, screen: &Screen) -> Result<Exit, Failure> {
    let Pause { name, store, json } = pause;
    let runtime = drive::runtime()?;
    let saved = match store.remote()? {
        Some(remote) => {
            runtime.block_on(RemoteCommands { remote, json: *json, screen }.pause(name, pauses))?
        }
        None => runtime.block_on(here(name, pauses, &StoreContext::new(&store.store)?))?,
    };
    let said = if *json { problems::json(screen, &saved) } else { get::line(&saved) };
    let _gone = screen.out(&said);
    Ok(Exit::Done)
}

async fn here(
    name: &QualifiedName,
    pauses: bool,
    about: &StoreContext,
) -> Result<Saved<ScheduleState>, Failure> {
    let changing = WritableStore::open(&about.path)?;
    let (store, QualifiedName { namespace, name }) = (&*changing.store, name);
    let changed = match pauses {
        true => suspend_schedule(store, namespace, name).await,
        false => resume_schedule(store, namespace, name, about.now).await,
    };
    let saved = match changed {
        Ok(saved) => saved,
        Err(error) => return Err(refused(error, store).await),
    };
    // Whoever serves the store, if somebody does, hears of it.
    let _nobody = changing.tell(&about.path, &about.target).await;
    Ok(saved)
}
