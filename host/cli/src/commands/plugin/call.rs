//! `phasm plugin call`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::engine::{
    plan::Draft,
    problem::Problems,
    tree::Tree,
    value::{Map, Value},
};

use super::inspect;
use crate::{
    command_line,
    drive::{
        self, ActiveRun, ActiveRuns, Answer, Answers, DriveArguments, DriveOptions, LineReporter,
        LoadedConfig, Purpose, payload,
    },
    exit::Exit,
    failure::Failure,
    input::parameters::{self, ParameterArgument},
    paths::{self, PathArguments},
    store::local_user::local_user,
    terminal::screen::Screen,
    trace::LogLevel,
};

/// Runs one attempt of an executor, with the inputs given here and without a workflow.
///
/// The executor has the grants, limits and secrets that it has in a run with the same configuration. A plugin that is there as source is
/// built first. The exit status is the one of `phasm run`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin call echo --input value=1\n  phasm plugin call ./greet --input name=Ada\n  \
                        phasm plugin call http --input url=http://127.0.0.1:8080/ --config phasm.toml --json"
)]
pub(crate) struct CallArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    /// An input: text if the executor takes text there; else JSON if it is valid, else text.
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = parameters::given)]
    input: Vec<ParameterArgument>,

    /// Inputs, an object in JSON or YAML; `--input` wins over it.
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,

    /// A setting of the executor, as in `executor.config`, read like an input.
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = parameters::given)]
    setting: Vec<ParameterArgument>,

    /// The response, if the attempt suspends itself: an object. May be repeated.
    #[arg(long, value_name = "JSON", value_parser = payload)]
    resume: Vec<Map>,

    #[command(flatten)]
    drive: DriveArguments,
}

impl CallArguments {
    /// Returns the plugin as it was given.
    pub(super) fn plugin(&self) -> &str {
        &self.plugin
    }

    pub(super) fn paths(&self) -> &PathArguments {
        &self.drive.paths
    }
}

/// Runs one attempt.
pub(super) fn call(arguments: &CallArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let DriveArguments { paths, json, .. } = &arguments.drive;
    let view = inspect::view(&arguments.plugin, paths, screen, *json)?;
    let given = CallValues {
        inputs: parameters::fitting(&arguments.input, arguments.inputs.as_deref(), &view.inputs)?,
        settings: parameters::fitting(&arguments.setting, None, &view.inputs)?,
    };
    // A plugin at a path is found by its name in the folder around it.
    let paths = if inspect::is_path(Path::new(&arguments.plugin)) {
        paths.also(paths::folder_of(Path::new(&arguments.plugin)).to_owned())
    } else {
        paths.clone()
    };
    let drive = arguments.drive.at(paths);
    let options = DriveOptions::new(&drive, None, log_level);
    let configured = LoadedConfig::read(&drive.paths, screen, *json)?;
    let starting = start(&view.name, given, configured, &drive, &arguments.resume, screen);
    drive::drive(&options, screen, starting)
}

/// Values of the one attempt.
struct CallValues {
    inputs: Map,
    settings: Map,
}

async fn start(
    name: &str,
    values: CallValues,
    configured: LoadedConfig,
    drive: &DriveArguments,
    responses: &[Map],
    screen: &Screen,
) -> Result<ActiveRuns, Failure> {
    let planning = drive::open(&drive.paths, configured, screen, Purpose::default())?;
    let draft = Draft::read(&Tree::from(&workflow(name, values)));
    let plan = planning.plan(draft).await.map_err(|found| refused(name, &found))?;
    let prepared = planning.with_store(None).await?;
    prepared.environment.create_dirs()?;
    let new =
        prepared.host.new_run_by(&plan, &Map::new(), Some(local_user())).await.map_err(Failure::call)?;
    let watch = new.watch();
    let handle = new.start().await.map_err(Failure::call)?;
    let answers: Vec<_> = responses.iter().map(|payload| Answer::of(name, payload.clone())).collect();
    Ok(ActiveRuns {
        prepared,
        runs: vec![ActiveRun { handle, watch, plain: LineReporter::default() }],
        answers: Answers::new(&answers),
        exit: Exit::Done,
    })
}

/// Returns a workflow of the one attempt. Its values are taken as they are: braces in them are no expressions.
fn workflow(name: &str, CallValues { inputs, settings }: CallValues) -> Value {
    let object = |members: Vec<(&str, Value)>| {
        Value::from(members.into_iter().map(|(name, value)| (name.into(), value)).collect::<Map>())
    };
    let raw = |value| object(vec![("raw", true.into()), ("value", value)]);
    let inputs: Map = inputs.into_iter().map(|(name, value)| (name, raw(value))).collect();
    let executor = object(vec![("type", name.into()), ("config", settings.into())]);
    let inputs = object(vec![("parameters", inputs.into())]);
    let task = object(vec![("name", name.into()), ("executor", executor), ("inputs", inputs)]);
    let spec =
        object(vec![("entrypoint", name.into()), ("templates", vec![object(vec![("task", task)])].into())]);
    object(vec![
        ("apiVersion", "phasm/v1".into()),
        ("kind", "Workflow".into()),
        ("metadata", object(vec![("name", name.into())])),
        ("spec", spec),
    ])
}

/// All problems of the inputs and settings. Their places and hints are those of a workflow file, which the user has not written.
fn refused(name: &str, found: &Problems) -> Failure {
    let mut lines: Vec<_> = found.iter().map(|problem| problem.message.clone()).collect();
    let inspect = command_line::command(&["plugin", "inspect", name]);
    lines.push(format!("give inputs with --input NAME=VALUE; `{inspect}` lists them"));
    Failure::call(lines.join("\n"))
}
