//! The subcommands, a file or a folder for each.

mod abandon;
mod artifact;
mod backup;
mod cancel;
mod convert;
mod cron;
mod events;
mod examples;
mod generated;
mod get;
mod graph;
mod health;
mod init;
mod key;
mod list;
mod logs;
mod migrate;
mod notify;
mod open;
mod plugin;
mod prune;
mod recover;
mod rerun;
mod respond;
mod run;
mod schema;
mod serve;
mod submit;
mod top;
mod validate;
mod watch;
mod workflow;

use clap::Subcommand;

use crate::{
    exit::Exit,
    failure::Failure,
    terminal::screen::Screen,
    trace::{LogFormat, LogLevel},
};

/// Subcommand with its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArguments),
    Examples(examples::ExamplesArguments),
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
    Health(health::HealthArguments),
    Open(open::OpenArguments),
    Validate(validate::ValidateArguments),
    Convert(convert::ConvertArguments),
    Schema(schema::SchemaArguments),
    Approve(respond::ApproveArguments),
    Reject(respond::RejectArguments),
    #[command(visible_alias = "resume")]
    Respond(respond::RespondArguments),
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
    #[command(
        subcommand,
        after_help = "Examples:\n  phasm artifact list @last --store runs.db\n  phasm artifact get @last rows.csv --store runs.db"
    )]
    Artifact(artifact::ArtifactCommand),
    Prune(prune::PruneArguments),
    Backup(backup::BackupArguments),
    Migrate(migrate::MigrateArguments),
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

impl Command {
    /// Format of the log, if the command is a server.
    pub(crate) fn log_format(&self) -> Option<LogFormat> {
        if let Self::Serve(arguments) = self { Some(arguments.log_format) } else { None }
    }
}

/// Runs a command. `program` describes the whole command line.
///
/// # Errors
/// When it fails.
pub(crate) fn run(
    command: Command,
    program: clap::Command,
    log_level: LogLevel,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match command {
        Command::Init(arguments) => init::init(&arguments, screen),
        Command::Examples(arguments) => Ok(examples::examples(&arguments, screen)),
        Command::Run(arguments) => run::run(&arguments, log_level, screen),
        Command::Cron(command) => cron::cron(&command, screen),
        Command::Workflow(command) => workflow::workflow(&command, screen),
        Command::Submit(arguments) => submit::submit(&arguments, screen),
        Command::Serve(arguments) => serve::serve(&arguments, screen),
        Command::Health(arguments) => health::health(&arguments, screen),
        Command::Open(arguments) => open::open(&arguments, screen),
        Command::Validate(arguments) => validate::validate(&arguments, screen),
        Command::Convert(arguments) => convert::convert(&arguments, screen),
        Command::Schema(arguments) => schema::schema(&arguments, screen),
        Command::Approve(arguments) => respond::approve(&arguments, log_level, screen),
        Command::Reject(arguments) => respond::reject(&arguments, log_level, screen),
        Command::Respond(arguments) => respond::respond(&arguments, log_level, screen),
        Command::Cancel(arguments) => cancel::cancel(&arguments, log_level, screen),
        Command::Recover(arguments) => recover::recover(&arguments, log_level, screen),
        Command::Rerun(arguments) => rerun::rerun(&arguments, log_level, screen),
        Command::Abandon(arguments) => abandon::abandon(&arguments, screen),
        Command::Artifact(command) => artifact::artifact(&command, screen),
        Command::Prune(arguments) => prune::prune(&arguments, screen),
        Command::Backup(arguments) => backup::backup(&arguments, screen),
        Command::Migrate(arguments) => migrate::migrate(&arguments, screen),
        Command::Completions(arguments) => Ok(generated::completions(&arguments, program, screen)),
        Command::Man(arguments) => generated::man(&arguments, program, screen),
        Command::List(arguments) => list::list(&arguments, screen),
        Command::Get(arguments) => get::get(&arguments, screen),
        Command::Graph(arguments) => graph::graph(&arguments, screen),
        Command::Watch(arguments) => watch::watch(&arguments, screen),
        Command::Top(arguments) => top::top(&arguments, screen),
        Command::Events(arguments) => events::events(&arguments, screen),
        Command::Logs(arguments) => logs::logs(&arguments, log_level, screen),
        Command::Plugin(command) => plugin::plugin(&command, log_level, screen),
        Command::Notify(command) => notify::notify(&command, screen),
        Command::Key(command) => key::key(&command, screen),
    }
}
