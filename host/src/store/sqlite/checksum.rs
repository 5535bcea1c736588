//! Checksums of rows, which statements compute by the function `row_checksum`.

use rusqlite::{
    Connection, Result,
    functions::{Context, FunctionFlags},
    types::ValueRef,
};
use xxhash_rust::xxh3::Xxh3Default;

/// Condition that a run's head and state are as they were written. Its lease is written anew by each claim.
pub(super) const SOUND: &str = "(
    head_checksum IS row_checksum(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document)
    AND state_checksum IS row_checksum(number, seq, last_record, phase, finished_at, open, rest, rests_until, remark))";

/// Adds the function to a connection.
pub(super) fn define(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("row_checksum", -1, flags, |row| Ok(of(row)))
}

/// Returns the checksum of values, each with its type and length: no two rows are the same bytes.
fn of(row: &Context<'_>) -> i64 {
    let mut hash = Xxh3Default::new();
    for index in 0..row.len() {
        match row.get_raw(index) {
            ValueRef::Null => hash.update(&[0]),
            ValueRef::Integer(number) => add(&mut hash, 1, &number.to_le_bytes()),
            ValueRef::Real(number) => add(&mut hash, 2, &number.to_le_bytes()),
            ValueRef::Text(bytes) => add(&mut hash, 3, bytes),
            ValueRef::Blob(bytes) => add(&mut hash, 4, bytes),
        }
    }
    hash.digest().cast_signed()
}

fn add(hash: &mut Xxh3Default, kind: u8, bytes: &[u8]) {
    hash.update(&[kind]);
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}
