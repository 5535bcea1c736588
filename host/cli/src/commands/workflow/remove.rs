//! `phasm workflow remove`.

use clap::Args;
use phasm::store::CatalogKind;

use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called},
    terminal::screen::Screen,
};

/// Deletes a saved workflow with all its versions. Its runs stay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm workflow remove greet --store runs.db")]
pub(crate) struct RemoveWorkflowArguments {
    /// The workflow: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,
}

/// Deletes a workflow.
pub(super) fn remove(arguments: &RemoveWorkflowArguments, screen: &Screen) -> Result<Exit, Failure> {
    arguments.store.remove(CatalogKind::Workflows, &arguments.name, screen)
}
