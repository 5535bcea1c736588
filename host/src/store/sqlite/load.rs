//! Loading journals. Each record names the one before it, so a journal is walked from its end.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::{
    super::{JournalPart, Record, StoreError, checksum::checksum},
    checksum::SOUND,
    documents,
    fault::Fault,
};

/// One run's journal in one snapshot.
struct Walk<'c> {
    run_id: Arc<str>,
    run: i64,
    whole: CachedStatement<'c>,
    /// Reads the beginning of a row: its body stays on the disk.
    place: CachedStatement<'c>,
}

impl Walk<'_> {
    fn damaged(&self, id: i64, what: &str) -> Fault {
        Fault::Damaged(format!("record {id} of run {} {what}", self.run_id))
    }

    /// A record, and its predecessor.
    fn record(&mut self, id: i64) -> Result<(Record<Vec<u8>>, Option<i64>), Fault> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, record(row)?, row.get::<_, i64>(5)?));
        let found = self.whole.query_one([id, self.run], read).optional()?;
        let (previous, record, sum) = found.ok_or_else(|| self.damaged(id, "is missing"))?;
        let Record { first_seq, events, time, body, .. } = &record;
        if sum != checksum(self.run, *first_seq, events.get(), *time, body) {
            return Err(self.damaged(id, "is not what was written: its checksum differs"));
        }
        Ok((record, previous))
    }

    /// The first event of a record, the number of events with it, and its predecessor.
    fn place(&mut self, id: i64) -> Result<(u64, u64, Option<i64>), Fault> {
        let read = |row: &Row<'_>| Ok((row.get(1)?, row.get::<_, u64>(2)?, row.get(0)?));
        let found = self.place.query_one([id, self.run], read).optional()?;
        let (first, events, previous) = found.ok_or_else(|| self.damaged(id, "is missing"))?;
        Ok((first, first.saturating_add(events), previous))
    }
}

/// Walks from the run's last record to the one that holds `since`, and returns records from there on until they have more than
/// `most` bytes.
pub(super) fn load(
    connection: &Connection,
    run_id: Arc<str>,
    since: u64,
    most: usize,
) -> Result<JournalPart, Fault> {
    // One snapshot, and its locks taken once.
    let snapshot = connection.unchecked_transaction()?;
    let end = match end(&snapshot, &run_id)? {
        Some(Some(end)) => end,
        Some(None) => return Err(Fault::bad_row(&format!("the row of run {run_id}"))),
        None => return Err(StoreError::NotFound { run_id }.into()),
    };
    let whole = snapshot.prepare_cached(
        "SELECT previous, first_seq, events, time, body, checksum FROM journal WHERE id = ?1 AND run = ?2",
    )?;
    let place = snapshot
        .prepare_cached("SELECT previous, first_seq, events FROM journal WHERE id = ?1 AND run = ?2")?;
    let mut walk = Walk { run_id, run: end.run, whole, place };
    // Once the journal does not fit into the part, only places are read: its records from `since` on are read again.
    let (mut ids, mut records, mut bytes) = (Vec::new(), Vec::new(), 0);
    let (mut seq, mut next) = (end.seq, end.last_record);
    while let Some(id) = next.filter(|_| since == 0 || seq > since) {
        ids.push(id);
        let (first, after, previous) = if bytes <= most {
            let (record, previous) = walk.record(id)?;
            let place = (record.first_seq, record.next_seq(), previous);
            bytes += record.body.len();
            records.push(record);
            place
        } else {
            records.clear();
            walk.place(id)?
        };
        if after != seq {
            return Err(walk.damaged(id, &format!("ends before event {after}, not {seq}")));
        }
        (seq, next) = (first, previous);
    }
    if seq != 0 && seq > since {
        return Err(Fault::Damaged(format!("run {} has no events before {seq}", walk.run_id)));
    }
    if bytes <= most {
        ids.clear();
        records.reverse();
    } else {
        records.clear();
        bytes = 0;
    }
    while bytes <= most
        && let Some(id) = ids.pop()
    {
        let (record, _) = walk.record(id)?;
        bytes += record.body.len();
        records.push(record);
    }
    if let Some(first) = records.first_mut().filter(|first| first.first_seq == 0) {
        first.document = documents::of_run(&snapshot, end.run)?;
    }
    Ok(JournalPart { records, is_last: ids.is_empty() })
}

/// Where a run's journal ends.
struct End {
    run: i64,
    seq: u64,
    last_record: Option<i64>,
}

/// Returns where a run ends; nothing of a row that is not as it was written.
fn end(connection: &Connection, run_id: &str) -> rusqlite::Result<Option<Option<End>>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT number, seq, last_record, {SOUND} FROM runs WHERE run_id = ?1"))?;
    let end = |row: &Row<'_>| match row.get(3)? {
        true => Ok(Some(End { run: row.get(0)?, seq: row.get(1)?, last_record: row.get(2)? })),
        false => Ok(None),
    };
    statement.query_one([run_id], end).optional()
}

/// `previous` is column 0.
fn record(row: &Row<'_>) -> rusqlite::Result<Record<Vec<u8>>> {
    Ok(Record {
        first_seq: row.get(1)?,
        events: row.get(2)?,
        time: Timestamp(row.get(3)?),
        body: row.get(4)?,
        document: None,
        notices: Vec::new(),
        logs: Vec::new(),
        remark: None,
    })
}
