//! `phasm plugin`: starting, building, signing, adding and looking into plugins.

mod add;
mod approve;
mod build;
mod c;
mod call;
mod compile;
mod docs;
mod inspect;
mod keygen;
mod library;
mod list;
mod new;
#[cfg(feature = "oci")]
mod oci;
mod pack;
mod prune;
#[cfg(feature = "oci")]
mod push;
mod python;
mod remove;
mod scaffold;
mod sdk;
mod server;
mod shape;
mod sign;
mod signatures;
mod signing_key;

use clap::Subcommand;

use crate::{exit::Exit, failure::Failure, terminal::screen::Screen, trace::LogLevel};

/// Starts, builds, signs, adds, approves and lists plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    Build(build::BuildArguments),
    Call(call::CallArguments),
    Compile(compile::CompileArguments),
    Docs(docs::DocsArguments),
    List(list::ListArguments),
    Inspect(inspect::InspectArguments),
    Add(add::AddArguments),
    Approve(approve::ApproveArguments),
    Remove(remove::RemoveArguments),
    Prune(prune::PrunePluginsArguments),
    Keygen(keygen::KeygenArguments),
    Sign(sign::SignArguments),
    Pack(pack::PackArguments),
    #[cfg(feature = "oci")]
    Push(push::PushArguments),
    New(new::NewArguments),
    Sdk(sdk::SdkArguments),
}

/// Does one of them.
pub(super) fn plugin(command: &PluginCommand, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        PluginCommand::Build(arguments) => build::build(arguments, screen),
        PluginCommand::Call(arguments) => call::call(arguments, log_level, screen),
        PluginCommand::Compile(arguments) => compile::compile(arguments, screen),
        PluginCommand::Docs(arguments) => docs::docs(arguments, screen),
        PluginCommand::List(arguments) => list::list(arguments, screen),
        PluginCommand::Inspect(arguments) => inspect::inspect(arguments, screen),
        PluginCommand::Add(arguments) => add::add(arguments, screen),
        PluginCommand::Approve(arguments) => approve::approve(arguments, screen),
        PluginCommand::Remove(arguments) => remove::remove(arguments, screen),
        PluginCommand::Prune(arguments) => prune::prune(arguments, screen),
        PluginCommand::Keygen(arguments) => keygen::keygen(arguments, screen),
        PluginCommand::Sign(arguments) => sign::sign(arguments, screen),
        PluginCommand::Pack(arguments) => pack::pack(arguments, screen),
        #[cfg(feature = "oci")]
        PluginCommand::Push(arguments) => push::push(arguments, screen),
        PluginCommand::New(arguments) => new::new(arguments, screen),
        PluginCommand::Sdk(arguments) => sdk::sdk(arguments, screen),
    }
}
