//! `phasm cron remove`.

use clap::Args;
use phasm::store::CatalogKind;

use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called},
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
    arguments.store.remove(CatalogKind::Schedules, &arguments.name, screen)
}
