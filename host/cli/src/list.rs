//! `phasm list`: the runs of a store.

use clap::Args;
use phasm::{
    engine::{phase::Phase, time::Timestamp},
    store::{Filter, ReadStore as _, RunRow},
};
use serde::Serialize;

use super::{
    drive::runtime, exit::Exit, failure::Failure, problems, screen::Screen, stored::StoreArgument, text,
};

/// Lists the runs of a store, the newest first, whoever drives them.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm list --store runs.db\n  phasm list --store runs.db --open\n  \
                        phasm list --store runs.db --workflow release --phase Failed --json")]
pub(super) struct ListArguments {
    #[command(flatten)]
    store: StoreArgument,

    /// Only runs that have not ended.
    #[arg(long)]
    open: bool,

    /// Only runs of this workflow.
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,

    /// Only runs in this phase.
    #[arg(long, value_name = "PHASE", value_parser = phase, conflicts_with = "open")]
    phase: Option<Phase>,

    /// The most to list.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

fn phase(text: &str) -> Result<Phase, String> {
    let found = Phase::ALL.into_iter().find(|phase| phase.as_str().eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("expected one of {}", Phase::ALL.map(Phase::as_str).join(", ")))
}

/// One run for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'r> {
    #[serde(rename = "runID")]
    run_id: &'r str,
    workflow: &'r str,
    namespace: &'r str,
    phase: Phase,
    open: bool,
    priority: u16,
    submitted_at: String,
    finished_at: Option<String>,
}

impl<'r> From<&'r RunRow> for Entry<'r> {
    fn from(RunRow { head, status, .. }: &'r RunRow) -> Self {
        Self {
            run_id: &head.run_id,
            workflow: &head.workflow,
            namespace: &head.namespace,
            phase: status.phase,
            open: status.open,
            priority: head.priority,
            submitted_at: head.submitted_at.to_rfc3339(),
            finished_at: status.finished_at.map(Timestamp::to_rfc3339),
        }
    }
}

/// Lists runs.
pub(super) fn list(arguments: &ListArguments, screen: &Screen) -> Result<Exit, Failure> {
    let rows = rows(arguments)?;
    let page = if arguments.json {
        problems::json(screen, &rows.iter().map(Entry::from).collect::<Vec<_>>())
    } else {
        rows.iter().map(line).collect()
    };
    if rows.is_empty() {
        screen.err("no run fits\n");
    }
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn rows(arguments: &ListArguments) -> Result<Vec<RunRow>, Failure> {
    let ListArguments { store, open, workflow, phase, limit, .. } = arguments;
    let reader = store.read()?;
    let filter = Filter { workflow: workflow.as_deref().map(Into::into), phase: *phase, ..Filter::default() };
    let found = runtime()?.block_on(async {
        if !open {
            return reader.list(filter, *limit).await;
        }
        let mut rows = reader.open_runs().await?;
        rows.retain(|row| workflow.as_deref().is_none_or(|name| name == row.head.workflow.as_ref()));
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.number));
        rows.truncate(*limit);
        Ok(rows)
    });
    found.map_err(Failure::host)
}

/// The run, its phase, when it was submitted, how long it took, its workflow.
fn line(RunRow { head, status, .. }: &RunRow) -> String {
    let took = status.finished_at.map(|end| text::elapsed(end.since(head.submitted_at)));
    let phase = text::styled(text::colour(status.phase), format_args!("{:<9}", status.phase.as_str()));
    format!(
        "{}  {phase}  {}  {:>12}  {}\n",
        text::clean(&head.run_id),
        head.submitted_at.to_rfc3339(),
        took.as_deref().unwrap_or("open"),
        text::clean(&head.workflow)
    )
}
