//! `phasm cron`: schedules of a store.

mod add;
mod get;
mod list;
mod next;
mod pause;
mod remove;
mod trigger;

use clap::Subcommand;

use crate::{exit::Exit, failure::Failure, terminal::screen::Screen};

/// Adds, shows, suspends and triggers schedules, which start runs where `phasm serve` runs: workflow files of kind CronWorkflow.
#[derive(Debug, Subcommand)]
pub(crate) enum CronCommand {
    Add(add::AddScheduleArguments),
    List(list::ListSchedulesArguments),
    Get(get::GetScheduleArguments),
    Next(next::NextArguments),
    Trigger(trigger::TriggerArguments),
    Suspend(pause::SuspendArguments),
    Resume(pause::ResumeScheduleArguments),
    Remove(remove::RemoveScheduleArguments),
}

/// Does one of them.
pub(super) fn cron(command: &CronCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        CronCommand::Add(arguments) => add::add(arguments, screen),
        CronCommand::List(arguments) => list::list(arguments, screen),
        CronCommand::Get(arguments) => get::get(arguments, screen),
        CronCommand::Next(arguments) => next::next(arguments, screen),
        CronCommand::Trigger(arguments) => trigger::trigger(arguments, screen),
        CronCommand::Suspend(arguments) => pause::suspend(arguments, screen),
        CronCommand::Resume(arguments) => pause::resume(arguments, screen),
        CronCommand::Remove(arguments) => remove::remove(arguments, screen),
    }
}
