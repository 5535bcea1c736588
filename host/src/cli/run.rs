//! `phasm run`: one document to its end in this process.

mod answers;
mod live;
mod notices;
mod parameters;
mod plain;
mod prepare;
mod session;
mod snapshot;
mod summary;

use std::path::PathBuf;

use clap::Args;
use phasm::{
    Notice, RunHandle, SubmitError,
    engine::{problem::Problem, value::Map, view::RunView},
};
use tokio::{
    runtime::{Builder as RuntimeBuilder, Runtime},
    sync::mpsc::UnboundedReceiver,
};

pub(super) use self::prepare::configuration;
use self::{answers::Answer, parameters::Given, prepare::Prepared, session::Session};
use super::{
    document::Text,
    exit::Exit,
    failure::{Failure, While},
    problems,
    screen::Screen,
    signals::Interrupts,
    trace::LogLevel,
};

/// Runs a document to its end in this process.
///
/// The exit status is 0 Succeeded or Skipped, 1 Failed, 2 problems in the document or the call, 3 Error, 4 Timeout,
/// 5 Cancelled, 6 parked (only suspended tasks keep the run open), 130 interrupted.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm run greet.yaml -p name=Ada\n  \
                        phasm run audit.yaml --config audit.toml --json > audit.json\n  \
                        phasm run release.yaml --store runs.db --resume 'approve={\"approved\": true}'")]
pub(super) struct RunArguments {
    /// The document, JSON or YAML; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A value for a parameter of spec.arguments: the text itself where a string is declared, else JSON if it is some,
    /// else text.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameters::given)]
    param: Vec<Given>,

    /// Values for parameters, an object in JSON or YAML; `-p` wins over it.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// Where the run is kept: a file, or `memory`.
    #[arg(long, value_name = "FILE|memory", default_value = "memory")]
    store: PathBuf,

    /// A directory with plugins, searched before all others.
    #[arg(long, value_name = "DIR")]
    plugins: Vec<PathBuf>,

    /// The operator's configuration: plugins, grants, variables, secrets, limits.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Answers the next suspension of a task, named `taskName` or `scope/taskName`, with an object; once, in order.
    #[arg(long, value_name = "TASK=JSON", value_parser = answers::answer)]
    resume: Vec<Answer>,

    /// With a file store: stay when only suspended tasks keep the run open.
    #[arg(long)]
    wait: bool,

    /// Print the run view to stdout, one JSON object.
    #[arg(long, conflicts_with = "events")]
    json: bool,

    /// Print the journal to stdout as it happens, one JSON object a line.
    #[arg(long)]
    events: bool,
}

impl RunArguments {
    fn is_in_memory(&self) -> bool {
        *self.store == *"memory"
    }
}

/// What a run came to, as far as this process is concerned.
enum Ended {
    /// It has ended.
    Over(Box<RunView>),
    /// Only suspended tasks keep it open, and nobody here answers them.
    Parked(Box<RunView>),
    /// It was cancelled because the user, or whoever read stdout, left.
    Interrupted(Box<RunView>),
    /// The user does not wait.
    Abandoned,
}

/// Runs a document.
pub(super) fn run(arguments: &RunArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let document = Text::read(&arguments.file, "document")?;
    let plan = document
        .plan(&())
        .map_err(|found| problems::refuse(screen, document.source(), &found, arguments.json))?;
    if plan.cron {
        return Err(Failure::call(SubmitError::Cron));
    }
    let given = parameters::all(&arguments.param, arguments.params.as_deref(), &plan)?;
    let runtime = runtime()?;
    let (ended, prepared) = runtime.block_on(async {
        let mut interrupts = Interrupts::listen()
            .map_err(|error| Failure::host(While::new("interrupts cannot be heard", error)))?;
        let started = start(arguments, screen, &document, &given);
        let (prepared, handle, notices) = tokio::select! {
            started = started => started?,
            () = interrupts.next() => return Ok((Ended::Abandoned, None)),
        };
        let session = Session::new(arguments, log_level, screen, handle);
        let ended = session.follow(notices, &mut interrupts).await?;
        Ok((ended, Some(prepared)))
    })?;
    // What still computes or builds is not waited for, but the store is: it folds its log into its file.
    runtime.shutdown_background();
    let (exit, view) = match ended {
        // Whatever still goes on ends with the process.
        Ended::Abandoned => std::process::exit(Exit::Interrupted.status().into()),
        Ended::Over(view) => (view.phase.into(), view),
        Ended::Parked(view) => (Exit::Parked, view),
        Ended::Interrupted(view) => (Exit::Interrupted, view),
    };
    if let Some(prepared) = prepared {
        prepared.host.close();
    }
    report(arguments, screen, &view);
    Ok(exit)
}

fn runtime() -> Result<Runtime, Failure> {
    let runtime = RuntimeBuilder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::host(While::new("the command's loop cannot be started", error)))
}

/// Opens a host with everything the document names, and submits.
async fn start(
    arguments: &RunArguments,
    screen: &Screen,
    document: &Text,
    given: &Map,
) -> Result<(Prepared, RunHandle, UnboundedReceiver<Notice>), Failure> {
    let prepared = prepare::open(arguments, screen, document)?;
    let refuse = |found: &[Problem]| problems::refuse(screen, document.source(), found, arguments.json);
    let refused = |error: SubmitError| match error {
        SubmitError::Problems(found) => refuse(&found),
        SubmitError::Cron => Failure::call(error),
        SubmitError::Store(_) => Failure::host(error),
    };
    // Once more, with what the plugins say about themselves.
    let plan = prepared.host.plan(&document.name, &document.text).map_err(|found| refuse(&found))?;
    problems::show_warnings(screen, document.source(), &plan.warnings);
    prepared.host.check(&plan, given).map_err(refused)?;
    let prepared = prepared.with_store(arguments)?;
    prepared.load_plugins(&plan, screen).await;
    // And again: only now those that had to be built have said what they say.
    let told = plan.warnings.clone();
    let plan = prepared.host.plan(&document.name, &document.text).map_err(|found| refuse(&found))?;
    let news: Vec<_> = plan.warnings.iter().filter(|warning| !told.contains(warning)).cloned().collect();
    problems::show_warnings(screen, document.source(), &news);
    prepared.create_dirs()?;
    let (handle, notices) = prepared.host.submit_watched(&plan, given).await.map_err(refused)?;
    Ok((prepared, handle, notices))
}

/// Prints how the run stands.
fn report(arguments: &RunArguments, screen: &Screen, view: &RunView) {
    let result = if arguments.json {
        problems::json(screen, view)
    } else if arguments.events {
        return;
    } else {
        summary::of(view)
    };
    // Whoever has stopped reading still gets the exit status.
    let _gone = screen.out(&result);
}
