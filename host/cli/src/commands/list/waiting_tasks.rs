//! `phasm list --waiting`: the tasks of open runs that wait for a response, and their questions.

use phasm::{
    clock::Clock,
    engine::{
        run::{Run, TaskRun},
        time::Timestamp,
    },
    store::view::{Presence, RowView, RunState},
    store::{Filter, ReadStore, RunRow, StoreError},
};
use serde::Serialize;

use super::ListArguments;
use crate::{
    command_line::Target,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    problems,
    store::{question::Question, runs},
    terminal::{screen::Screen, text},
};

/// Number of rows that are read at a time.
const PAGE: usize = 100;
/// Most characters of a question in the table.
const MAX_QUESTION_CHARS: usize = 100;

/// A run with tasks that wait.
struct WaitingRun {
    row: RunRow,
    state: RunState,
    tasks: Vec<WaitingTask>,
}

impl WaitingRun {
    fn view(&self) -> WaitingRunView<'_> {
        WaitingRunView { row: RowView::of(&self.row, self.state), tasks: &self.tasks }
    }
}

/// JSON form of a [`WaitingRun`].
#[derive(Serialize)]
struct WaitingRunView<'r> {
    #[serde(flatten)]
    row: RowView<'r>,
    /// The tasks that wait for a response.
    tasks: &'r [WaitingTask],
}

/// A task that waits for a response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitingTask {
    /// `scope/taskName`.
    task: String,
    #[serde(rename = "taskRunID")]
    task_run_id: String,
    question: String,
    /// RFC 3339.
    since: Option<String>,
    /// RFC 3339.
    until: Option<String>,
    /// The commands that respond.
    commands: Vec<String>,
    #[serde(skip)]
    waits_since: Option<Timestamp>,
}

impl WaitingTask {
    fn of(run: &Run, task: &TaskRun, target: &Target) -> Self {
        let question = Question::of(run, task);
        let waits_since = run.waiting(task).map(|waiting| waiting.since);
        Self {
            task: run.path(task),
            task_run_id: run.task_run_id(task.id),
            question: question.words(),
            since: waits_since.map(Timestamp::to_rfc3339),
            until: task.clocks.absolute().map(Timestamp::to_rfc3339),
            commands: question.command_lines(target),
            waits_since,
        }
    }
}

/// Lists the tasks that wait.
pub(super) fn list(arguments: &ListArguments, screen: &Screen) -> Result<Exit, Failure> {
    let reader = arguments.store.read()?;
    let is_held = reader.is_held();
    let target = arguments.store.target()?;
    let found = runtime()?.block_on(async {
        let filter = Filter { open: true, ..arguments.wanted.filter(&*reader).await? };
        waiting_runs(&*reader, filter, arguments.limit, is_held, &target, screen).await
    });
    let found = found.map_err(Failure::host)?;
    let page = if arguments.json {
        problems::json(screen, &found.iter().map(WaitingRun::view).collect::<Vec<_>>())
    } else {
        table(&found, Clock::start().now())
    };
    match found.last() {
        None => screen.err("no task waits for a response\n"),
        Some(last) if found.len() == arguments.limit && !arguments.json => {
            screen.err(&format!("there may be more: add --before {}\n", last.row.head.run_id));
        }
        Some(_) => {}
    }
    // A closed stdout ends the output.
    let _gone = screen.out(&page);
    Ok(Exit::Done)
}

async fn waiting_runs(
    reader: &dyn ReadStore,
    mut filter: Filter,
    limit: usize,
    is_held: bool,
    target: &Target,
    screen: &Screen,
) -> Result<Vec<WaitingRun>, StoreError> {
    let mut found = Vec::new();
    loop {
        let rows = reader.list(filter.clone(), PAGE).await?;
        let is_last = rows.len() < PAGE;
        let presence = Presence::of(reader, is_held, &rows).await?;
        filter.before = rows.last().map(|row| row.number);
        for row in rows {
            if found.len() == limit {
                return Ok(found);
            }
            let state = presence.state(&row);
            match runs::recorded(reader, &row.head.run_id).await {
                Ok(run) => {
                    let waiting = run.tasks().iter().filter(|task| runs::is_suspended(task));
                    let tasks: Vec<_> = waiting.map(|task| WaitingTask::of(&run, task, target)).collect();
                    if !tasks.is_empty() {
                        found.push(WaitingRun { row, state, tasks });
                    }
                }
                // Others are listed all the same.
                Err(error) => screen.err(&format!("{} {error}\n", text::doubtful("warning:"))),
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}

/// A line for each task, and below it the commands that respond.
fn table(found: &[WaitingRun], now: Timestamp) -> String {
    let rows = found.iter().flat_map(|WaitingRun { row, tasks, .. }| {
        tasks.iter().map(|task| {
            [
                text::clean(&row.head.run_id).into_owned(),
                text::clean(&row.head.workflow).into_owned(),
                task.task.clone(),
                task.waits_since
                    .map(|since| format!("{} ago", text::elapsed(now.since(since))))
                    .unwrap_or_default(),
                task.until.clone().unwrap_or_else(|| "-".to_owned()),
                text::short(&task.question, MAX_QUESTION_CHARS).into_owned(),
            ]
        })
    });
    let commands = found.iter().flat_map(|run| &run.tasks).flat_map(|task| &task.commands);
    let commands: String = commands.map(|command| format!("{command}\n")).collect();
    format!("{}{commands}", text::table(["RUN", "WORKFLOW", "TASK", "SINCE", "UNTIL", "QUESTION"], rows))
}
