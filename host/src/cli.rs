//! The command line: one file per subcommand, and the only place that prints.
//!
//! stdout carries results and nothing else; progress, warnings and log lines go to stderr.

mod ask;
mod cancel;
mod document;
mod drive;
mod events;
mod exit;
mod failure;
mod get;
mod list;
mod parameters;
mod places;
mod plugin;
mod problems;
mod recover;
mod resume;
mod run;
mod schema;
mod screen;
mod search;
mod signals;
mod stored;
mod text;
mod trace;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::{screen::Screen, trace::LogLevel};

/// Runs workflows whose every step is a sandboxed WebAssembly component.
#[derive(Debug, Parser)]
#[command(name = "phasm", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// The least severe log lines and warnings of the engine to show.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, global = true)]
    log_level: LogLevel,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArguments),
    Validate(validate::ValidateArguments),
    Schema(schema::SchemaArguments),
    Resume(resume::ResumeArguments),
    Cancel(cancel::CancelArguments),
    Recover(recover::RecoverArguments),
    List(list::ListArguments),
    Get(get::GetArguments),
    Events(events::EventsArguments),
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
}

/// Does what the command line says and returns the exit status.
pub(crate) fn main() -> ExitCode {
    let Arguments { command, log_level } = Arguments::parse();
    let screen = Screen::new();
    trace::install(&screen, log_level);
    let done = match command {
        Command::Run(arguments) => run::run(&arguments, log_level, &screen),
        Command::Validate(arguments) => validate::validate(&arguments, &screen),
        Command::Schema(_) => Ok(schema::schema(&screen)),
        Command::Resume(arguments) => resume::resume(&arguments, log_level, &screen),
        Command::Cancel(arguments) => cancel::cancel(&arguments, log_level, &screen),
        Command::Recover(arguments) => recover::recover(&arguments, log_level, &screen),
        Command::List(arguments) => list::list(&arguments, &screen),
        Command::Get(arguments) => get::get(&arguments, &screen),
        Command::Events(arguments) => events::events(&arguments, &screen),
        Command::Plugin(command) => plugin::plugin(&command, &screen),
    };
    done.unwrap_or_else(|failure| failure.report(&screen)).into()
}
