//! Catalog entries: saved workflows and schedules.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use rusqlite::{
    Connection, OptionalExtension, Row, params,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};

use super::{
    super::{
        CatalogEntry, CatalogKind, Change, DuePlace, Encode, EntryName, EntryQuery, Lease, Record, RunStatus,
        Text,
    },
    fault::Fault,
    rows,
    write_transaction::WriteTransaction,
};

/// Condition that an entry is as it was written. No host acts on another.
const SOUND: &str = "checksum IS row_checksum(shelf, namespace, name, revision, due, body)";
const COLUMNS: &str = "shelf, namespace, name, revision, due, body";

/// `entry` of a store.
pub(super) fn entry(connection: &Connection, name: &EntryName) -> Result<Option<CatalogEntry>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {SOUND} FROM entries WHERE shelf = ?1 AND namespace = ?2 AND name = ?3"
    ))?;
    let EntryName { shelf, namespace, name } = name;
    Ok(statement.query_one(params![shelf.as_str(), namespace, name], row).optional()?)
}

/// `entries` of a store.
pub(super) fn entries(connection: &Connection, wanted: &EntryQuery) -> Result<Vec<CatalogEntry>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {SOUND} FROM entries WHERE shelf = ?1 AND (namespace, name) > (?2, ?3) AND (?4 IS NULL OR namespace = ?4)
         ORDER BY namespace, name LIMIT ?5"
    ))?;
    let (namespace, name) = wanted.after.as_ref().map_or(("", ""), |(namespace, name)| (namespace, name));
    let rows = statement.query_map(
        params![wanted.shelf.as_str(), namespace, name, wanted.namespace, most(wanted.limit)],
        row,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `due_entries` of a store.
pub(super) fn due(
    connection: &Connection,
    after: Option<&DuePlace>,
    limit: usize,
) -> Result<Vec<CatalogEntry>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {SOUND} FROM entries WHERE due IS NOT NULL AND (due, shelf, namespace, name) > (?1, ?2, ?3, ?4) AND {SOUND}
         ORDER BY due, shelf, namespace, name LIMIT ?5"
    ))?;
    let (at, shelf, namespace, name) = after.map_or((i64::MIN, "", "", ""), |(at, name)| {
        (at.0, name.shelf.as_str(), &*name.namespace, &*name.name)
    });
    let rows = statement.query_map(params![at, shelf, namespace, name, most(limit)], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `text` of a store.
pub(super) fn text(connection: &Connection, digest: &str) -> Result<Option<Arc<[u8]>>, Fault> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM texts WHERE digest = ?1")?;
    let found = statement.query_one([digest], |row| row.get::<_, Vec<u8>>(0)).optional()?;
    Ok(found.map(Arc::from))
}

/// `change` of a store.
pub(super) fn change(tx: &WriteTransaction<'_>, change: &Change) -> Result<(u64, usize), Fault> {
    check(tx.connection, change)?;
    let revision = write(tx.connection, change)?;
    let texts = change.texts.iter().flatten().filter_map(|text| text.bytes.as_ref());
    Ok((revision, change.body.len() + texts.map(|bytes| bytes.len()).sum::<usize>()))
}

/// `fire` of a store.
pub(super) fn fire(
    tx: &mut WriteTransaction<'_>,
    lease: &Lease,
    status: RunStatus,
    record: &Record<Arc<dyn Encode>>,
    change: &Change,
) -> Result<(u64, usize), Fault> {
    check(tx.connection, change)?;
    let size = tx.append(lease, status, record, &[])?;
    Ok((write(tx.connection, change)?, size))
}

/// `remove_entry` of a store.
pub(super) fn remove(transaction: &Connection, name: &EntryName) -> Result<bool, Fault> {
    name_texts(transaction, name, &[])?;
    let mut delete = transaction
        .prepare_cached("DELETE FROM entries WHERE shelf = ?1 AND namespace = ?2 AND name = ?3")?;
    Ok(delete.execute(params![name.shelf.as_str(), name.namespace, name.name])? > 0)
}

fn check(transaction: &Connection, change: &Change) -> Result<(), Fault> {
    let found = entry(transaction, &change.name)?.map_or(0, |entry| entry.revision);
    if found != change.from {
        return Err(change.moved().into());
    }
    if change.texts.is_none() {
        return Ok(());
    }
    let EntryName { shelf, namespace, name } = &change.name;
    let mut others = transaction.prepare_cached(
        "SELECT (SELECT count(*) FROM entries WHERE shelf = ?1 AND namespace = ?2 AND name <> ?3),
             (SELECT coalesce(sum(size), 0) FROM mentions WHERE shelf = ?1 AND namespace = ?2 AND name <> ?3)",
    )?;
    let (count, bytes) =
        others.query_one(params![shelf.as_str(), namespace, name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(change.check_room(count, bytes)?)
}

fn write(transaction: &Connection, change: &Change) -> Result<u64, Fault> {
    let Change { name, from: _, due, body, texts } = change;
    if let Some(texts) = texts {
        name_texts(transaction, name, texts)?;
    }
    let mut count = transaction.prepare_cached("UPDATE revisions SET last = last + 1 RETURNING last")?;
    let revision: u64 = count.query_one([], |row| row.get(0))?;
    let mut write = transaction.prepare_cached(
        "INSERT INTO entries (shelf, namespace, name, revision, due, body, checksum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_checksum(?1, ?2, ?3, ?4, ?5, ?6))
         ON CONFLICT (shelf, namespace, name) DO UPDATE SET
             revision = excluded.revision, due = excluded.due, body = excluded.body, checksum = excluded.checksum",
    )?;
    let EntryName { shelf, namespace, name } = name;
    write.execute(params![shelf.as_str(), namespace, name, revision, due.map(|due| due.0), body])?;
    Ok(revision)
}

/// The entry names these texts and no others; what none names any more is deleted.
fn name_texts(transaction: &Connection, name: &EntryName, texts: &[Text]) -> Result<(), Fault> {
    let EntryName { shelf, namespace, name } = name;
    let mut forget = transaction.prepare_cached(
        "DELETE FROM mentions WHERE shelf = ?1 AND namespace = ?2 AND name = ?3 RETURNING digest",
    )?;
    let named = forget.query_map(params![shelf.as_str(), namespace, name], |row| row.get::<_, String>(0))?;
    let named: Vec<_> = named.collect::<Result<_, _>>()?;
    for Text { digest, size, bytes } in texts {
        let mut mention = transaction.prepare_cached(
            "INSERT OR IGNORE INTO mentions (shelf, namespace, name, digest, size) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        mention.execute(params![shelf.as_str(), namespace, name, digest, size])?;
        if let Some(bytes) = bytes {
            let mut keep =
                transaction.prepare_cached("INSERT OR IGNORE INTO texts (digest, bytes) VALUES (?1, ?2)")?;
            keep.execute(params![digest, &**bytes])?;
        }
    }
    let mut collect = transaction.prepare_cached(
        "DELETE FROM texts WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM mentions WHERE mentions.digest = texts.digest)",
    )?;
    for digest in named {
        collect.execute([digest])?;
    }
    Ok(())
}

/// The order is that of `COLUMNS`.
fn row(row: &Row<'_>) -> rusqlite::Result<CatalogEntry> {
    if row.get(6)?
        && let Ok(entry) = sound(row)
    {
        return Ok(entry);
    }
    // The kind is that of the query, or one without a schedule.
    let shelf = row.get::<_, SqlKind>(0).map_or(CatalogKind::Workflows, |kind| kind.0);
    let text = |column| rows::lossy(row, column).into();
    let name = EntryName { shelf, namespace: text(1), name: text(2) };
    let due = row.get::<_, Option<i64>>(4)?.map(Timestamp);
    Ok(CatalogEntry { name, revision: row.get(3).unwrap_or(0), due, body: "".into(), damaged: true })
}

fn sound(row: &Row<'_>) -> rusqlite::Result<CatalogEntry> {
    let name = EntryName { shelf: row.get::<_, SqlKind>(0)?.0, namespace: row.get(1)?, name: row.get(2)? };
    let due = row.get::<_, Option<i64>>(4)?.map(Timestamp);
    Ok(CatalogEntry { name, revision: row.get(3)?, due, body: row.get(5)?, damaged: false })
}

/// A kind by its exact word.
struct SqlKind(CatalogKind);

impl FromSql for SqlKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        let shelf = CatalogKind::ALL.into_iter().find(|shelf| shelf.as_str() == word);
        shelf.map(Self).ok_or_else(|| FromSqlError::Other(format!("there are no {word}s").into()))
    }
}

fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
