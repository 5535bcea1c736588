//! `phasm cron add`.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use phasm::{
    Plan,
    saved::{self, SaveError, Saved, ScheduleState, WrittenDocument},
};

use super::{
    super::{
        document::Text,
        drive::{self, Configured, Prepared, Purpose},
        exit::Exit,
        failure::Failure,
        hint::Way,
        kept_names::{Called, Changing, me, refused},
        places::Places,
        problems,
        screen::Screen,
        stored::StoreArgument,
    },
    get,
};

/// Keeps a schedule by the name of its document, or gives one that is there another document.
///
/// The document is checked as `run` does, with the plugins that are here. From now on its runs start by themselves wherever `phasm serve` serves the
/// store. One that is kept already keeps what it has come to, and goes on pausing if somebody had it pause; what came before is not made up for.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron add nightly.yaml --store runs.db\n  \
                        phasm cron add nightly.yaml --store postgres://phasm@db/phasm --config phasm.toml --json")]
pub(crate) struct AddScheduleArguments {
    /// The document, JSON or YAML, of kind CronWorkflow; `-` is stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    places: Places,

    /// Keep it although an executor is not installed or cannot be used.
    #[arg(long)]
    allow_missing: bool,

    /// Print one JSON object to stdout: the schedule, as of `get`.
    #[arg(long)]
    json: bool,
}

/// Keeps a schedule.
pub(super) fn add(arguments: &AddScheduleArguments, screen: &Screen) -> Result<Exit, Failure> {
    let AddScheduleArguments { file, store, places, allow_missing, json } = arguments;
    let path = store.named()?;
    let text = Text::read(file).map_err(|unread| unread.refuse(screen, *json))?;
    let refuse = |found: &[phasm::Problem]| problems::refuse(screen, text.source(), found, *json);
    let configured = Configured::read(places, screen, *json)?;
    let draft = text.draft().map_err(|found| refuse(&found))?;
    let purpose = Purpose { dir: text.dir(), allow_missing: *allow_missing, ..Purpose::default() };
    let prepared = drive::open(places, configured, screen, purpose)?;
    let way = Way::to(&path).with(places);
    drive::runtime()?.block_on(async {
        let plan = prepared.plan(draft).await.map_err(|found| refuse(&found))?;
        problems::show_warnings(screen, text.source(), &plan.warnings);
        let written = WrittenDocument { file: &text.name, text: &text.text };
        let changing = Changing::open(&path)?;
        let put = put(prepared, &plan, written, &changing).await;
        let (saved, before) = match put {
            Ok(put) => put,
            Err(SaveError::Problems(found)) => return Err(refuse(&found)),
            Err(error) => return Err(refused(error, &*changing.store).await),
        };
        let nobody = changing.tell(&path, &way).await;
        let said = if *json { problems::json(screen, &saved) } else { get::line(&saved) };
        let _gone = screen.out(&said);
        let called = Called::new(&saved.namespace, &saved.name).word();
        if let Some(trigger) = nobody {
            screen.err(&trigger);
        }
        if !before {
            screen.err(&format!("start it at once with: {}\n", way.command(&["cron", "trigger", &called])));
        }
        Ok(Exit::Done)
    })
}

/// The schedule as it is kept, and whether there was one before.
async fn put(
    prepared: Prepared,
    plan: &Arc<Plan>,
    written: WrittenDocument<'_>,
    changing: &Changing,
) -> Result<(Saved<ScheduleState>, bool), SaveError> {
    let store = &*changing.store;
    let own = plan.cron.as_ref().map(|cron| Arc::clone(&cron.name)).unwrap_or_default();
    let before = saved::schedule(store, &plan.namespace, &own).await?.is_some();
    let by = me();
    let saved = prepared.host.put_schedule_in(store, plan, written, by.as_deref()).await?;
    Ok((saved, before))
}
