//! `phasm cron remove`.

use clap::Args;
use phasm::store::Shelf;

use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called},
    paths::PathArguments,
    terminal::screen::Screen,
};

/// Deletes a schedule. Its runs stay, and open ones continue.
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
    store.backend(&PathArguments::of(None), screen, false)?.remove(Shelf::Schedules, name)?;
    screen.err(&format!("schedule {} is removed; its runs stay\n", name.word()));
    Ok(Exit::Done)
}
