//! `phasm plugin`: building, listing, looking into and starting plugins.

mod build;
mod compile;
mod inspect;
mod list;
mod new;
mod scaffold;
mod sdk;
mod shape;
mod workshop;

use clap::Subcommand;

pub(super) use self::workshop::Workshop;
use super::{exit::Exit, failure::Failure, screen::Screen};

/// Builds, lists, inspects and starts plugins.
#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    Build(build::BuildArguments),
    Compile(compile::CompileArguments),
    List(list::ListArguments),
    Inspect(inspect::InspectArguments),
    New(new::NewArguments),
    Sdk(sdk::SdkArguments),
}

/// Does one of them.
pub(super) fn plugin(command: &PluginCommand, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        PluginCommand::Build(arguments) => build::build(arguments, screen),
        PluginCommand::Compile(arguments) => compile::compile(arguments, screen),
        PluginCommand::List(arguments) => list::list(arguments, screen),
        PluginCommand::Inspect(arguments) => inspect::inspect(arguments, screen),
        PluginCommand::New(arguments) => new::new(arguments, screen),
        PluginCommand::Sdk(arguments) => sdk::sdk(arguments, screen),
    }
}
