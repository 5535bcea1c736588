//! `phasm cron next`.

use std::path::{Path, PathBuf};

use clap::Args;
use phasm::{
    catalog::SaveError,
    clock::Clock,
    engine::{plan::Executors, time::Timestamp, value::Value},
};
use serde_json::json;

use crate::{
    backend::TargetArguments,
    drive::LoadedConfig,
    exit::Exit,
    failure::Failure,
    input::{document::Text, names::called},
    paths::PathArguments,
    problems,
    terminal::screen::Screen,
};

/// Maximum number of times that are printed.
const MAX_TIMES: u16 = 1000;

/// Prints the times of the next runs of a schedule, or of a file that is not added anywhere.
///
/// One a line, in UTC, the first one first; fewer if the schedule ends before. Pauses do not count. A file is checked as
/// `phasm validate` checks it, but for its executors.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm cron next nightly.yaml -n 3\n  phasm cron next nightly --store runs.db --json"
)]
pub(crate) struct NextArguments {
    /// The schedule: its name, or NAMESPACE/NAME; or a workflow file of kind CronWorkflow.
    #[arg(value_name = "NAME|FILE")]
    name: String,

    /// How many.
    #[arg(short, long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_TIMES)))]
    number: u16,

    #[command(flatten)]
    store: TargetArguments,

    /// The operator's configuration, whose variables a file may read [env: PHASM_CONFIG]
    #[arg(long, value_name = "CONFIG")]
    config: Option<PathBuf>,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Prints the times.
pub(super) fn next(arguments: &NextArguments, screen: &Screen) -> Result<Exit, Failure> {
    let NextArguments { name, number, config, json: as_json, .. } = arguments;
    let now = Clock::start().now();
    let count = usize::from(*number);
    let instants = if Path::new(name).is_file() {
        of_file(Path::new(name), &PathArguments::of(config.clone()), now, count, screen, *as_json)?
    } else {
        let name = called(name).map_err(Failure::call)?;
        arguments.store.backend(&PathArguments::of(None), screen, *as_json)?.next_times(&name, count)?
    };
    if instants.is_empty() {
        screen.err("there are no more runs\n");
    }
    let instants: Vec<_> = instants.into_iter().map(Timestamp::to_rfc3339).collect();
    let said = if *as_json {
        problems::json(screen, &json!(instants))
    } else {
        instants.iter().map(|at| format!("{at}\n")).collect()
    };
    let _gone = screen.out(&said);
    Ok(Exit::Done)
}

fn of_file(
    file: &Path,
    paths: &PathArguments,
    now: Timestamp,
    count: usize,
    screen: &Screen,
    as_json: bool,
) -> Result<Vec<Timestamp>, Failure> {
    let text = Text::read(file).map_err(|unread| unread.refuse(screen, as_json))?;
    let draft = text.draft().map_err(|found| problems::refuse(screen, text.source(), &found, as_json))?;
    let configured = LoadedConfig::read(paths, screen, as_json)?;
    let variables = configured.config().map(|config| Value::from(config.vars.clone())).unwrap_or_default();
    // A file with problems could not be added: its times would be wrong, or never come. Which executors there are is not asked.
    let plan = draft.plan(&Executors::any(), &variables);
    let plan = plan.map_err(|found| problems::refuse(screen, text.source(), &found, as_json))?;
    let cron = plan.cron.ok_or_else(|| Failure::call(SaveError::NoSchedule))?;
    let first = cron.schedule.next_after(now);
    Ok(std::iter::successors(first, |at| cron.schedule.next_after(*at)).take(count).collect())
}
