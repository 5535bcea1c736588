//! Mail and logs, and the end of what is kept.

use std::sync::Arc;

use phasm_engine::{phase::Phase, time::Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{
        Answer, AttemptLog, HostId, Lease, Letter, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, NewNotice,
        StoreError,
    },
    checksum::SOUND,
    documents,
    fault::Fault,
    heads::JournalHead,
    logs, outbox, rows,
    write_transaction::{END_MAIL, WriteTransaction},
};

/// `post` of a store.
pub(super) fn post(transaction: &Connection, run_id: &Arc<str>, body: &[u8]) -> Result<u64, Fault> {
    let run_id = || Arc::clone(run_id);
    if body.len() > MAX_LETTER_BYTES {
        return Err(
            StoreError::TooLarge { run_id: run_id(), size: body.len(), limit: MAX_LETTER_BYTES }.into()
        );
    }
    let mut statement = transaction.prepare_cached(&format!(
        "SELECT number, open, (SELECT count(*) FROM letters WHERE run = number AND reply IS NULL), {SOUND} FROM runs
         WHERE run_id = ?1",
    ))?;
    let found = statement
        .query_one([run_id()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let (run, open, waiting, is_sound): (i64, bool, usize, bool) =
        found.ok_or_else(|| StoreError::NotFound { run_id: run_id() })?;
    // A host takes the request to abandon a damaged run, and refuses all others.
    if !open && is_sound {
        return Err(StoreError::Closed { run_id: run_id() }.into());
    }
    if waiting >= MAX_WAITING_LETTERS {
        return Err(StoreError::MailboxFull { run_id: run_id(), limit: MAX_WAITING_LETTERS }.into());
    }
    let id = transaction
        .prepare_cached(
            "INSERT INTO letters (run, body, checksum) VALUES (?1, ?2, row_checksum(?1, ?2, NULL))",
        )?
        .insert(params![run, body])?;
    Ok(id.unsigned_abs())
}

/// `mail` of a store.
pub(super) fn mail(connection: &Connection, run_id: &str) -> Result<Vec<Letter>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, iif(checksum IS row_checksum(run, body, reply), body, x'') FROM letters
         WHERE run = (SELECT number FROM runs WHERE run_id = ?1) AND reply IS NULL ORDER BY id",
    )?;
    // The run's host refuses a request that cannot be read.
    let rows = statement.query_map([run_id], |row| Ok(Letter { id: row.get(0)?, body: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `mailed` of a store.
pub(super) fn mailed(connection: &Connection, owner: Option<&HostId>) -> Result<Vec<Arc<str>>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT run_id FROM letters CROSS JOIN runs ON number = run
         WHERE reply IS NULL AND owner IS ?1 ORDER BY run_id",
    )?;
    let rows = statement.query_map([owner.map(HostId::as_str)], |row| Ok(rows::lossy(row, 0).into()))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `answer` of a store.
pub(super) fn answer(connection: &Connection, run_id: &str, letter: u64) -> Result<Answer, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT reply, checksum IS row_checksum(run, body, reply) FROM letters JOIN runs ON number = run
         WHERE run_id = ?1 AND id = ?2",
    )?;
    let found: Option<(Option<Vec<u8>>, bool)> =
        statement.query_one(params![run_id, letter], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    if let Some((_, false)) = found {
        return Err(Fault::bad_row(&format!("request {letter} to run {run_id}")));
    }
    Ok(match found.map(|(reply, _)| reply) {
        None => Answer::Unknown,
        Some(None) => Answer::Waiting,
        Some(Some(reply)) if reply.is_empty() => Answer::Ended,
        Some(Some(reply)) => Answer::Replied(reply),
    })
}

/// `keep_log` of a store.
pub(super) fn keep_log(
    tx: &mut WriteTransaction<'_>,
    lease: &Lease,
    log: &AttemptLog,
) -> Result<usize, Fault> {
    let JournalHead { run, namespace, .. } = tx.leased(lease)?;
    let more = logs::add(tx.connection, run, std::slice::from_ref(log))?;
    tx.grow(&namespace, more);
    Ok(log.text.len())
}

/// `abandon` of a store.
pub(super) fn abandon(
    tx: &mut WriteTransaction<'_>,
    lease: &Lease,
    at: Timestamp,
    told: &[NewNotice],
) -> Result<(), Fault> {
    let journal_head = tx.leased(lease)?;
    if !is_sound(tx.connection, &lease.head.run_id)? {
        repair(tx.connection, journal_head.run)?;
    } else if !journal_head.open {
        return Err(StoreError::Closed { run_id: Arc::clone(&lease.head.run_id) }.into());
    }
    let mut end = tx.connection.prepare_cached(
        "UPDATE runs SET open = FALSE, phase = ?2, finished_at = ?3, owner = NULL, wake_at = NULL, rest = NULL, rests_until = NULL,
             remark = NULL,
             head_checksum = row_checksum(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document),
             state_checksum = row_checksum(number, seq, last_record, ?2, ?3, FALSE, NULL, NULL, NULL),
             lease_checksum = row_checksum(number, epoch, NULL, NULL, note, noted_at)
         WHERE number = ?1",
    )?;
    end.execute(params![journal_head.run, Phase::Error.as_str(), at.0])?;
    tx.connection.prepare_cached(END_MAIL)?.execute([journal_head.run])?;
    outbox::add(tx.connection, &lease.head.run_id, told)?;
    tx.heads.forget(&lease.head.run_id);
    Ok(())
}

/// Pages given back to the system at once, so that what is written meanwhile does not wait long.
const PAGES: i64 = 256;

/// `give_back` of a store. A file that was made before files could shrink stays as large as it is.
pub(super) fn give_back(transaction: &Connection) -> Result<bool, Fault> {
    let left = || transaction.pragma_query_one::<i64>(None, "freelist_count");
    let before = left()?;
    if before == 0 {
        return Ok(false);
    }
    let mut vacuum = transaction.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    let after = left()?;
    Ok(0 < after && after < before)
}

/// Statements that delete all of a run except its row and its journal; and its number, which no other run gets.
const FORGET: [&str; 4] = [
    "DELETE FROM letters WHERE run = ?1",
    "DELETE FROM logs WHERE run = ?1",
    "DELETE FROM labels WHERE run = ?1 AND (key, value) IN (
        SELECT key, value FROM json_each((SELECT labels FROM runs WHERE number = ?1)))",
    "UPDATE deleted_runs SET highest = max(highest, ?1)",
];

/// Makes a damaged row readable: what it says of the run may be wrong, and the run is ended all the same.
fn repair(connection: &Connection, run: i64) -> Result<(), Fault> {
    let texts = "SELECT workflow, namespace FROM runs WHERE number = ?1";
    let (workflow, namespace): (String, String) =
        connection.query_one(texts, [run], |row| Ok((rows::lossy(row, 0), rows::lossy(row, 1))))?;
    connection.execute(
        "UPDATE runs SET workflow = ?2, namespace = ?3, priority = 0, key = NULL, labels = NULL, seq = max(seq, 0), note = NULL
         WHERE number = ?1",
        params![run, workflow, namespace],
    )?;
    connection.execute("DELETE FROM labels WHERE run = ?1", [run])?;
    Ok(())
}

/// Whether a run's head and state are as they were written.
fn is_sound(connection: &Connection, run_id: &str) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(&format!("SELECT {SOUND} FROM runs WHERE run_id = ?1"))?;
    Ok(statement.query_one([run_id], |row| row.get(0))?)
}

/// `delete` of a store. The journal is walked by its links, as it has no index by run.
pub(super) fn delete(tx: &mut WriteTransaction<'_>, run_id: &Arc<str>) -> Result<bool, Fault> {
    let Some(journal_head) = tx.journal_head(run_id)? else { return Ok(false) };
    if !is_sound(tx.connection, run_id)? {
        return Err(Fault::bad_row(&format!("the row of run {run_id}")));
    }
    if journal_head.open {
        return Err(StoreError::StillOpen { run_id: Arc::clone(run_id) }.into());
    }
    let transaction = tx.connection;
    let mut delete = transaction.prepare_cached(
        "DELETE FROM journal WHERE id = ?1 AND run = ?2 RETURNING previous, first_seq, length(body)",
    )?;
    let (mut next, mut first) = (journal_head.last_record, journal_head.seq);
    let mut bytes: i64 = transaction
        .prepare_cached("SELECT coalesce(sum(length(text)), 0) FROM logs WHERE run = ?1")?
        .query_one([journal_head.run], |row| row.get(0))?;
    while let Some(id) = next {
        let link = delete
            .query_one(params![id, journal_head.run], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?))
            })
            .optional()?;
        let Some((previous, first_seq, size)) = link else { break };
        (next, first) = (previous, first_seq);
        bytes += size;
    }
    if first > 0 {
        // The links are broken: what they led to is looked for.
        let mut others = transaction.prepare("DELETE FROM journal WHERE run = ?1 RETURNING length(body)")?;
        let sizes = others.query_map([journal_head.run], |row| row.get::<_, i64>(0))?;
        bytes += sizes.sum::<Result<i64, _>>()?;
    }
    for statement in FORGET {
        transaction.prepare_cached(statement)?.execute([journal_head.run])?;
    }
    let mut delete = transaction.prepare_cached("DELETE FROM runs WHERE number = ?1 RETURNING document")?;
    let document = delete.query_one([journal_head.run], |row| row.get(0))?;
    tx.grow(&journal_head.namespace, -bytes);
    documents::collect(transaction, document)?;
    outbox::forget(transaction, run_id)?;
    tx.heads.forget(run_id);
    Ok(true)
}
