//! `phasm cron add`.

use std::path::Path;

use clap::Args;
use phasm::catalog::{self, SaveError, Saved, ScheduleState, WrittenDocument};

use super::{
    super::{
        drive,
        exit::Exit,
        failure::Failure,
        names::{QualifiedName, refused},
        paths::PathArguments,
        problems,
        remote::RemoteCommands,
        screen::Screen,
        submission::{DocumentArgument, OpenDocument},
        target::TargetArguments,
        writable_store::{WritableStore, me},
    },
    get,
};

/// Keeps a schedule by the name of its document, or gives one that is there another document.
///
/// The document, of kind CronWorkflow, is checked as `run` does, with the plugins that are here, or those of the server. From now on its runs start by
/// themselves wherever `phasm serve` serves the store. One that is kept already keeps what it has come to, and goes on pausing if somebody had it pause;
/// what came before is not made up for.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm cron add nightly.yaml --store runs.db\n  \
                        phasm cron add nightly.yaml --server http://127.0.0.1:8484\n  \
                        phasm cron add nightly.yaml --store postgres://phasm@db/phasm --config phasm.toml --json")]
pub(crate) struct AddScheduleArguments {
    #[command(flatten)]
    document: DocumentArgument,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Print one JSON object to stdout: the schedule, as of `get`.
    #[arg(long)]
    json: bool,
}

/// A schedule as it is kept, whether there was one before, and what to say where nobody serves it.
type SavedSchedule = (Saved<ScheduleState>, bool, Option<String>);

/// Keeps a schedule.
pub(super) fn add(arguments: &AddScheduleArguments, screen: &Screen) -> Result<Exit, Failure> {
    let AddScheduleArguments { document, store, paths, json } = arguments;
    let runtime = drive::runtime()?;
    let (saved, before, nobody) = match store.remote()? {
        Some(remote) => {
            let asking = RemoteCommands { remote, json: *json, screen };
            let (saved, before) = runtime.block_on(asking.put_schedule(document))?;
            (saved, before, None)
        }
        None => {
            let path = store.store.named()?;
            let opened = document.open(paths, screen, *json)?;
            runtime.block_on(keep(opened, paths, &path))?
        }
    };
    let said = if *json { problems::json(screen, &saved) } else { get::line(&saved) };
    let _gone = screen.out(&said);
    if let Some(serve) = nobody {
        screen.err(&serve);
    }
    if !before {
        let called = QualifiedName::new(&saved.namespace, &saved.name).word();
        let trigger = store.target()?.with(paths).command(&["cron", "trigger", &called]);
        screen.err(&format!("start it at once with: {trigger}\n"));
    }
    Ok(Exit::Done)
}

async fn keep(
    opened: OpenDocument<'_>,
    paths: &PathArguments,
    path: &Path,
) -> Result<SavedSchedule, Failure> {
    let planned = opened.plan(paths, Some(path)).await?;
    let changing = WritableStore::open(path)?;
    let (store, plan, by) = (&*changing.store, &planned.plan, me());
    let own = plan.cron.as_ref().map(|cron| cron.name.clone()).unwrap_or_default();
    let before = catalog::schedule(store, &plan.namespace, &own).await.map_err(Failure::host)?;
    let written = WrittenDocument { file: &planned.source.text.name, text: &planned.source.text.text };
    let saved = match planned.planning.planner.put_schedule(store, plan, written, by.as_deref()).await {
        Ok(saved) => saved,
        Err(SaveError::Problems(found)) => return Err(planned.source.refuse(&found)),
        Err(error) => return Err(refused(error, store).await),
    };
    Ok((saved, before.is_some(), changing.tell(path, &planned.source.target).await))
}
