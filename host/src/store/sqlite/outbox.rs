//! Notifications about runs.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    super::{NewNotice, NoticeId, NoticeRow, Notices, Settle},
    fault::Fault,
    rows,
};

/// Condition that a row is as it was written. No host acts on another.
const SOUND: &str = "checksum IS row_checksum(run_id, seq, endpoint, revision, due, body)";
const COLUMNS: &str = "run_id, seq, endpoint, revision, due, body";

/// `due_notices` of a store.
pub(super) fn due(connection: &Connection, endpoint: &str, limit: usize) -> Result<Vec<NoticeRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {SOUND} FROM notices WHERE endpoint = ?1 AND due IS NOT NULL AND {SOUND} ORDER BY due, run_id, seq LIMIT ?2"
    ))?;
    let rows = statement.query_map(params![endpoint, most(limit)], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `endpoint_after` of a store.
pub(super) fn endpoint_after(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<(Arc<str>, Timestamp)>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT endpoint, (SELECT due FROM notices WHERE endpoint = found.endpoint AND due IS NOT NULL ORDER BY due DESC LIMIT 1)
         FROM notices AS found WHERE due IS NOT NULL AND endpoint > ?1 AND {SOUND} ORDER BY endpoint LIMIT 1",
    ))?;
    let found = statement.query_row([endpoint], |row| Ok((row.get(0)?, Timestamp(row.get(1)?))));
    Ok(found.optional()?)
}

/// `notices` of a store.
pub(super) fn notices(connection: &Connection, wanted: &Notices) -> Result<Vec<NoticeRow>, Fault> {
    let Notices { run_id, endpoint, before, limit } = wanted;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {SOUND} FROM notices WHERE run_id = ?1 AND (?2 IS NULL OR endpoint = ?2) AND seq < ?3
         ORDER BY seq DESC, endpoint DESC LIMIT ?4"
    ))?;
    let before = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let rows = statement.query_map(params![run_id, endpoint, before, most(*limit)], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notices that come with a record; how many bytes they say.
pub(super) fn add(
    transaction: &Connection,
    run_id: &Arc<str>,
    notices: &[NewNotice],
) -> Result<usize, Fault> {
    for NewNotice { seq, endpoint, due, body } in notices {
        let mut insert = transaction.prepare_cached(
            "INSERT OR REPLACE INTO notices (run_id, seq, endpoint, revision, due, body, checksum)
             VALUES (?1, ?2, ?3, 1, ?4, ?5, row_checksum(?1, ?2, ?3, 1, ?4, ?5))",
        )?;
        insert.execute(params![run_id, seq, endpoint, due.0, body])?;
    }
    Ok(notices.iter().map(|notice| notice.body.len()).sum())
}

/// `settle` of a store.
pub(super) fn settle(transaction: &Connection, settle: &Settle) -> Result<bool, Fault> {
    let Settle { id: NoticeId { run_id, seq, endpoint }, from, due, body } = settle;
    let mut update = transaction.prepare_cached(
        "UPDATE notices SET revision = revision + 1, due = ?5, body = ?6, checksum = row_checksum(?1, ?2, ?3, ?4 + 1, ?5, ?6)
         WHERE run_id = ?1 AND seq = ?2 AND endpoint = ?3 AND revision = ?4",
    )?;
    let changed = update.execute(params![run_id, seq, endpoint, from, due.map(|due| due.0), body])?;
    if due.is_none() {
        let mut forget = transaction.prepare_cached(
            "DELETE FROM notices WHERE run_id = ?1 AND seq = ?2 AND endpoint = ?3 AND due IS NULL
                 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = ?1)",
        )?;
        forget.execute(params![run_id, seq, endpoint])?;
    }
    Ok(changed == 1)
}

/// A run is deleted: what is to be delivered stays.
pub(super) fn forget(transaction: &Connection, run_id: &str) -> Result<(), Fault> {
    let mut forget = transaction.prepare_cached("DELETE FROM notices WHERE run_id = ?1 AND due IS NULL")?;
    forget.execute([run_id])?;
    Ok(())
}

/// The order is that of `COLUMNS`.
fn row(row: &Row<'_>) -> rusqlite::Result<NoticeRow> {
    let is_sound: bool = row.get(6)?;
    let text = |column| rows::lossy(row, column).into();
    let id = NoticeId { run_id: text(0), seq: row.get(1).unwrap_or(0), endpoint: text(2) };
    let due = row.get::<_, Option<i64>>(4)?.map(Timestamp);
    Ok(NoticeRow { id, revision: row.get(3).unwrap_or(0), due, body: text(5), damaged: !is_sound })
}

fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
