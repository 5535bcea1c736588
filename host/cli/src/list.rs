//! `phasm list`: the runs of a store.

use clap::Args;
use phasm::{
    clock::Clock,
    engine::{phase::Phase, time::Timestamp},
    store::{Filter, ReadStore, RunRow, StoreError},
};
use serde::Serialize;

use super::{
    drive::runtime,
    exit::Exit,
    failure::Failure,
    problems,
    screen::Screen,
    state::State,
    stored::StoreArgument,
    text,
    times::{self, Since},
};

/// Lists the runs of a store, the newest first, whoever drives them.
///
/// STATE says who goes on with a run: `ended` nobody; `driven` a process that holds the store; `parked` whoever answers its
/// suspended tasks; `waiting` the process that holds the store, in time; `orphaned` nobody, until it is recovered.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm list --store runs.db\n  phasm list --store runs.db --open\n  \
                        phasm list --store runs.db --workflow release --phase Failed --since 2d --json")]
pub(super) struct ListArguments {
    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    wanted: Wanted,

    /// The most to list.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Which runs.
#[derive(Args, Debug)]
struct Wanted {
    /// Only runs that have not ended.
    #[arg(long)]
    open: bool,

    /// Only runs of this workflow.
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,

    /// Only runs in this phase.
    #[arg(long, value_name = "PHASE", value_parser = phase)]
    phase: Option<Phase>,

    /// Only runs submitted since then: `2h` ago, the day `2026-11-20` or the instant `2026-11-20T08:00:00Z`, in UTC.
    #[arg(long, value_name = "TIME", value_parser = times::since)]
    since: Option<Since>,
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
    state: &'static str,
    priority: u16,
    submitted_at: String,
    finished_at: Option<String>,
}

impl<'r> From<&'r (RunRow, State)> for Entry<'r> {
    fn from((RunRow { head, status, .. }, state): &'r (RunRow, State)) -> Self {
        Self {
            run_id: &head.run_id,
            workflow: &head.workflow,
            namespace: &head.namespace,
            phase: status.phase,
            open: status.open,
            state: state.word(),
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
        table(&rows)
    };
    if rows.is_empty() {
        screen.err("no run fits\n");
    }
    // Whoever has stopped reading wants no more.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

fn rows(arguments: &ListArguments) -> Result<Vec<(RunRow, State)>, Failure> {
    let ListArguments { store, wanted, limit, .. } = arguments;
    let reader = store.read()?;
    let is_held = reader.is_held();
    let found = runtime()?.block_on(wanted.of(&*reader, *limit)).map_err(Failure::host)?;
    let state = |row: RunRow| {
        let state = State::of(&row, is_held);
        (row, state)
    };
    Ok(found.into_iter().map(state).collect())
}

impl Wanted {
    /// The newest of them.
    async fn of(&self, reader: &dyn ReadStore, limit: usize) -> Result<Vec<RunRow>, StoreError> {
        let mut rows = if self.open {
            let mut rows = reader.open_runs().await?;
            rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.number));
            rows
        } else {
            let workflow = self.workflow.as_deref().map(Into::into);
            reader.list(Filter { workflow, phase: self.phase, ..Filter::default() }, limit).await?
        };
        let since = self.since.map(|since| since.instant(Clock::start().now()));
        rows.retain(|RunRow { head, status, .. }| {
            self.workflow.as_deref().is_none_or(|name| name == head.workflow.as_ref())
                && self.phase.is_none_or(|phase| phase == status.phase)
                && since.is_none_or(|since| head.submitted_at >= since)
        });
        rows.truncate(limit);
        Ok(rows)
    }
}

/// A line for each run under a header, in columns.
fn table(rows: &[(RunRow, State)]) -> String {
    let cells = |(RunRow { head, status, .. }, state): &(RunRow, State)| {
        let took = status.finished_at.map(|end| text::elapsed(end.since(head.submitted_at)));
        [
            text::clean(&head.run_id).into_owned(),
            state.word().to_owned(),
            text::phase(status.phase),
            head.submitted_at.to_rfc3339(),
            took.unwrap_or_else(|| "-".to_owned()),
            text::clean(&head.workflow).into_owned(),
        ]
    };
    if rows.is_empty() {
        return String::new();
    }
    let header = ["RUN", "STATE", "PHASE", "SUBMITTED", "TOOK", "WORKFLOW"].map(text::dim);
    let rows: Vec<_> = [header].into_iter().chain(rows.iter().map(cells)).collect();
    text::columns(&rows)
}
