//! `phasm cron remove`.

use clap::Args;
use phasm::{catalog::remove_schedule, store::Shelf};

use super::super::{
    drive,
    exit::Exit,
    failure::Failure,
    names::{QualifiedName, called, no_schedule},
    remote::RemoteCommands,
    screen::Screen,
    target::TargetArguments,
    writable_store::{StoreContext, WritableStore},
};

/// Deletes a schedule: it starts nothing any more. Its runs stay, and those that are open go on.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron remove nightly --store runs.db")]
pub(crate) struct RemoveScheduleArguments {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,
}

/// Deletes a schedule.
pub(super) fn remove(arguments: &RemoveScheduleArguments, screen: &Screen) -> Result<Exit, Failure> {
    let RemoveScheduleArguments { name, store } = arguments;
    drive::runtime()?.block_on(async {
        match store.remote()? {
            Some(remote) => {
                let asking = RemoteCommands { remote: remote.clone(), json: false, screen };
                if !asking.remove(Shelf::Schedules, name).await? {
                    return Err(no_schedule(name, &remote).await);
                }
            }
            None => here(name, &StoreContext::new(&store.store)?).await?,
        }
        screen.err(&format!("schedule {} is removed; its runs stay\n", name.word()));
        Ok(Exit::Done)
    })
}

async fn here(name: &QualifiedName, about: &StoreContext) -> Result<(), Failure> {
    let changing = WritableStore::open(&about.path)?;
    let removed = remove_schedule(&*changing.store, &name.namespace, &name.name).await;
    if !removed.map_err(Failure::host)? {
        return Err(no_schedule(name, &*changing.store).await);
    }
    let _nobody = changing.tell(&about.path, &about.target).await;
    Ok(())
}
