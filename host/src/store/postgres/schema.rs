//! The tables and functions in the database, and how they are recognised as ours.

use tokio_postgres::{Client, Error};

use super::{super::StoreError, address::Address, fault::PostgresError};

/// Raised whenever a Phasm that knows only the format before could misread the tables.
const FORMAT: i64 = 9;
/// What each format added to the one before, its number included: the first is that of an empty schema.
pub(in super::super) const FORMATS: [&str; 9] = [
    include_str!("schema.sql"),
    include_str!("documents.sql"),
    include_str!("offers.sql"),
    include_str!("notes.sql"),
    include_str!("entries.sql"),
    include_str!("room.sql"),
    include_str!("notices.sql"),
    include_str!("alone.sql"),
    include_str!("batch.sql"),
];
/// "PHSM": hosts that start at once bring tables up to date one after the other.
const LOCK: i64 = 0x5048_534d;

/// Settings of each connection: the tables are found, and what is acknowledged is on the server's disk.
///
/// Statements are planned once, often while the tables are empty, and shall not go on reading tables whole when they are not.
pub(in super::super) const SETTINGS: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
    SET plan_cache_mode = force_generic_plan; SET default_transaction_isolation = 'read committed';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

/// Makes a connection ready for statements about the tables.
pub(super) async fn prepare(client: &Client, address: &Address) -> Result<(), Error> {
    client.batch_execute(&format!("SET search_path = \"{}\"; {SETTINGS}", address.schema)).await
}

/// An error unless the tables are there and of this format.
pub(super) async fn check(client: &Client, address: &Address) -> Result<(), PostgresError> {
    match recognise(client, address).await? {
        FORMAT => Ok(()),
        0 => {
            let found = format!("it has no tables in schema {}", address.schema);
            Err(StoreError::Foreign { path: address.path(), found }.into())
        }
        older => Err(PostgresError::Damaged(format!(
            "its tables are of format {older}, which a host brings up to date"
        ))),
    }
}

/// Creates the tables, or brings those of older formats up to date: all of it or nothing, whoever else is at it.
pub(super) async fn bring_up_to_date(client: &Client, address: &Address) -> Result<(), PostgresError> {
    if recognise(client, address).await? == FORMAT {
        return Ok(());
    }
    client.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let migrated = migrate(client, address).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    client.batch_execute(end).await?;
    migrated
}

async fn migrate(client: &Client, address: &Address) -> Result<(), PostgresError> {
    let schema = &address.schema;
    if client.query_typed("SELECT 1 WHERE to_regnamespace($1) IS NULL", &[(schema, TEXT)]).await?.len() == 1 {
        client.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).await?;
    }
    let found = recognise(client, address).await?;
    for added in FORMATS.get(usize::try_from(found).unwrap_or(usize::MAX)..).unwrap_or_default() {
        client.batch_execute(added).await?;
    }
    Ok(())
}

const TEXT: tokio_postgres::types::Type = tokio_postgres::types::Type::TEXT;

/// The format of the tables, 0 if there are none; an error unless there are none or they are ours.
async fn recognise(client: &Client, address: &Address) -> Result<i64, PostgresError> {
    let looked = "SELECT count(*) AS relations, count(*) FILTER (WHERE relname = 'format') AS ours
        FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1";
    let rows = client.query_typed(looked, &[(&address.schema, TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    match (row.try_get::<_, i64>("relations")?, row.try_get::<_, i64>("ours")?) {
        (0, _) => return Ok(0),
        (_, 0) => {
            let found = format!("schema {} holds other tables", address.schema);
            return Err(StoreError::Foreign { path: address.path(), found }.into());
        }
        _ => {}
    }
    let rows = client.query_typed("SELECT max(version) AS version FROM format", &[]).await?;
    let version: Option<i64> = rows.first().and_then(|row| row.try_get("version").ok()).flatten();
    match version {
        Some(found) if found > FORMAT => {
            Err(StoreError::Newer { path: address.path(), found, known: FORMAT }.into())
        }
        Some(found @ 1..) => Ok(found),
        Some(_) | None => Err(PostgresError::Damaged("it does not say of which format it is".into())),
    }
}
