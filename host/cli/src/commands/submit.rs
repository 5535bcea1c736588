//! `phasm submit`: puts a run into a store, for a host that serves it.

use clap::Args;

use crate::{
    backend::TargetArguments,
    drive::{self, follow},
    exit::Exit,
    failure::Failure,
    paths::PathArguments,
    submission::{KNOWN_KEY, Submission},
    terminal::screen::Screen,
};

/// Submits a run to a store or a server, and prints its id.
///
/// The workflow file and the parameters are checked as `run` does. Once the id is printed the run is durable, and due for any
/// `phasm serve` of the store, also one that is started later. The exit status is 0, or 2 for errors in the workflow file or the
/// call; with `--wait` it is the run's, like `run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm submit greet.yaml -p name=Ada --store runs.db\n  \
                        phasm submit nightly.yaml --key nightly-2026-11-22 --store postgres://phasm@db/phasm")]
pub(crate) struct SubmitArguments {
    #[command(flatten)]
    submission: Submission,

    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    paths: PathArguments,

    /// Idempotency key: submitting the same twice starts one run, and its id is printed. Another file or other parameters are refused.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Wait until the run has ended, also for people who respond to it, and exit as `run` does.
    #[arg(long)]
    wait: bool,

    /// Print one JSON object to stdout; with `--wait` the run view.
    #[arg(long)]
    json: bool,
}

/// Submits a run.
pub(super) fn submit(arguments: &SubmitArguments, screen: &Screen) -> Result<Exit, Failure> {
    let SubmitArguments { submission, store, paths, key, wait, json } = arguments;
    let outcome = store.backend(paths, screen, *json)?.submit(submission, key.as_deref())?;
    let run_id = outcome.run_id;
    if !(*json && *wait) {
        // The run is submitted, also if nothing reads stdout any more.
        let _closed = screen.out(&if *json { outcome.json } else { format!("{run_id}\n") });
    }
    if !outcome.is_new {
        screen.err(KNOWN_KEY);
    }
    if let Some(hint) = outcome.hint {
        screen.err(&hint);
    }
    if *wait {
        drive::runtime()?.block_on(follow::to_end(store.read()?, &run_id, &store.target()?, *json, screen))
    } else {
        Ok(Exit::Done)
    }
}
