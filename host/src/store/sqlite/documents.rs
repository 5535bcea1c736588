//! Documents, each stored once: with the first of their runs, until the last is deleted.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{Component, Document, StoreError},
    fault::Fault,
    schema::MAX_RECORD_BYTES,
};

/// Keeps a document for a run, unless it is there; its row's id.
pub(super) fn keep(
    transaction: &Connection,
    run_id: &Arc<str>,
    Document { digest, bytes, components }: &Document,
) -> Result<i64, Fault> {
    let mut known = transaction.prepare_cached("SELECT id FROM documents WHERE digest = ?1")?;
    if let Some(id) = known.query_one([digest], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    for size in components.iter().map(|component| &component.bytes).chain([bytes]).map(|bytes| bytes.len()) {
        if size > MAX_RECORD_BYTES {
            return Err(
                StoreError::TooLarge { run_id: Arc::clone(run_id), size, limit: MAX_RECORD_BYTES }.into()
            );
        }
    }
    let mut keep = transaction.prepare_cached("INSERT INTO documents (digest, bytes) VALUES (?1, ?2)")?;
    let id = keep.insert(params![digest, &**bytes])?;
    for Component { digest, bytes } in components {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO components (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![digest, &**bytes])?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO needs (document, component) VALUES (?1, ?2)")?
            .execute(params![id, digest])?;
    }
    Ok(id)
}

/// Returns the document, as it is loaded with a run's first record.
pub(super) fn of_run(connection: &Connection, run: i64) -> rusqlite::Result<Option<Arc<Document>>> {
    let mut statement = connection.prepare_cached(
        "SELECT digest, bytes FROM documents WHERE id = (SELECT document FROM runs WHERE number = ?1)",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        let bytes: Vec<u8> = row.get(1)?;
        Ok(Arc::new(Document { digest: row.get(0)?, bytes: bytes.into(), components: Vec::new() }))
    };
    statement.query_one([run], read).optional()
}

/// Deletes the document of a deleted run and its components, unless another run or document has them.
pub(super) fn collect(transaction: &Connection, document: Option<i64>) -> rusqlite::Result<()> {
    let Some(id) = document else { return Ok(()) };
    let mut others = transaction.prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE document = ?1)")?;
    if others.query_one([id], |row| row.get(0))? {
        return Ok(());
    }
    transaction.execute(
        "DELETE FROM components WHERE digest IN (SELECT component FROM needs WHERE document = ?1)
             AND NOT EXISTS (SELECT 1 FROM needs WHERE component = digest AND document <> ?1)",
        [id],
    )?;
    transaction.execute("DELETE FROM needs WHERE document = ?1", [id])?;
    transaction.execute("DELETE FROM documents WHERE id = ?1", [id])?;
    Ok(())
}
