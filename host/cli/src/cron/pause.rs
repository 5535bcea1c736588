//! `phasm cron suspend` and `phasm cron resume`.

use clap::Args;
use phasm::saved::{SaveError, Saved, ScheduleState, resume_schedule, suspend_schedule};

use super::{
    super::{
        drive,
        exit::Exit,
        failure::Failure,
        kept_names::{About, Called, Changing, called, refused},
        problems,
        screen::Screen,
        stored::StoreArgument,
    },
    get,
};

/// Has a schedule pause until it is resumed, whatever its document says. Its open runs go on.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron suspend nightly --store runs.db")]
pub(crate) struct SuspendArguments {
    #[command(flatten)]
    pause: Pause,
}

/// Has a schedule that pauses go on. What came meanwhile is not made up for.
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
    name: Called,

    #[command(flatten)]
    store: StoreArgument,

    /// Print one JSON object to stdout: the schedule, as of `get`.
    #[arg(long)]
    json: bool,
}

/// Has a schedule pause.
pub(super) fn suspend(
    SuspendArguments { pause }: &SuspendArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let Called { namespace, name } = &pause.name;
    change(pause, screen, async |changing, _| suspend_schedule(&*changing.store, namespace, name).await)
}

/// Has a schedule go on.
pub(super) fn resume(
    ResumeScheduleArguments { pause }: &ResumeScheduleArguments,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let Called { namespace, name } = &pause.name;
    change(pause, screen, async |changing, about| {
        resume_schedule(&*changing.store, namespace, name, about.now).await
    })
}

fn change(
    pause: &Pause,
    screen: &Screen,
    edit: impl AsyncFnOnce(&Changing, &About) -> Result<Saved<ScheduleState>, SaveError>,
) -> Result<Exit, Failure> {
    let about = About::new(&pause.store)?;
    let changing = Changing::open(&about.path)?;
    drive::runtime()?.block_on(async {
        let saved = match edit(&changing, &about).await {
            Ok(saved) => saved,
            Err(error) => return Err(refused(error, &*changing.store).await),
        };
        // Whoever serves the store, if somebody does, hears of it.
        let _nobody = changing.tell(&about.path, &about.way).await;
        let said = if pause.json { problems::json(screen, &saved) } else { get::line(&saved) };
        let _gone = screen.out(&said);
        Ok(Exit::Done)
    })
}
