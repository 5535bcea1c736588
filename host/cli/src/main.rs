//! The `phasm` command: one file per subcommand, and the only place that prints.
//!
//! stdout carries results and nothing else; progress, warnings and log lines go to stderr.

mod abandon;
mod address;
mod backend;
mod backup;
mod cancel;
mod command_line;
mod cron;
mod document;
mod drive;
mod events;
mod exit;
mod failure;
mod generated;
mod get;
mod graph;
mod key;
mod list;
mod logs;
mod names;
mod notify;
mod oci;
mod open;
mod parameters;
mod paths;
mod plugin;
mod plugin_dirs;
mod problems;
mod provenance;
mod prune;
mod recover;
mod rerun;
mod resume;
mod run;
mod run_id;
mod schema;
mod screen;
mod serve;
mod shipped;
mod signals;
mod store_argument;
mod store_reader;
mod submission;
mod submit;
mod target;
mod telemetry;
mod text;
mod times;
mod top;
mod trace;
mod trust;
mod usage;
mod user_dirs;
mod validate;
mod waiting;
mod watch;
mod workflow;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use self::{exit::Exit, failure::Failure, screen::Screen, trace::LogLevel};

/// Runs make and drop many small things of one size; glibc's allocator costs a run of 100 000 tasks a third of the engine's
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs workflows whose every step is a sandboxed WebAssembly component.
#[derive(Debug, Parser)]
#[command(name = "phasm", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:\n  phasm run greet.yaml -p who=Ada\n  phasm validate greet.yaml\n  \
                        phasm plugin new greet\n  phasm help resume")]
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
    Submit(submit::SubmitArguments),
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm cron add nightly.yaml --store runs.db\n  phasm cron list --store runs.db\n  \
                      phasm cron next nightly.yaml\n  phasm cron trigger nightly --store runs.db"
    )]
    Cron(cron::CronCommand),
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm workflow save greet.yaml --store runs.db\n  \
                      phasm workflow submit greet -p who=Ada --store runs.db"
    )]
    Workflow(workflow::WorkflowCommand),
    Serve(serve::ServeArguments),
    Open(open::OpenArguments),
    Validate(validate::ValidateArguments),
    Schema(schema::SchemaArguments),
    Resume(resume::ResumeArguments),
    Cancel(cancel::CancelArguments),
    Recover(recover::RecoverArguments),
    Rerun(rerun::RerunArguments),
    Abandon(abandon::AbandonArguments),
    List(list::ListArguments),
    Get(get::GetArguments),
    Graph(graph::GraphArguments),
    Watch(watch::WatchArguments),
    Top(top::TopArguments),
    Events(events::EventsArguments),
    Logs(logs::LogsArguments),
    Prune(prune::PruneArguments),
    Backup(backup::BackupArguments),
    Completions(generated::CompletionsArguments),
    Man(generated::ManArguments),
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm plugin new greet\n  phasm plugin build plugins/greet\n  phasm plugin list\n  \
                      phasm plugin add ./greet.wasm\n  phasm plugin inspect greet"
    )]
    Plugin(plugin::PluginCommand),
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm notify test chat --config phasm.toml\n  phasm notify list @last --store runs.db"
    )]
    Notify(notify::NotifyCommand),
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm key add ci --role run --namespace builds\n  phasm key list\n  phasm key remove ci"
    )]
    Key(key::KeyCommand),
}

fn main() -> ExitCode {
    phasm::sandbox::child::serve_if_asked();
    let Arguments { command, log_level } = Arguments::parse();
    let screen = Screen::new();
    trace::install(&screen, log_level);
    // The spans of `serve` belong to its callers.
    let caller = if matches!(command, Command::Serve(_)) { None } else { telemetry::caller() };
    let done = phasm::spans::within(caller, || carry_out(command, log_level, &screen));
    let exit = done.unwrap_or_else(|failure| failure.report(&screen)).into();
    telemetry::end();
    exit
}

fn carry_out(command: Command, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        Command::Run(arguments) => run::run(&arguments, log_level, screen),
        Command::Cron(command) => cron::cron(&command, screen),
        Command::Workflow(command) => workflow::workflow(&command, screen),
        Command::Submit(arguments) => submit::submit(&arguments, screen),
        Command::Serve(arguments) => serve::serve(&arguments, screen),
        Command::Open(arguments) => open::open(&arguments, screen),
        Command::Validate(arguments) => validate::validate(&arguments, screen),
        Command::Schema(arguments) => schema::schema(&arguments, screen),
        Command::Resume(arguments) => resume::resume(&arguments, log_level, screen),
        Command::Cancel(arguments) => cancel::cancel(&arguments, log_level, screen),
        Command::Recover(arguments) => recover::recover(&arguments, log_level, screen),
        Command::Rerun(arguments) => rerun::rerun(&arguments, log_level, screen),
        Command::Abandon(arguments) => abandon::abandon(&arguments, screen),
        Command::Prune(arguments) => prune::prune(&arguments, screen),
        Command::Backup(arguments) => backup::backup(&arguments, screen),
        Command::Completions(arguments) => {
            Ok(generated::completions(&arguments, Arguments::command(), screen))
        }
        Command::Man(arguments) => generated::man(&arguments, Arguments::command(), screen),
        Command::List(arguments) => list::list(&arguments, screen),
        Command::Get(arguments) => get::get(&arguments, screen),
        Command::Graph(arguments) => graph::graph(&arguments, screen),
        Command::Watch(arguments) => watch::watch(&arguments, screen),
        Command::Top(arguments) => top::top(&arguments, screen),
        Command::Events(arguments) => events::events(&arguments, screen),
        Command::Logs(arguments) => logs::logs(&arguments, log_level, screen),
        Command::Plugin(command) => plugin::plugin(&command, screen),
        Command::Notify(command) => notify::notify(&command, screen),
        Command::Key(command) => key::key(&command, screen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the help of a command and of all below it shows that command being used.
    fn assert_examples(command: &clap::Command, called: &str) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains(&format!("Examples:\n  {called}")), "{called}: {help}");
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            assert_examples(below, &format!("{called} {}", below.get_name()));
        }
    }

    #[test]
    fn every_command_has_an_example() {
        assert_examples(&Arguments::command(), "phasm");
    }
}
