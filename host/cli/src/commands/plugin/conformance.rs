//! `phasm plugin test`.

mod bench;
mod checks;
mod example;
mod report;
mod variants;

use std::{path::PathBuf, time::Duration};

use clap::Args;
use phasm::engine::plan::PinnedExecutor;

use self::{bench::TestBench, checks::Subject, example::PluginExample};
use super::{inspect, list};
use crate::{
    drive::runtime,
    exit::Exit,
    failure::{ContextError, Failure},
    input::times,
    paths::PathArguments,
    problems,
    terminal::{screen::Screen, text},
};

/// Time that each attempt may take, unless another is given.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Tests a plugin: the examples of its manifest, unusual inputs, little time and memory, and denied grants.
///
/// Each example is called and compared with its `code`, `outputs` and `message`; outputs have to fit the manifest, and each of its `codes`
/// has to be reached. Then come empty, large and foreign inputs, cancellation, little time, little memory, and each grant of the
/// configuration denied: the plugin must end with an outcome, and not trap. The exit status is 1 if a check failed.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm plugin test ./greet\n  phasm plugin test http --config phasm.toml\n  \
                        phasm plugin test ./greet --junit report.xml"
)]
pub(crate) struct TestArguments {
    /// The name of a plugin that a run would find, or the path of a component or plugin folder.
    #[arg(value_name = "NAME|PATH")]
    plugin: String,

    /// Time that each attempt may take.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = times::length)]
    timeout: Duration,

    /// Write the report as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print one JSON object to stdout.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    paths: PathArguments,
}

/// Tests a plugin with the standard options.
pub(super) fn test_at(plugin: &str, paths: &PathArguments, screen: &Screen) -> Result<Exit, Failure> {
    let plugin = plugin.to_owned();
    test(&TestArguments { plugin, timeout: TIMEOUT, junit: None, json: false, paths: paths.clone() }, screen)
}

/// Tests a plugin.
pub(super) fn test(arguments: &TestArguments, screen: &Screen) -> Result<Exit, Failure> {
    let TestArguments { plugin, timeout, junit, json, paths } = arguments;
    let (name, file) = inspect::component(plugin, paths, screen, *json)?;
    let view = inspect::view(plugin, paths, screen, *json)?;
    let config = list::configured(paths, screen, *json)?.unwrap_or_default();
    let grants = config.grants.get(&name).cloned().unwrap_or_default();
    let examples =
        view.examples.iter().zip(1..).map(|(written, number)| PluginExample::read(number, written));
    let examples: Vec<_> = examples
        .collect::<Result<_, _>>()
        .map_err(|why| Failure::with(Exit::Failed, format!("the manifest of `{name}`: {why}")))?;
    let (inputs, outputs) = (view.inputs.clone(), view.outputs.clone());
    let bench = TestBench::new(&name, file.clone(), grants.clone(), &config, *timeout)?;
    let executor = PinnedExecutor { inputs, outputs, ..PinnedExecutor::default() };
    let subject = Subject { view: &view, file, grants, bench: &bench, executor, examples };
    let report = runtime()?.block_on(subject.check(|check| {
        // A closed stdout ends the output; the checks decide the exit status all the same.
        if !json {
            let _gone = screen.out(&check.line());
        }
    }));
    if let Some(file) = junit {
        report.write_junit(file).map_err(|error| {
            Failure::call(ContextError::new(
                format!("{} cannot be written", text::clean(&file.to_string_lossy())),
                error,
            ))
        })?;
    }
    let _gone = screen.out(&if *json { problems::json(screen, &report) } else { report.summary() });
    Ok(if report.is_good() { Exit::Done } else { Exit::Failed })
}
