//! `phasm workflow`: documents that a store keeps by name.

mod get;
mod list;
mod remove;
mod save;
mod submit;

use clap::Subcommand;

use crate::{exit::Exit, failure::Failure, terminal::screen::Screen};

/// Saves workflows by name in a store, with their versions, and submits them.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    Save(save::SaveArguments),
    List(list::ListWorkflowsArguments),
    Get(get::GetWorkflowArguments),
    Submit(submit::SubmitSavedArguments),
    Remove(remove::RemoveWorkflowArguments),
}

/// Does one of them.
pub(super) fn workflow(command: &WorkflowCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        WorkflowCommand::Save(arguments) => save::save(arguments, screen),
        WorkflowCommand::List(arguments) => list::list(arguments, screen),
        WorkflowCommand::Get(arguments) => get::get(arguments, screen),
        WorkflowCommand::Submit(arguments) => submit::submit(arguments, screen),
        WorkflowCommand::Remove(arguments) => remove::remove(arguments, screen),
    }
}
