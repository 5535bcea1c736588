//! Which run of a store is meant: by its id, a part of it, or `@last`.

use std::sync::Arc;

use phasm::store::{Filter, ReadStore, RunRow, StoreError};

use super::{
    failure::Failure,
    hint::Way,
    stored::{self, no_such_run},
    text,
};

/// The run that was submitted last.
const LAST: &str = "@last";
/// Characters of an id that a part of one has at least.
const SHORTEST: usize = 4;
/// Rows looked at in one go.
const PAGE: usize = 1000;

/// The id of the run that is meant by an id, by a part that only one id begins or ends with, or by `@last`.
///
/// # Errors
/// When there is none, or when it could be several.
pub(super) async fn find(reader: &dyn ReadStore, meant: &str, way: &Way) -> Result<Arc<str>, Failure> {
    let mut found = named(reader, meant).await.map_err(Failure::host)?;
    match (found.pop(), found.is_empty()) {
        (Some(row), true) => Ok(Arc::clone(&row.head.run_id)),
        (Some(row), false) => {
            found.push(row);
            let (count, lines) = (found.len(), stored::lines(&found));
            let meant = text::clean(meant);
            Err(Failure::call(format!("{meant} could be any of {count} runs:{lines}")))
        }
        (None, _) => {
            let open = reader.open_runs().await.map_err(Failure::host)?;
            Err(no_such_run(meant, &open, way))
        }
    }
}

async fn named(reader: &dyn ReadStore, meant: &str) -> Result<Vec<RunRow>, StoreError> {
    if meant == LAST {
        return reader.list(Filter::default(), 1).await;
    }
    if let Some(row) = reader.get(meant).await? {
        return Ok(vec![row]);
    }
    if meant.len() < SHORTEST {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut filter = Filter::default();
    loop {
        let rows = reader.list(filter.clone(), PAGE).await?;
        let Some(last) = rows.last().map(|row| row.number) else { return Ok(found) };
        filter.before = Some(last);
        found.extend(rows.into_iter().filter(|row| {
            let id = &row.head.run_id;
            id.starts_with(meant) || id.ends_with(meant)
        }));
    }
}
