//! `phasm submit`: puts a run into a store, for a host that serves it.

use std::{path::Path, sync::Arc};

use clap::Args;
use phasm::{SubmitError, Watch, engine::run::RunView, store::StoreError, store::view::SubmittedView};

use super::{
    drive,
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    problems,
    remote::RemoteCommands,
    screen::Screen,
    store_argument,
    submission::{ReadySubmission, Submission, UnplannedSubmission},
    target::TargetArguments,
    writable_store::WritableStore,
};

/// Puts a run into a store without driving it, and prints its id.
///
/// The document and the parameters are checked as `run` does. Once the id is printed the run is durable, and due for any
/// `phasm serve` of the store, also one that is started later. The exit status is 0, or 2 for problems in the document or the
/// call; with `--wait` the run's, as of `run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm submit greet.yaml -p name=Ada --store runs.db\n  \
                        phasm submit nightly.yaml --key nightly-2026-11-22 --store postgres://phasm@db/phasm")]
pub(super) struct SubmitArguments {
    #[command(flatten)]
    submission: Submission,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// What you call this submission: of several with one key in a namespace there is one run, and its id is printed.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Stay until the run has ended, whoever drives it, and end as `run` does.
    #[arg(long)]
    wait: bool,

    /// Print one JSON object to stdout; with `--wait` the run view.
    #[arg(long)]
    json: bool,
}

/// Submits a run.
pub(super) fn submit(arguments: &SubmitArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SubmitArguments { submission, store, paths, json, .. } = arguments;
    let runtime = drive::runtime()?;
    let run_id = match store.remote()? {
        Some(remote) => {
            let asking = RemoteCommands { remote, json: *json, screen };
            runtime.block_on(send(arguments, &asking))?
        }
        None => {
            let path = store.store.named()?;
            let read = submission.read(paths, screen, *json)?;
            runtime.block_on(keep(arguments, read, &path, screen))?
        }
    };
    if arguments.wait { runtime.block_on(follow(arguments, &run_id, screen)) } else { Ok(Exit::Done) }
}

/// Has a server keep it.
async fn send(arguments: &SubmitArguments, asking: &RemoteCommands<'_>) -> Result<Arc<str>, Failure> {
    let (run_id, said) = asking.submit(&arguments.submission, arguments.key.as_deref()).await?;
    let shown = if arguments.json { problems::json(asking.screen, &said) } else { format!("{run_id}\n") };
    tell_submitted(arguments, &shown, said.get("isNew") != Some(&false.into()), asking.screen);
    Ok(run_id)
}

/// It is submitted, whether somebody reads that or not.
fn tell_submitted(arguments: &SubmitArguments, said: &str, is_new: bool, screen: &Screen) {
    if !(arguments.json && arguments.wait) {
        let _gone = screen.out(said);
    }
    if !is_new {
        screen.err("a run with this key had been submitted before; nothing was changed\n");
    }
}

/// Waits for the end of a run that others drive.
async fn follow(arguments: &SubmitArguments, run_id: &str, screen: &Screen) -> Result<Exit, Failure> {
    let target = arguments.store.target()?;
    let failed = |error| store_argument::failed(error, &target);
    let mut watch = Watch::of(arguments.store.read()?.shared(), run_id, 0);
    while watch.next().await.map_err(failed)?.is_some() {}
    store_argument::tell_orphaned(&watch, &target, screen);
    let Some(run) = watch.run() else { return Ok(Exit::Parked) };
    let said = if arguments.json {
        problems::json(screen, &RunView::of(run))
    } else {
        drive::summary(run, "open", Some(&target))
    };
    let _gone = screen.out(&said);
    Ok(run.phase().into())
}

async fn keep(
    arguments: &SubmitArguments,
    read: UnplannedSubmission<'_>,
    path: &Path,
    screen: &Screen,
) -> Result<Arc<str>, Failure> {
    let ReadySubmission { planned, given } = read.check(&arguments.paths, Some(path)).await?;
    let changing = WritableStore::open(path)?;
    let key = arguments.key.as_deref();
    let submitted = planned.planning.planner.enqueue(&*changing.store, &planned.plan, &given, key).await;
    let nobody = changing.tell(path, &planned.source.target).await;
    let (run_id, is_new) = match submitted {
        Ok(run_id) => (run_id, true),
        Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
        Err(error) => return Err(planned.source.refused(&planned.plan, error)),
    };
    let said = if arguments.json {
        problems::json(screen, &SubmittedView { run_id: &run_id, workflow: &planned.plan.name, is_new })
    } else {
        format!("{run_id}\n")
    };
    tell_submitted(arguments, &said, is_new, screen);
    if let Some(serve) = nobody {
        screen.err(&serve);
    }
    Ok(run_id)
}
