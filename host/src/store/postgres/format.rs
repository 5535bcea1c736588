//! Recognition of a store's tables, their creation, and their migration between formats.

use tokio::time::timeout;
use tokio_postgres::{Client, types::Type};

use super::{
    super::{
        Migration, StoreError,
        migration::{Compatibility, FORMAT},
    },
    address::Address,
    connection,
    fault::PostgresError,
    functions,
};

/// Steps of the formats: each changes tables of the format before, the first an empty schema. A new step raises the format. The
/// functions are created after the last one.
const FORMATS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("format2.sql"), include_str!("format3.sql")];
const _: () = assert!(FORMATS.len() == FORMAT as usize);
/// The earliest format that a version has to know to use tables of the last one. A step that only adds leaves it as it is; one that
/// raises it also deletes the functions of the formats before.
const MINIMUM_READER: i64 = 2;
/// "PHSM": key of the advisory lock by which hosts that start at the same time create or migrate the tables one after the other.
const LOCK: i64 = 0x5048_534d;

/// Checks that there are tables that this version may use.
pub(super) async fn check(client: &Client, address: &Address) -> Result<(), PostgresError> {
    match recognise(client, address).await? {
        FORMAT.. => Ok(()),
        0 => Err(foreign(
            address,
            format!("it has no tables in schema {} (`phasm serve` creates them)", address.schema),
        )),
        found => Err(StoreError::Older { path: address.path(), found, known: FORMAT }.into()),
    }
}

/// Makes a connection, and by it creates the tables; or migrates those of an older format if `migration` says so, however long that
/// takes.
pub(super) async fn prepare(address: &Address, migration: Migration) -> Result<(), PostgresError> {
    let patience = address.patience(0);
    let made = async {
        let (client, connection) = connection::connect(address).await?;
        let connection = tokio::spawn(connection);
        connection::prepare(&client, address).await?;
        Ok::<_, PostgresError>((client, connection))
    };
    let (client, connection) = timeout(patience, made).await.unwrap_or(Err(PostgresError::Mute(patience)))?;
    let done = bring_up_to_date(&client, address, migration).await;
    connection.abort();
    done
}

/// All steps or none, however many hosts do it at the same time.
async fn bring_up_to_date(
    client: &Client,
    address: &Address,
    migration: Migration,
) -> Result<(), PostgresError> {
    let found = timeout(address.patience(0), recognise(client, address)).await;
    match found.unwrap_or(Err(PostgresError::Mute(address.patience(0))))? {
        FORMAT.. => return Ok(()),
        found @ 1.. if migration == Migration::Refuse => {
            return Err(StoreError::Older { path: address.path(), found, known: FORMAT }.into());
        }
        _ => {}
    }
    client
        .batch_execute(&format!(
            "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})"
        ))
        .await?;
    let migrated = match recognise(client, address).await {
        Ok(found) => migrate(client, address, found, &FORMATS).await,
        Err(error) => Err(error),
    };
    client.batch_execute(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    migrated
}

/// Brings tables of format `found` to the last of `formats`, in the caller's transaction.
async fn migrate(
    client: &Client,
    address: &Address,
    found: i64,
    formats: &[&str],
) -> Result<(), PostgresError> {
    let missing = formats.get(usize::try_from(found).unwrap_or(usize::MAX)..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    // `IF NOT EXISTS` would need the right to create schemas even where an administrator has created this one.
    let schema = &address.schema;
    let absent = "SELECT 1 WHERE to_regnamespace($1) IS NULL";
    if !client.query_typed(absent, &[(schema, Type::TEXT)]).await?.is_empty() {
        client.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).await?;
    }
    if found > 0 {
        // Writes of hosts that have checked the minimum end before it changes, and later ones see the new one.
        client.batch_execute("LOCK TABLE store_format IN ACCESS EXCLUSIVE MODE").await?;
    }
    for step in missing {
        client.batch_execute(step).await?;
    }
    // Hosts of each format that may use the tables find their functions, also in tables that this version has made.
    for format in MINIMUM_READER.max(found + 1)..=FORMAT {
        client.batch_execute(&functions::source(format)).await?;
    }
    let version = formats.len();
    client
        .batch_execute(&format!(
            "DELETE FROM store_format; INSERT INTO store_format (version, minimum_reader) VALUES ({version}, {MINIMUM_READER})"
        ))
        .await?;
    Ok(())
}

/// Triggers of the first format.
const FIRST_FUNCTIONS: &str = "CREATE TRIGGER gone_runs ";

/// Returns the format of the tables, 0 if there are none.
///
/// # Errors
/// Unless there are no tables or they are a store's of a known format.
async fn recognise(client: &Client, address: &Address) -> Result<i64, PostgresError> {
    let relations =
        "SELECT count(*) AS relations, count(*) FILTER (WHERE relname = 'store_format') AS stores,
            count(*) FILTER (WHERE relname IN ('format', 'journal')) AS development
        FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1";
    let rows = client.query_typed(relations, &[(&address.schema, Type::TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let number = |column| row.try_get::<_, i64>(column);
    match (number("relations")?, number("stores")?, number("development")?) {
        (0, ..) => return Ok(0),
        (_, 1, _) => {}
        (_, _, 2) => {
            let found = format!(
                "schema {} was written by a development version of Phasm before 0.1.0, which this version does not read",
                address.schema
            );
            return Err(foreign(address, found));
        }
        _ => return Err(foreign(address, format!("schema {} holds other tables", address.schema))),
    }
    // One of these could keep a reader busy for ever, already when the format is read.
    let strange = "SELECT 'relation' AS kind, c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND (c.relkind IN ('v', 'm', 'f', 'p') OR c.relrowsecurity
                OR EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = c.oid))
        UNION ALL SELECT 'trigger', t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal
        ORDER BY 1, 2";
    for row in client.query_typed(strange, &[(&address.schema, Type::TEXT)]).await? {
        let (kind, name): (String, String) = (row.try_get("kind")?, row.try_get("name")?);
        let mut own = FORMATS.iter().copied().chain([functions::SOURCE, FIRST_FUNCTIONS]);
        let is_own = own.any(|step| step.contains(&format!("CREATE TRIGGER {name} ")));
        if kind != "trigger" || !is_own {
            let what =
                if kind == "trigger" { "a trigger" } else { "a view, or a table with rules or policies" };
            let found = format!("schema {} holds {what}, `{}`", address.schema, name.escape_debug());
            return Err(foreign(address, found));
        }
    }
    // The first format has no minimum.
    let formats = "SELECT max(version) AS version, coalesce(max((to_jsonb(f) ->> 'minimum_reader')::bigint), max(version)) AS minimum
        FROM store_format f";
    let rows = client.query_typed(formats, &[]).await?;
    let number = |column| rows.first().and_then(|row| row.try_get::<_, Option<i64>>(column).ok()).flatten();
    let (Some(found @ 1..), Some(minimum)) = (number("version"), number("minimum")) else {
        return Err(PostgresError::Damaged("its tables do not say their format".into()));
    };
    match Compatibility::of(found, minimum) {
        Compatibility::Usable | Compatibility::Older => Ok(found),
        Compatibility::Newer => {
            Err(StoreError::Newer { path: address.path(), found: minimum, known: FORMAT }.into())
        }
    }
}

fn foreign(address: &Address, found: String) -> PostgresError {
    StoreError::Foreign { path: address.path(), found, instead: "database or schema" }.into()
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests {
    use super::{
        super::connection::{connect, prepare},
        *,
    };
    use crate::store::{
        Postgres, Store,
        tests::{
            postgres::{fresh, schema},
            server::server,
        },
    };

    /// R-H13: tables keep their rows on the way to a next format; a step that fails changes nothing.
    #[tokio::test]
    async fn tables_are_migrated_whole_or_not_at_all() {
        let Some(server) = server() else { return };
        let url = fresh(server);
        Postgres::open(&url).unwrap().keep_tenants("kept".into()).await.unwrap();
        let address = Address::parse(&url).unwrap();
        let (client, connection) = connect(&address).await.unwrap();
        tokio::spawn(connection);
        prepare(&client, &address).await.ok().unwrap();
        let state = || {
            let schema = schema(&url);
            server.psql(&format!(
                "SELECT version, (SELECT count(*) FROM information_schema.columns
                    WHERE table_schema = '{schema}' AND table_name = 'tenants'), (SELECT text FROM {schema}.tenants)
                FROM {schema}.store_format"
            ))
        };
        let [first, second, third] = FORMATS;
        let add = "ALTER TABLE tenants ADD COLUMN noted bigint;";
        let broken = format!("{add} SELECT no_such();");
        let migrate_to = async |formats: &[&str]| {
            let found = server.psql(&format!("SELECT version FROM {}.store_format", schema(&url)));
            client.batch_execute("BEGIN").await.unwrap();
            let migrated = migrate(&client, &address, found.parse().unwrap(), formats).await;
            client.batch_execute(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await.unwrap();
            migrated.is_ok()
        };
        assert!(!migrate_to(&[first, second, third, &broken]).await);
        assert_eq!(state(), "3|2|kept");
        assert!(migrate_to(&[first, second, third, add]).await);
        assert_eq!(state(), "4|3|kept");
        assert!(migrate_to(&[first, second, third, add]).await);
        // This version uses the next format until that raises the minimum.
        Postgres::open(&url).unwrap().keep_tenants("kept".into()).await.unwrap();
        assert_eq!(state(), "4|3|kept");
        server.psql(&format!("UPDATE {}.store_format SET minimum_reader = 4", schema(&url)));
        let newer = Postgres::open(&url).err().unwrap();
        assert!(matches!(newer, StoreError::Newer { found: 4, known: 3, .. }), "{newer:?}");
    }
}
