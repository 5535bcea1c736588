//! Logs of attempts.

use rusqlite::{Connection, OptionalExtension, params};

use super::{super::AttemptLog, fault::Fault};

/// Writes logs in place of earlier ones of their attempts; returns how many more bytes the run's logs have.
pub(super) fn add(connection: &Connection, run: i64, logs: &[AttemptLog]) -> Result<i64, Fault> {
    let mut grown = 0;
    for AttemptLog { task, attempt, dispatch, cut, text, damaged: _ } in logs {
        let mut kept = connection.prepare_cached(
            "SELECT length(text) FROM logs WHERE run = ?1 AND task = ?2 AND attempt = ?3 AND dispatch = ?4",
        )?;
        let before: Option<i64> =
            kept.query_one(params![run, task, attempt, dispatch], |row| row.get(0)).optional()?;
        grown += i64::try_from(text.len()).unwrap_or(i64::MAX) - before.unwrap_or(0);
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO logs (run, task, attempt, dispatch, cut, text, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_checksum(?1, ?2, ?3, ?4, ?5, ?6))",
        )?;
        statement.execute(params![run, task, attempt, dispatch, cut, text])?;
    }
    Ok(grown)
}

/// `logs` of a store.
pub(super) fn of_run(
    connection: &Connection,
    run_id: &str,
    task: Option<u32>,
) -> Result<Vec<AttemptLog>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT task, attempt, dispatch, cut, text, checksum IS row_checksum(run, task, attempt, dispatch, cut, text) FROM logs
         WHERE run = (SELECT number FROM runs WHERE run_id = ?1) AND (?2 IS NULL OR task = ?2)
         ORDER BY task, attempt, dispatch",
    )?;
    let rows = statement.query_map(params![run_id, task], |row| {
        let number = |column| row.get::<_, u32>(column).unwrap_or(u32::MAX);
        let (task, attempt, dispatch) = (number(0), number(1), number(2));
        let damaged = !row.get::<_, bool>(5)?;
        let (cut, text) = if damaged { (0, Vec::new()) } else { (row.get(3)?, row.get(4)?) };
        Ok(AttemptLog { task, attempt, dispatch, cut, text, damaged })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
