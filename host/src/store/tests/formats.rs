//! Stores of other formats than this version's: the one before, and ones that a later version has made.

use rusqlite::Connection;

use super::{
    super::{CatalogKind, Change, ClaimRequest, EntryName, Journal as _, Leases as _, Migration},
    damage::{compare, fill, see},
    *,
};

/// The first format, as the version that had it made it.
const FIRST: &str = include_str!("../sqlite/schema.sql");

/// Makes a file of the first format with the rows of one of this format.
fn first_format(from: &std::path::Path, to: &std::path::Path) {
    let connection = Connection::open(to).unwrap();
    connection.execute_batch(FIRST).unwrap();
    connection.execute_batch("PRAGMA application_id = 0x50484153; PRAGMA user_version = 1").unwrap();
    connection.execute("ATTACH ?1 AS later", [from.to_str().unwrap()]).unwrap();
    let names = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut names = connection.prepare(names).unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for name in names {
        let columns = "SELECT group_concat(a.name) FROM pragma_table_info(?1, 'main') a JOIN pragma_table_info(?1, 'later') b USING (name)";
        let columns: String = connection.query_one(columns, [&name], |row| row.get(0)).unwrap();
        let copy = format!(
            "DELETE FROM main.{name}; INSERT INTO main.{name} ({columns}) SELECT {columns} FROM later.{name}"
        );
        connection.execute_batch(&copy).unwrap();
    }
}

/// R-H33: a file of the format before is migrated only by a caller that says so, and then has all that it had.
#[tokio::test]
async fn a_file_of_the_format_before_is_migrated_if_that_is_wanted() {
    let (dir, store) = in_file();
    fill(&store).await;
    let path = store.path();
    drop(store);
    drop(Sqlite::open(&path).unwrap());
    let written = see(&Sqlite::open(&path).unwrap()).await;
    let first = dir.path().join("first.db");
    first_format(&path, &first);
    let before = std::fs::read(&first).unwrap();
    for refused in [
        Sqlite::open(&first).err(),
        Sqlite::beside(&first).err(),
        SqliteReader::open(&first).err(),
        Sqlite::post_beside(&first, "open", b"x").err(),
    ] {
        let refused = refused.unwrap();
        assert!(matches!(refused, StoreError::Older { found: 1, known: 3, .. }), "{refused:?}");
        assert!(refused.to_string().contains("run `phasm migrate`, or start `phasm serve`"), "{refused}");
    }
    assert_eq!(std::fs::read(&first).unwrap(), before);
    let store = Sqlite::open_with(&first, Migration::Apply).unwrap();
    let read = see(&store).await;
    assert_eq!(compare("migrated", &written, &read), 0, "{read:?}");
    drop(store);
    let store = Sqlite::open(&first).unwrap();
    append(&store, "new", 0, b"x").await.unwrap();
    let lease = store.claim(wanted("next")).await.unwrap();
    let body: Arc<dyn Encode> = Arc::new(b"on".to_vec());
    let open = lease.iter().find(|lease| &*lease.head.run_id == "open").unwrap();
    store.append(open, SUCCEEDED, record(2, 1, body), Vec::new()).await.unwrap();
    assert!(store.delete("first").await.unwrap());
}

fn wanted(host: &str) -> ClaimRequest {
    ClaimRequest { host: host.into(), now: Timestamp(9), limit: 99, except: Vec::new() }
}

/// Tries each kind of write; a later version has raised the minimum meanwhile.
async fn refuses_to_write(store: &dyn Store) {
    let newer = |what: &str, error: Option<StoreError>| match error {
        Some(StoreError::Newer { found: 4, known: 3, .. }) => {}
        other => panic!("{what}: {other:?}"),
    };
    newer("record", append(store, "a", 1, b"late").await.err());
    newer("run", append(store, "b", 0, b"late").await.err());
    newer("request", store.post("a", b"late".to_vec()).await.err());
    let change = Change {
        name: EntryName { shelf: CatalogKind::Schedules, namespace: "n".into(), name: "s".into() },
        from: 0,
        due: None,
        body: "late".into(),
        texts: None,
    };
    newer("entry", store.change(change).await.err());
    newer("claim", store.claim(wanted("other")).await.err());
    newer("release", store.release(&Lease::first(head("a"), here()), None).await.err());
    newer("end", store.until_gone().await.err());
    assert_eq!(seqs(store, "a").await, [0]);
    assert_eq!(store.get("b").await.unwrap(), None);
}

/// R-H33: a host finds at its next write that a later version has made the store its own.
#[tokio::test]
async fn the_next_write_to_a_file_that_needs_a_later_version_fails() {
    let (_dir, store) = in_file();
    append(&store, "a", 0, b"x").await.unwrap();
    let other = Connection::open(store.path()).unwrap();
    // A later format that this version may use.
    other.execute_batch("ALTER TABLE tenants ADD COLUMN later INTEGER; PRAGMA user_version = 4").unwrap();
    store.keep_tenants("kept".into()).await.unwrap();
    append(&Sqlite::beside(store.path()).unwrap(), "c", 0, b"x").await.unwrap();
    assert_eq!(SqliteReader::open(store.path()).unwrap().list(Filter::default(), 9).await.unwrap().len(), 2);
    other.execute("UPDATE readers SET minimum = 4", []).unwrap();
    refuses_to_write(&store).await;
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::store::{
        Mailbox as _, Postgres, PostgresReader,
        tests::{
            postgres::{fresh, opened, schema},
            server::server,
        },
    };

    const FIRST: &str = concat!(include_str!("../postgres/schema.sql"), include_str!("format1.sql"));

    /// R-H33: tables of the format before are migrated only by a caller that says so, then have all that they had, and no function
    /// that a host of the version before calls.
    #[tokio::test]
    async fn tables_of_the_format_before_are_migrated_if_that_is_wanted() {
        let Some(server) = server() else { return };
        let (later, url) = (fresh(server), fresh(server));
        let store = opened(&later);
        fill(&store).await;
        let written = see(&store).await;
        let (later, first) = (schema(&later), schema(&url));
        server.psql(&format!(
            "CREATE SCHEMA {first}; SET search_path = {first}; {FIRST}; INSERT INTO store_format VALUES (1)"
        ));
        let columns = server.psql(&format!(
            "SELECT table_name, string_agg(column_name, ', ') FROM information_schema.columns a
             JOIN information_schema.columns b USING (table_name, column_name)
             WHERE a.table_schema = '{first}' AND b.table_schema = '{later}' AND table_name <> 'store_format' GROUP BY 1"
        ));
        for line in columns.lines() {
            let (table, columns) = line.split_once('|').unwrap();
            server.psql(&format!(
                "INSERT INTO {first}.{table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM {later}.{table}"
            ));
        }
        for (table, column) in [("runs", "number"), ("documents", "id"), ("letters", "id")] {
            server
                .psql(&format!("SELECT setval(pg_get_serial_sequence('{first}.{table}', '{column}'), 100)"));
        }
        let refused = [Postgres::open(&url).err().unwrap(), PostgresReader::open(&url).err().unwrap()];
        for refused in refused {
            assert!(matches!(refused, StoreError::Older { found: 1, known: 3, .. }), "{refused:?}");
        }
        let functions =
            format!("SELECT count(*) FROM pg_proc WHERE pronamespace = '{first}'::regnamespace AND proname ");
        assert_eq!(server.psql(&format!("{functions} = 'append_records'")), "1");
        drop(Postgres::open_with(&url, Migration::Apply).unwrap());
        for old in ["append_records", "claim_runs", "heartbeat", "post_letter"] {
            assert_eq!(server.psql(&format!("{functions} = '{old}'")), "0", "{old}");
        }
        let store = opened(&url);
        let read = see(&store).await;
        assert_eq!(compare("migrated", &written, &read), 0, "{read:?}");
        append(&store, "new", 0, b"x").await.unwrap();
        let body: Arc<dyn Encode> = Arc::new(b"on".to_vec());
        store.put(head("open"), SUCCEEDED, record(2, 1, body)).await.unwrap();
        assert!(store.delete("first").await.unwrap());
    }

    /// R-H33.
    #[tokio::test]
    async fn the_next_write_to_tables_that_need_a_later_version_fails() {
        let Some(server) = server() else { return };
        let url = fresh(server);
        let store = opened(&url);
        append(&store, "a", 0, b"x").await.unwrap();
        let schema = schema(&url);
        server.psql(&format!(
            "ALTER TABLE {schema}.tenants ADD COLUMN later bigint; UPDATE {schema}.store_format SET version = 4"
        ));
        append(&opened(&url), "c", 0, b"x").await.unwrap();
        assert_eq!(PostgresReader::open(&url).unwrap().list(Filter::default(), 9).await.unwrap().len(), 2);
        // Each of the two connections that read; later ones are refused.
        for _ in 0..2 {
            assert_eq!(seqs(&store, "a").await, [0]);
        }
        server.psql(&format!("UPDATE {schema}.store_format SET minimum_reader = 4"));
        refuses_to_write(&store).await;
    }

    /// R-H33: a migration that deletes the functions of formats before is found as well.
    #[tokio::test]
    async fn the_next_write_without_its_function_fails() {
        let Some(server) = server() else { return };
        let url = fresh(server);
        let store = opened(&url);
        append(&store, "a", 0, b"x").await.unwrap();
        let post = "post_letter_3(text, bytea, bigint)";
        server.psql(&format!("DROP FUNCTION {}.{post}", schema(&url)));
        let refused = store.post("a", b"x".to_vec()).await.unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found: 4, known: 3, .. }), "{refused:?}");
    }

    /// R-H33: hosts of format 2 find all that they call, in tables of this version and in migrated ones, until the minimum is raised.
    #[tokio::test]
    async fn hosts_of_the_format_before_use_the_tables_as_well() {
        let Some(server) = server() else { return };
        for is_migrated in [false, true] {
            let url = fresh(server);
            drop(opened(&url));
            let schema = schema(&url);
            let counted = |number: u32| {
                server.psql(&format!(
                    "SELECT count(*) FROM pg_proc WHERE pronamespace = '{schema}'::regnamespace AND proname LIKE '%\\_{number}'"
                ))
            };
            if is_migrated {
                // Tables that a version of format 2 has made.
                server.psql(&format!(
                    "SET search_path = {schema}; DROP INDEX runs_of_namespace; UPDATE store_format SET version = 2;
                    DROP TRIGGER claimed_runs ON runs;
                    CREATE TRIGGER claimed_runs AFTER UPDATE OF epoch ON runs FOR EACH ROW WHEN (OLD.epoch <> NEW.epoch)
                        EXECUTE FUNCTION void_offers_2();
                    DO $$ DECLARE f regprocedure; BEGIN
                        FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = '{schema}'::regnamespace AND proname LIKE '%\\_3' LOOP
                            EXECUTE 'DROP FUNCTION ' || f;
                        END LOOP;
                    END $$"
                ));
                assert_eq!(counted(3), "0");
                let refused = Postgres::open(&url).err().unwrap();
                assert!(matches!(refused, StoreError::Older { found: 2, known: 3, .. }), "{refused:?}");
                drop(Postgres::open_with(&url, Migration::Apply).unwrap());
            }
            assert!(counted(2) == counted(3) && counted(2) != "0", "{} {}", counted(2), counted(3));
            let store = opened(&url);
            append(&store, "a", 0, b"x").await.unwrap();
            let post = |number: u32| {
                format!("SET search_path = {schema}; SELECT count(*) FROM post_letter_{number}('a', 'x', 1)")
            };
            server.psql(&post(2));
            append(&store, "a", 1, b"x").await.unwrap();
            server.psql(&format!("UPDATE {schema}.store_format SET minimum_reader = 3"));
            server.psql(&format!(
                "DO $$ BEGIN SET search_path = {schema}; PERFORM post_letter_2('a', 'x', 1); RAISE EXCEPTION 'written';
                EXCEPTION WHEN SQLSTATE 'PH001' THEN NULL; END $$"
            ));
            append(&store, "a", 2, b"x").await.unwrap();
        }
    }
}
