//! Which run of a store is meant: by its id, a part of it, or `@last`.

use std::sync::Arc;

use phasm::store::{Filter, ReadStore, RunRow, StoreError};

use crate::{command_line::Target, failure::Failure, terminal::text};

/// Open runs, or tasks, that a message names at most.
const MAX_NAMED: usize = 10;
/// The run that was submitted last.
const LAST_RUN: &str = "@last";
/// Characters of an id that a part of one has at least.
const MIN_PART_CHARS: usize = 4;
/// Rows looked at in one go.
const PAGE_ROWS: usize = 1000;

/// The id of the run that is meant by an id, by a part that only one id begins or ends with, or by `@last`.
///
/// # Errors
/// When there is none, or when it could be several.
pub(crate) async fn find(reader: &dyn ReadStore, meant: &str, target: &Target) -> Result<Arc<str>, Failure> {
    let mut found = named(reader, meant).await.map_err(Failure::host)?;
    match (found.pop(), found.is_empty()) {
        (Some(row), true) => Ok(Arc::clone(&row.head.run_id)),
        (Some(row), false) => {
            found.push(row);
            let (count, lines) = (found.len(), lines(&found));
            let meant = text::clean(meant);
            Err(Failure::call(format!("{meant} could be any of {count} runs:{lines}")))
        }
        (None, _) => {
            let open = reader.open_runs().await.map_err(Failure::host)?;
            Err(no_such_run(meant, &open, target))
        }
    }
}

async fn named(reader: &dyn ReadStore, meant: &str) -> Result<Vec<RunRow>, StoreError> {
    if meant == LAST_RUN {
        return reader.list(Filter::default(), 1).await;
    }
    if let Some(row) = reader.get(meant).await? {
        return Ok(vec![row]);
    }
    if meant.len() < MIN_PART_CHARS {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut filter = Filter::default();
    loop {
        let rows = reader.list(filter.clone(), PAGE_ROWS).await?;
        let Some(last) = rows.last().map(|row| row.number) else { return Ok(found) };
        filter.before = Some(last);
        found.extend(rows.into_iter().filter(|row| {
            let id = &row.head.run_id;
            id.starts_with(meant) || id.ends_with(meant)
        }));
    }
}

/// There is no run of that name; `open` are those that could be meant instead.
pub(crate) fn no_such_run(name: &str, open: &[RunRow], target: &Target) -> Failure {
    let others = if open.is_empty() {
        format!("no run is open; all runs: {}", target.command(&["list"]))
    } else {
        format!("open runs:{}", lines(open))
    };
    Failure::call(format!("there is no run {}; {others}", text::clean(name)))
}

/// A line for each run, those that a message names at most.
pub(crate) fn lines(rows: &[RunRow]) -> String {
    let line = |row: &RunRow| {
        let (head, phase) = (&row.head, row.status.phase);
        format!("\n  {}  {} {phase}", head.run_id, text::clean(&head.workflow))
    };
    listed(rows.iter().map(line).collect(), "")
}

/// The first of many.
pub(crate) fn listed(mut names: Vec<String>, separator: &str) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let more = if more == 0 { String::new() } else { format!(" … and {more} more") };
    format!("{}{more}", names.join(separator))
}
