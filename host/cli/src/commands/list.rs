//! `phasm list`: the runs of a store.

mod waiting_tasks;

use std::{collections::BTreeSet, sync::Arc};

use clap::Args;
use phasm::{
    clock::Clock,
    engine::phase::Phase,
    store::view::{Presence, RowView, RowWaits, RunState},
    store::{Filter, ReadStore, RunRow, StoreError},
};

use crate::{
    backend::TargetArguments,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    input::times::{self, Since},
    problems,
    terminal::{screen::Screen, text, waiting},
};

/// Characters of the reason for an end at most.
const MAX_REASON_CHARS: usize = 60;
/// Advice for those who look for runs that wait.
const WAITING_HINT: &str = "`--waiting` lists the runs that wait for a response";

/// Lists the runs of a store, the newest first.
///
/// STATE is `ended`; `running` in a process; `waiting` for a response or for its next time, as NOTE says; `queued`: no process has
/// begun it; `orphaned`: no process runs it any more, so it waits for `phasm recover`; or `damaged` in the store, which ends the command with status 3. With `--json` it is
/// `status`, with `suspended` for a run that waits for a response; `state`, with `driven` for `running` and `parked` for `suspended`, is deprecated.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm list --store runs.db\n  phasm list --store runs.db --open\n  \
                        phasm list --store runs.db --waiting\n  \
                        phasm list --store runs.db --workflow release --phase Failed --since 2d --json\n  \
                        phasm list --store runs.db --namespace acme --label team=data --limit 20")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    store: TargetArguments,

    #[command(flatten)]
    wanted: RunFilter,

    /// Only runs with tasks that wait for a response, with these tasks and their questions.
    ///
    /// The journal of each open run is read until there are as many as `--limit` says.
    #[arg(long)]
    waiting: bool,

    /// The most to list.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,

    /// Print one JSON array to stdout.
    #[arg(long)]
    json: bool,
}

/// Which runs.
#[derive(Args, Debug)]
struct RunFilter {
    /// Only runs that have not ended.
    #[arg(long)]
    open: bool,

    /// Only runs of this workflow.
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,

    /// Only runs in this namespace.
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,

    /// Only runs in this phase.
    #[arg(long, value_name = "PHASE", value_parser = phase_of_run)]
    phase: Option<Phase>,

    /// Only runs with this label, as `KEY=VALUE`.
    #[arg(long, value_name = "LABEL", value_parser = label)]
    label: Option<(Arc<str>, Arc<str>)>,

    /// Only runs submitted before this one, which is the next page after the one that ended with it: an id as `list` shows it.
    #[arg(long, value_name = "RUN")]
    before: Option<String>,

    /// Only runs submitted since then: `2h` ago, the day `2026-11-20` or the time `2026-11-20T08:00:00Z`, in UTC.
    #[arg(long, value_name = "TIME", value_parser = times::since)]
    since: Option<Since>,
}

pub(super) fn phase(text: &str) -> Result<Phase, String> {
    let found = Phase::ALL.into_iter().find(|phase| phase.as_str().eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("expected one of {}", Phase::ALL.map(Phase::as_str).join(", ")))
}

fn phase_of_run(text: &str) -> Result<Phase, String> {
    phase(text).map_err(|why| format!("{why}; {WAITING_HINT}"))
}

fn label(text: &str) -> Result<(Arc<str>, Arc<str>), String> {
    let split = text.split_once('=').filter(|(key, _)| !key.is_empty());
    split
        .map(|(key, value)| (key.into(), value.into()))
        .ok_or_else(|| "expected such as `team=data`".to_owned())
}

/// Lists runs.
pub(super) fn list(arguments: &ListArguments, screen: &Screen) -> Result<Exit, Failure> {
    if arguments.waiting {
        return waiting_tasks::list(arguments, screen);
    }
    let rows = rows(arguments)?;
    let page = if arguments.json {
        problems::json(screen, &rows.iter().map(|(row, state)| RowView::of(row, *state)).collect::<Vec<_>>())
    } else {
        table(&rows)
    };
    if rows.is_empty() {
        let is_for_waiting = arguments.wanted.phase == Some(Phase::Suspended);
        let hint = if is_for_waiting { format!("; {WAITING_HINT}") } else { String::new() };
        screen.err(&format!("no matching runs{hint}\n"));
    }
    if let Some((last, _)) = rows.last().filter(|_| rows.len() == arguments.limit && !arguments.json) {
        screen.err(&format!("there may be more: add --before {}\n", last.head.run_id));
    }
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(tell_damaged(screen, rows.iter().map(|(row, _)| row)))
}

/// Names the damaged ones of runs. Returns the status to exit with.
pub(super) fn tell_damaged<'r>(screen: &Screen, rows: impl Iterator<Item = &'r RunRow>) -> Exit {
    let mut exit = Exit::Done;
    for RunRow { number, head, damaged, .. } in rows {
        let Some(damaged) = damaged else { continue };
        let run = text::clean(&head.run_id);
        screen.err(&format!(
            "{} run {run} (number {number}) is damaged: {damaged}; to delete it, end it with `phasm abandon {run}` first\n",
            text::bad("error:")
        ));
        exit = Exit::Error;
    }
    exit
}

fn rows(arguments: &ListArguments) -> Result<Vec<(RunRow, RunState)>, Failure> {
    let ListArguments { store, wanted, limit, .. } = arguments;
    let reader = store.read()?;
    let is_held = reader.is_held();
    let found = runtime()?.block_on(async {
        let rows = wanted.of(&*reader, *limit).await?;
        let presence = Presence::of(&*reader, is_held, &rows).await?;
        Ok::<_, StoreError>((rows, presence))
    });
    let (rows, presence) = found.map_err(Failure::host)?;
    let state = |row: RunRow| {
        let state = presence.state(&row);
        (row, state)
    };
    Ok(rows.into_iter().map(state).collect())
}

impl RunFilter {
    /// The newest of them.
    async fn of(&self, reader: &dyn ReadStore, limit: usize) -> Result<Vec<RunRow>, StoreError> {
        reader.list(self.filter(reader).await?, limit).await
    }

    async fn filter(&self, reader: &dyn ReadStore) -> Result<Filter, StoreError> {
        let before = match &self.before {
            Some(run_id) => {
                let not_found = || StoreError::NotFound { run_id: run_id.as_str().into() };
                Some(reader.get(run_id).await?.ok_or_else(not_found)?.number)
            }
            None => None,
        };
        Ok(Filter {
            namespaces: self.namespace.as_deref().map(Into::into).into_iter().collect(),
            workflow: self.workflow.as_deref().map(Into::into),
            phase: self.phase,
            since: self.since.map(|since| since.instant(Clock::start().now())),
            label: self.label.clone(),
            open: self.open,
            before,
            ..Filter::default()
        })
    }
}

/// A line for each run under a header, in columns; that of namespaces only where there are several.
fn table(rows: &[(RunRow, RunState)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let header =
        ["RUN", "STATE", "PHASE", "SUBMITTED", "TOOK", "NAMESPACE", "WORKFLOW", "NOTE"].map(text::dim);
    let all: Vec<_> =
        [header].into_iter().chain(rows.iter().map(|(row, state)| cells(row, *state))).collect();
    let namespaces: BTreeSet<_> = rows.iter().map(|(row, _)| &row.head.namespace).collect();
    if namespaces.len() > 1 {
        return text::columns(&all);
    }
    let without = |[run, state, phase, submitted, took, _, workflow, waits]: [String; 8]| {
        [run, state, phase, submitted, took, workflow, waits]
    };
    text::columns(&all.into_iter().map(without).collect::<Vec<_>>())
}

fn cells(row: &RunRow, state: RunState) -> [String; 8] {
    let RunRow { head, status, .. } = row;
    let is_damaged = row.damaged.is_some();
    let took = status.finished_at.map(|end| text::elapsed(end.since(head.submitted_at)));
    let waits = RowWaits::of(row, state).map(|waits| waiting::note_of_row(&waits));
    // A remark on a good end is short, and belongs to its phase; the reason for another end is a sentence.
    let (remark, reason) = if status.phase == Phase::Succeeded {
        (row.remark.as_deref(), None)
    } else {
        (None, row.remark.as_deref().map(|reason| text::short(reason, MAX_REASON_CHARS).into_owned()))
    };
    [
        text::clean(&head.run_id).into_owned(),
        if is_damaged { "damaged".to_owned() } else { state.for_people().to_owned() },
        if is_damaged {
            "?".to_owned()
        } else {
            text::remarked(text::phase(status.phase), remark.as_slice())
        },
        if is_damaged { "?".to_owned() } else { head.submitted_at.to_rfc3339() },
        took.unwrap_or_else(|| "-".to_owned()),
        text::clean(&head.namespace).into_owned(),
        text::clean(&head.workflow).into_owned(),
        waits.or(reason).unwrap_or_default(),
    ]
}
