//! Loading journals. Each record names the one before it, so a journal is walked backwards.
//!
//! ```text
//!  first part of a large journal:  record ◀── … ◀── mark ◀── … ◀── mark ◀── … ◀── last record
//!  a later part, from event n on:            n … ◀── mark
//! ```
//!
//! A walk through a large journal leaves marks on its way. The journal before a mark never changes, so a later walk begins at the mark
//! behind the records that it is to find, and takes as long as these are many.

use std::{collections::VecDeque, sync::Arc};

use phasm_engine::time::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::{
    super::{JournalPart, Record, StoreError, checksum::checksum},
    checksum::SOUND,
    documents,
    fault::Fault,
};

/// Records between two marks, and bytes of them, at most.
const SEGMENT_RECORDS: u64 = 4096;
const SEGMENT_BYTES: usize = 8 << 20;
/// Runs whose marks are kept. A mark takes 16 bytes for each segment.
const MAX_MARKED_RUNS: usize = 64;

/// A place between two records of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Number of events before it.
    seq: u64,
    /// The key of the record before it; none at the beginning.
    record: Option<i64>,
}

/// Marks in the journals that were read by parts last.
#[derive(Debug, Default)]
pub(super) struct JournalMarks {
    /// By the run's number; marks in ascending order.
    runs: VecDeque<(i64, Vec<Mark>)>,
    /// Rows of journals that were read so far.
    #[cfg(test)]
    rows: u64,
}

impl JournalMarks {
    /// Returns the first mark behind an event.
    fn behind(&self, run: i64, seq: u64) -> Option<Mark> {
        let (_, marks) = self.runs.iter().find(|(known, _)| *known == run)?;
        marks.get(marks.partition_point(|mark| mark.seq <= seq)).copied()
    }

    /// Adds the marks of a walk, the last one first.
    fn add(&mut self, run: i64, walked: &[Mark]) {
        if walked.is_empty() {
            return;
        }
        let at = self.runs.iter().position(|(known, _)| *known == run);
        let (_, mut marks) = at.and_then(|at| self.runs.remove(at)).unwrap_or((run, Vec::new()));
        marks.extend(walked);
        marks.sort_unstable_by_key(|mark| mark.seq);
        marks.dedup();
        self.runs.push_back((run, marks));
        if self.runs.len() > MAX_MARKED_RUNS {
            self.runs.pop_front();
        }
    }

    fn forget(&mut self, run: i64) -> bool {
        let before = self.runs.len();
        self.runs.retain(|(known, _)| *known != run);
        self.runs.len() < before
    }
}

/// One run's journal in one snapshot.
struct Walk<'c> {
    run_id: Arc<str>,
    run: i64,
    whole: CachedStatement<'c>,
    /// Reads the beginning of a row: its body stays on the disk.
    place: CachedStatement<'c>,
    /// Rows that were read.
    rows: u64,
}

/// Position of a record.
struct RecordPlace {
    first: u64,
    /// The first event after it.
    after: u64,
    previous: Option<i64>,
    bytes: usize,
}

impl Walk<'_> {
    fn damaged(&self, id: i64, what: &str) -> Fault {
        Fault::Damaged(format!("record {id} of run {} {what}", self.run_id))
    }

    fn record(&mut self, id: i64) -> Result<(Record<Vec<u8>>, Option<i64>), Fault> {
        self.rows += 1;
        let read = |row: &Row<'_>| Ok((row.get(0)?, record(row)?, row.get::<_, i64>(5)?));
        let found = self.whole.query_one([id, self.run], read).optional()?;
        let (previous, record, sum) = found.ok_or_else(|| self.damaged(id, "is missing"))?;
        let Record { first_seq, events, time, body, .. } = &record;
        if sum != checksum(self.run, *first_seq, events.get(), *time, body) {
            return Err(self.damaged(id, "is damaged: its checksum differs"));
        }
        Ok((record, previous))
    }

    fn place(&mut self, id: i64) -> Result<RecordPlace, Fault> {
        self.rows += 1;
        let read = |row: &Row<'_>| {
            let (first, events): (u64, u64) = (row.get(1)?, row.get(2)?);
            let after = first.saturating_add(events);
            Ok(RecordPlace { first, after, previous: row.get(0)?, bytes: row.get(3)? })
        };
        self.place.query_one([id, self.run], read).optional()?.ok_or_else(|| self.damaged(id, "is missing"))
    }

    /// Walks from a mark back to the record that holds `since`, and returns the keys of the records from there to the next mark, the
    /// last one first; the records themselves, too, if there is no mark in between and they have no more than `most` bytes. Adds the
    /// marks that it leaves to `left`.
    fn back(&mut self, from: Mark, since: u64, most: usize, left: &mut Vec<Mark>) -> Result<Segment, Fault> {
        let mut segment = Segment { end: from, ids: Vec::new(), records: Some(Vec::new()) };
        let (mut seq, mut next, mut bytes) = (from.seq, from.record, 0);
        while let Some(id) = next.filter(|_| since == 0 || seq > since) {
            if segment.ids.len() as u64 == SEGMENT_RECORDS || bytes > SEGMENT_BYTES {
                segment = Segment { end: Mark { seq, record: next }, ids: Vec::new(), records: None };
                left.push(segment.end);
                bytes = 0;
            }
            segment.records = segment.records.filter(|_| bytes <= most);
            let RecordPlace { first, after, previous, bytes: size } = match &mut segment.records {
                Some(records) => {
                    let (record, previous) = self.record(id)?;
                    let bytes = record.body.len();
                    let place =
                        RecordPlace { first: record.first_seq, after: record.next_seq(), previous, bytes };
                    records.push(record);
                    place
                }
                None => self.place(id)?,
            };
            if after != seq {
                return Err(self.damaged(id, &format!("ends before event {after}, not {seq}")));
            }
            segment.ids.push(id);
            (seq, next, bytes) = (first, previous, bytes + size);
        }
        if seq != 0 && seq > since {
            return Err(Fault::Damaged(format!("run {} has no events before {seq}", self.run_id)));
        }
        segment.records = segment.records.filter(|_| bytes <= most);
        Ok(segment)
    }
}

/// Records that follow each other, up to a mark.
struct Segment {
    end: Mark,
    /// Their keys, the last one first.
    ids: Vec<i64>,
    /// The records in the same order, if they were read on the way.
    records: Option<Vec<Record<Vec<u8>>>>,
}

/// Returns the records of a run from the one that holds `since` on, until they have more than `most` bytes.
pub(super) fn load(
    connection: &Connection,
    marks: &mut JournalMarks,
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
    let loaded = part(&snapshot, marks, &run_id, &end, since, most);
    match loaded {
        // The journal itself says whether it is damaged.
        Err(Fault::Damaged(_)) if marks.forget(end.run) => part(&snapshot, marks, &run_id, &end, since, most),
        loaded => loaded,
    }
}

fn part(
    snapshot: &Connection,
    marks: &mut JournalMarks,
    run_id: &Arc<str>,
    end: &End,
    since: u64,
    most: usize,
) -> Result<JournalPart, Fault> {
    let whole = snapshot.prepare_cached(
        "SELECT previous, first_seq, events, time, body, checksum FROM journal WHERE id = ?1 AND run = ?2",
    )?;
    let place = snapshot.prepare_cached(
        "SELECT previous, first_seq, events, length(body) FROM journal WHERE id = ?1 AND run = ?2",
    )?;
    let mut walk = Walk { run_id: Arc::clone(run_id), run: end.run, whole, place, rows: 0 };
    let last = Mark { seq: end.seq, record: end.last_record };
    let (mut records, mut bytes, mut at) = (Vec::new(), 0, since);
    let mut is_last = false;
    while bytes <= most && !is_last {
        let mut left = Vec::new();
        let from = marks.behind(end.run, at).filter(|mark| mark.seq < last.seq).unwrap_or(last);
        let segment = walk.back(from, at, most - bytes, &mut left)?;
        marks.add(end.run, &left);
        let (mut ids, mut read) = (segment.ids, segment.records.unwrap_or_default());
        is_last = true;
        while let Some(id) = ids.pop() {
            if bytes > most {
                is_last = false;
                break;
            }
            let record = match read.pop() {
                Some(record) => record,
                None => walk.record(id)?.0,
            };
            bytes += record.body.len();
            records.push(record);
        }
        is_last &= segment.end == last;
        at = segment.end.seq;
    }
    #[cfg(test)]
    {
        marks.rows += walk.rows;
    }
    if let Some(first) = records.first_mut().filter(|first| first.first_seq == 0) {
        first.document = documents::of_run(snapshot, end.run)?;
    }
    Ok(JournalPart { records, is_last })
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

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::{
        super::{checksum, format::FORMATS},
        *,
    };

    const RECORDS: u64 = 40_000;
    const BODY: [u8; 10] = [7; 10];

    /// A store of one run with many records.
    fn store() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        checksum::define(&connection).unwrap();
        FORMATS.iter().for_each(|step| connection.execute_batch(step).unwrap());
        let run =
            "INSERT INTO runs (number, run_id, workflow, namespace, priority, submitted_at, phase, open, seq)
            VALUES (1, 'r', 'w', 'n', 1, 1, 'Running', 1, 0)";
        connection.execute(run, []).unwrap();
        grow(&connection, RECORDS);
        connection
    }

    /// Lets the run have so many records, each under an odd key.
    fn grow(connection: &Connection, records: u64) {
        let seq: u64 = connection.query_one("SELECT seq FROM runs", [], |row| row.get(0)).unwrap();
        let transaction = connection.unchecked_transaction().unwrap();
        let mut insert =
            transaction.prepare("INSERT INTO journal VALUES (?1, 1, ?2, ?3, 1, 0, ?4, ?5)").unwrap();
        for first in seq..records {
            let previous = first.checked_sub(1).map(|before| 2 * before + 1);
            let sum = checksum(1, first, 1, Timestamp(0), &BODY);
            insert.execute(params![2 * first + 1, previous, first, BODY, sum]).unwrap();
        }
        drop(insert);
        transaction.execute("UPDATE runs SET seq = ?1, last_record = 2 * ?1 - 1", [records]).unwrap();
        let sums = "UPDATE runs SET
            head_checksum = row_checksum(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document),
            state_checksum = row_checksum(number, seq, last_record, phase, finished_at, open, rest, rests_until, remark)";
        transaction.execute(sums, []).unwrap();
        transaction.commit().unwrap();
    }

    fn part(connection: &Connection, marks: &mut JournalMarks, since: u64) -> Result<JournalPart, Fault> {
        load(connection, marks, "r".into(), since, 1000 * BODY.len())
    }

    /// R-A120: only the first part costs as much as the journal is long.
    #[test]
    fn the_cost_of_a_part_does_not_grow_with_the_journal() {
        let connection = store();
        let mut marks = JournalMarks::default();
        let (mut since, mut before) = (0, 0);
        loop {
            let found = part(&connection, &mut marks, since).ok().unwrap();
            let seqs: Vec<u64> = found.records.iter().map(|record| record.first_seq).collect();
            let expected: Vec<u64> = (since..(since + 1001).min(RECORDS)).collect();
            assert_eq!(seqs, expected);
            let rows = marks.rows - before;
            // One walk within a segment or two, and the records themselves.
            let most = if since == 0 { RECORDS + 2000 } else { 2 * SEGMENT_RECORDS + 2002 };
            assert!(rows <= most, "{rows} rows from event {since} on");
            (since, before) = (since + seqs.len() as u64, marks.rows);
            if found.is_last {
                break;
            }
        }
        assert_eq!(since, RECORDS);
        // Records that are written meanwhile are walked through once.
        grow(&connection, RECORDS + 10);
        let found = part(&connection, &mut marks, RECORDS).ok().unwrap();
        assert!(found.is_last && found.records.len() == 10 && marks.rows - before <= 20);
        // The same records in larger parts, and all of them.
        for most in [usize::MAX, 9000 * BODY.len()] {
            let whole = load(&connection, &mut marks, "r".into(), 3, most).ok().unwrap();
            assert_eq!(whole.records.first().unwrap().first_seq, 3);
            assert_eq!(whole.is_last, most == usize::MAX);
            let count = if most == usize::MAX { RECORDS + 7 } else { 9001 };
            assert_eq!(whole.records.len() as u64, count);
        }
    }

    /// R-H5: marks hide no damage, and a mark that is wrong is not believed.
    #[test]
    fn damage_is_found_with_marks() {
        let connection = store();
        let mut marks = JournalMarks::default();
        assert_eq!(part(&connection, &mut marks, 0).ok().unwrap().records.len(), 1001);
        for (_, marks) in &mut marks.runs {
            marks.iter_mut().for_each(|mark| mark.seq += 1);
        }
        assert_eq!(part(&connection, &mut marks, 1001).ok().unwrap().records.len(), 1001);
        connection.execute("DELETE FROM journal WHERE first_seq = 20000", []).unwrap();
        let failed = |marks: &mut JournalMarks| match part(&connection, marks, 19_990) {
            Err(Fault::Damaged(why)) => why,
            other => panic!("{:?}", other.is_ok()),
        };
        assert_eq!(failed(&mut marks), "record 40001 of run r is missing");
        assert_eq!(failed(&mut JournalMarks::default()), "record 40001 of run r is missing");
    }
}
