//! Reading and writing of single columns and rows that several modules need.

use std::sync::Arc;

use phasm_engine::{phase::Phase, time::Timestamp};
use rusqlite::{
    Connection, Result, Row,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};

use super::{
    super::{HostId, Labels, Note, Rest, RunHead, RunRow, RunStatus, row::Soundness},
    fault::Fault,
};

/// Columns of a run, and whether its three parts are as they were written.
pub(super) const COLUMNS: &str =
    "number, run_id, workflow, namespace, priority, submitted_at, key, labels, phase, finished_at, open, seq,
    owner, wake_at, rest, rests_until, note, noted_at, remark,
    head_checksum IS row_checksum(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document),
    state_checksum IS row_checksum(number, seq, last_record, phase, finished_at, open, rest, rests_until, remark),
    lease_checksum IS row_checksum(number, epoch, owner, wake_at, note, noted_at)";

/// Adds a host that owns runs. Every owner has a row, so that a host that is gone is found without looking at the runs of live hosts.
pub(super) fn add_owner(transaction: &Connection, host: &HostId) -> Result<(), Fault> {
    let mut statement =
        transaction.prepare_cached("INSERT OR IGNORE INTO hosts (host, until) VALUES (?1, 0)")?;
    statement.execute([host.as_str()])?;
    Ok(())
}

/// Reads a row of [`COLUMNS`]. One that is damaged has placeholders for the values that are not to be believed.
pub(super) fn run(row: &Row<'_>) -> Result<RunRow> {
    let soundness = Soundness { head: row.get(19)?, state: row.get(20)?, lease: row.get(21)? };
    let number = row.get::<_, i64>(0)?.unsigned_abs();
    let head = Some(row).filter(|_| soundness.head).and_then(|row| head(row, 1).ok());
    let state = Some(row).filter(|_| soundness.state).and_then(|row| state(row).ok());
    let lease = Some(row).filter(|_| soundness.lease).and_then(|row| lease(row).ok());
    let has_ended = state.is_some_and(|(status, _)| !status.open);
    let soundness = Soundness { head: head.is_some(), state: state.is_some(), lease: lease.is_some() };
    let soundness = if has_ended { soundness.without_lease() } else { soundness };
    let head = head.unwrap_or_else(|| RunHead::damaged(lossy(row, 1), lossy(row, 3)));
    let (status, seq) = state.unwrap_or_else(|| (RunStatus::damaged(row.get(10).unwrap_or(true)), 0));
    let remark = if soundness.state { row.get(18)? } else { None };
    let (owner, wake_at, note) = lease.unwrap_or_default();
    let damaged = soundness.complaint();
    Ok(RunRow { number, head: Arc::new(head), status, seq, owner, wake_at, note, remark, damaged })
}

fn time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column).map(|time| time.map(Timestamp))
}

fn state(row: &Row<'_>) -> Result<(RunStatus, u64)> {
    let rest = |parked| Ok::<_, rusqlite::Error>(Rest { parked, until: time(row, 15)? });
    let status = RunStatus {
        phase: row.get::<_, SqlPhase>(8)?.0,
        finished_at: time(row, 9)?,
        open: row.get(10)?,
        rest: row.get::<_, Option<bool>>(14)?.map(rest).transpose()?,
    };
    Ok((status, row.get(11)?))
}

fn lease(row: &Row<'_>) -> Result<(Option<HostId>, Option<Timestamp>, Option<Note>)> {
    let owner: Option<String> = row.get(12)?;
    let since = time(row, 17)?.unwrap_or_default();
    let note = row.get::<_, Option<String>>(16)?.map(|why| Note { why: why.into(), since });
    Ok((owner.map(|owner| HostId::from(owner.as_str())), time(row, 13)?, note))
}

/// Returns a text as far as it is one.
pub(super) fn lossy(row: &Row<'_>, column: usize) -> String {
    let bytes = row.get_ref(column).ok().and_then(|value| value.as_bytes().ok()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads the seven columns of a run's head, beginning with column `first`.
pub(super) fn head(row: &Row<'_>, first: usize) -> Result<RunHead> {
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

/// Same as [`head`], for a lease of the run: a damaged run cannot be loaded, so that the lease is given back with the reason.
pub(super) fn leased_head(row: &Row<'_>, first: usize) -> RunHead {
    head(row, first).unwrap_or_else(|_| RunHead::damaged(lossy(row, first), lossy(row, first + 2)))
}

fn labels(stored: ValueRef<'_>) -> Result<Labels> {
    let Some(text) = stored.as_str_or_null()? else { return Ok(Labels::new()) };
    serde_json::from_str(text).map_err(|error| FromSqlError::Other(error.into()).into())
}

/// Phase of a run by its exact word.
struct SqlPhase(Phase);

impl FromSql for SqlPhase {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == word);
        phase.map(Self).ok_or_else(|| FromSqlError::Other(format!("there is no phase {word}").into()))
    }
}
