//! `phasm cron suspend` and `phasm cron resume`.

use clap::Args;

use super::get;
use crate::{
    backend::TargetArguments,
    exit::Exit,
    failure::Failure,
    input::names::{QualifiedName, called},
    paths::PathArguments,
    problems,
    terminal::screen::Screen,
};

/// Suspends a schedule until it is resumed. Its open runs continue.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron suspend nightly --store runs.db")]
pub(crate) struct SuspendArguments {
    #[command(flatten)]
    pause: Pause,
}

/// Resumes a suspended schedule. Missed runs are not started.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron resume nightly --store runs.db")]
pub(crate) struct ResumeScheduleArguments {
    #[command(flatten)]
    pause: Pause,
}

/// Which schedule.
#[derive(Args, Debug)]
struct Pause {
    /// The schedule: its name, or NAMESPACE/NAME.
    #[arg(value_name = "NAME", value_parser = called)]
    name: QualifiedName,

    #[command(flatten)]
    store: TargetArguments,

    /// Print one JSON object to stdout: the schedule, like `get`.
    #[arg(long)]
    json: bool,
}

/// Suspends a schedule.
pub(super) fn suspend(
    SuspendArguments { pause }: &SuspendArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    change(pause, true, screen)
}

/// Resumes a schedule.
pub(super) fn resume(
    ResumeScheduleArguments { pause }: &ResumeScheduleArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    change(pause, false, screen)
}

fn change(pause: &Pause, is_suspended: bool, screen: &Screen) -> Result<Exit, Failure> {
    let Pause { name, store, json } = pause;
    let paths = PathArguments::of(None);
    let saved = store.backend(&paths, screen, *json)?.set_suspended(name, is_suspended)?;
    let said = if *json { problems::json(screen, &saved) } else { get::line(&saved) };
    let _closed = screen.out(&said);
    Ok(Exit::Done)
}
