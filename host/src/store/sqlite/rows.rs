//! Reading and writing of single columns and rows that several modules need.

use phasm_engine::{phase::Phase, time::Timestamp};
use rusqlite::{
    Connection, Row,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};

use super::{
    super::{HostId, Labels, RunHead},
    fault::Fault,
};

/// Adds a host that owns runs. Every owner has a row, so that a host that is gone is found without looking at the runs of live hosts.
pub(super) fn add_owner(transaction: &Connection, host: &HostId) -> Result<(), Fault> {
    let mut statement =
        transaction.prepare_cached("INSERT OR IGNORE INTO hosts (host, until) VALUES (?1, 0)")?;
    statement.execute([host.as_str()])?;
    Ok(())
}

/// Reads the seven columns of a run's head, beginning with column `first`.
pub(super) fn head(row: &Row<'_>, first: usize) -> rusqlite::Result<RunHead> {
    Ok(RunHead {
        run_id: row.get(first)?,
        workflow: row.get(first + 1)?,
        namespace: row.get(first + 2)?,
        priority: row.get(first + 3)?,
        submitted_at: Timestamp(row.get(first + 4)?),
        key: row.get(first + 5)?,
        labels: labels(row.get_ref(first + 6)?)?,
    })
}

fn labels(stored: ValueRef<'_>) -> rusqlite::Result<Labels> {
    let Some(text) = stored.as_str_or_null()? else { return Ok(Labels::new()) };
    serde_json::from_str(text).map_err(|error| FromSqlError::Other(error.into()).into())
}

/// Phase of a run by its exact word.
pub(super) struct SqlPhase(pub(super) Phase);

impl FromSql for SqlPhase {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == word);
        phase.map(Self).ok_or_else(|| FromSqlError::Other(format!("there is no phase {word}").into()))
    }
}
