//! Recognition of store files, and their migration between formats.

use std::{collections::BTreeSet, path::Path};

use rusqlite::{Connection, ErrorCode, Result};

use super::{
    super::{
        StoreError,
        migration::{Compatibility, FORMAT},
    },
    checksum,
    fault::Fault,
    file::NOT_SQLITE,
};

/// "PHAS": marks a Phasm store among SQLite files.
const APPLICATION: i64 = 0x5048_4153;
/// "PHSM": marked the stores of development versions before 0.1.0, whose formats are not read.
const DEVELOPMENT: i64 = 0x5048_534d;

/// Steps of the formats: each changes a file of the format before, the first an empty one. A new step raises the format, so that
/// versions that do not know it leave the file alone.
pub(super) const FORMATS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("format2.sql"), include_str!("format3.sql")];
const _: () = assert!(FORMATS.len() == FORMAT as usize);

/// Returns the format of the file, 0 for an empty one.
///
/// # Errors
/// Unless the file is empty or a store of a known format.
pub(super) fn recognise(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let foreign = |found: &str| Err(StoreError::foreign_file(path, found));
    // One transaction, as another process may be making the tables.
    let read = || -> Result<(i64, i64, i64)> {
        let _transaction = connection.unchecked_transaction()?;
        let application = connection.pragma_query_one(None, "application_id")?;
        let format = connection.pragma_query_one(None, "user_version")?;
        let tables = connection.query_one("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, format, tables))
    };
    match read() {
        Ok((0, 0, 0)) => Ok(0),
        Ok((APPLICATION, format @ 1.., _)) => match compare(connection, format) {
            Ok(Difference::None) => within(connection, path, format),
            Ok(Difference::Strange(found)) => foreign(&found),
            Ok(Difference::Damage(found)) => Err(Fault::Damaged(found).at(path, "opened")),
            Err(error) => Err(Fault::Sqlite(error).at(path, "opened")),
        },
        Ok((APPLICATION, found, _)) => {
            Err(Fault::Damaged(format!("there is no store format {found}")).at(path, "opened"))
        }
        Ok((DEVELOPMENT, ..)) => foreign(
            "it was written by a development version of Phasm before 0.1.0, which this version does not read",
        ),
        Ok(_) => foreign("it is an SQLite file of another application"),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => foreign(NOT_SQLITE),
        Err(error) => Err(Fault::Sqlite(error).at(path, "opened")),
    }
}

/// Returns the format, if this version may use it or migrate it.
fn within(connection: &Connection, path: &Path, format: i64) -> Result<i64, StoreError> {
    // The first format has no minimum.
    let minimum = if format > 1 { minimum_reader(connection) } else { Ok(1) };
    let minimum = minimum.map_err(|error| Fault::Sqlite(error).at(path, "opened"))?;
    match Compatibility::of(format, minimum) {
        Compatibility::Usable | Compatibility::Older => Ok(format),
        Compatibility::Newer => Err(StoreError::Newer { path: path.into(), found: minimum, known: FORMAT }),
    }
}

/// Query of the earliest format that a version has to know to use the file.
pub(super) const MINIMUM_READER: &str = "SELECT coalesce(max(minimum), 0) FROM readers";

fn minimum_reader(connection: &Connection) -> Result<i64> {
    connection.query_one(MINIMUM_READER, [], |row| row.get(0))
}

/// A table, index, view or trigger, with the statement that made it.
type Object = (String, String, String, Option<String>);

/// How the objects of a file differ from those of its format.
enum Difference {
    None,
    /// The file has one more.
    Strange(String),
    /// One is missing, or is another.
    Damage(String),
}

/// Compares the file with its format. A view, a trigger or a table that computes could keep a reader of the file busy for ever, and a
/// statement that is another makes another object.
fn compare(connection: &Connection, format: i64) -> Result<Difference> {
    let own = Connection::open_in_memory()?;
    checksum::define(&own)?;
    let steps = FORMATS.get(..usize::try_from(format.min(FORMAT)).unwrap_or(0)).unwrap_or_default();
    steps.iter().try_for_each(|step| own.execute_batch(step))?;
    let (expected, found) = (objects(&own)?, objects(connection)?);
    let named = |(kind, name, ..): &Object| {
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        format!("{kind} `{}`", name.escape_debug())
    };
    let is_known = |object: &&Object| expected.iter().any(|own| (&own.0, &own.1) == (&object.0, &object.1));
    if format > FORMAT {
        return compare_later(connection, &expected, &found);
    }
    if let Some(strange) = found.iter().find(|object| !is_known(object)) {
        return Ok(Difference::Strange(format!(
            "it has a {} that no store of this format has",
            named(strange)
        )));
    }
    let damaged = expected.iter().find(|object| !found.contains(object));
    Ok(damaged.map_or(Difference::None, |object| {
        Difference::Damage(format!("its {} is missing, or is another", named(object)))
    }))
}

/// Compares the file with this version's format, to which a later one has added tables, columns and indexes, and nothing that
/// computes.
fn compare_later(
    connection: &Connection,
    expected: &BTreeSet<Object>,
    found: &BTreeSet<Object>,
) -> Result<Difference> {
    let named = |kind: &str, name: &str| {
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        format!("{kind} `{}`", name.escape_debug())
    };
    for (kind, name, _, _) in found {
        let computes = match kind.as_str() {
            "table" => "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0)",
            "index" => "SELECT EXISTS (SELECT 1 FROM pragma_index_xinfo(?1) WHERE cid = -2)",
            _ => "SELECT ?1 IS NOT NULL",
        };
        if connection.query_one(computes, [name], |row| row.get(0))? {
            return Ok(Difference::Strange(format!("it has a {} that computes", named(kind, name))));
        }
    }
    let stays = |name: &str| name == "readers";
    let is_there = |object: &&Object| {
        let same = |other: &Object| (&object.0, &object.1) == (&other.0, &other.1);
        if stays(&object.1) { found.contains(*object) } else { found.iter().any(same) }
    };
    let missing = expected.iter().filter(|object| object.0 == "table").find(|object| !is_there(object));
    Ok(missing.map_or(Difference::None, |(kind, name, ..)| {
        Difference::Damage(format!("its {} is missing, or is another", named(kind, name)))
    }))
}

/// Characters of a name in messages.
const MAX_NAME_CHARS: usize = 60;

/// Returns all objects but the statistics that SQLite keeps for itself.
fn objects(connection: &Connection) -> Result<BTreeSet<Object>> {
    let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4')";
    let mut statement = connection.prepare(all)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Brings a file of format `found` to the last of `formats`: all steps or none, so that a file whose process was killed in the middle is
/// of the format that it says.
pub(super) fn migrate(connection: &Connection, found: i64, formats: &[&str]) -> Result<()> {
    let missing = formats.get(usize::try_from(found).unwrap_or(usize::MAX)..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(formats.len()).unwrap_or(i64::MAX))?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::{super::schema::open_writer, *};
    use crate::store::Migration;

    /// A file of this format keeps its rows on the way to a next one; a step that fails changes nothing. This version uses the
    /// next format until that raises the minimum.
    #[test]
    fn a_file_is_migrated_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        std::fs::write(&path, "").unwrap();
        let connection = open_writer(&path, None, Migration::Refuse).unwrap();
        connection.execute("INSERT INTO tenants (text) VALUES ('kept')", []).unwrap();
        let state = || -> (i64, i64, String) {
            let format = connection.pragma_query_one(None, "user_version").unwrap();
            let columns = "SELECT count(*) FROM pragma_table_info('tenants')";
            let columns = connection.query_one(columns, [], |row| row.get(0)).unwrap();
            (format, columns, connection.query_one("SELECT text FROM tenants", [], |row| row.get(0)).unwrap())
        };
        let [first, second, third] = FORMATS;
        let add = "ALTER TABLE tenants ADD COLUMN noted INTEGER;";
        migrate(
            &connection,
            3,
            &[first, second, third, "ALTER TABLE tenants ADD COLUMN noted INTEGER; SELECT no_such();"],
        )
        .unwrap_err();
        assert_eq!(state(), (3, 2, "kept".to_owned()));
        migrate(&connection, 3, &[first, second, third, add]).unwrap();
        assert_eq!(state(), (4, 3, "kept".to_owned()));
        migrate(&connection, 4, &[first, second, third, add]).unwrap();
        drop(open_writer(&path, None, Migration::Apply).unwrap());
        assert_eq!(state(), (4, 3, "kept".to_owned()));
        connection.execute("UPDATE readers SET minimum = 4", []).unwrap();
        drop(connection);
        let newer = open_writer(&path, None, Migration::Apply).unwrap_err();
        assert!(matches!(newer, StoreError::Newer { found: 4, known: 3, .. }), "{newer:?}");
    }

    /// A later format may add tables, columns and indexes, and nothing that computes.
    #[test]
    fn a_later_file_that_computes_is_refused() {
        for (added, is_store) in [
            ("CREATE TABLE more (x INTEGER); CREATE INDEX more_of ON more (x)", true),
            ("CREATE VIEW v AS SELECT 1", false),
            ("CREATE TRIGGER t AFTER DELETE ON runs BEGIN DELETE FROM runs; END", false),
            ("ALTER TABLE runs ADD COLUMN z INTEGER AS (abs(number))", false),
            ("CREATE INDEX i ON runs (abs(number))", false),
            ("DROP TABLE readers; CREATE TABLE readers (minimum)", false),
            ("DROP TABLE tenants", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("runs.db");
            std::fs::write(&path, "").unwrap();
            drop(open_writer(&path, None, Migration::Refuse).unwrap());
            let connection = Connection::open(&path).unwrap();
            connection.execute_batch(&format!("{added}; PRAGMA user_version = 4")).unwrap();
            assert_eq!(recognise(&connection, &path).is_ok(), is_store, "{added}");
        }
    }

    /// R-H22: a file that computes while it is read is no store.
    #[test]
    fn a_file_with_objects_of_others_is_refused() {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
        for (changed, named) in [
            (format!("CREATE VIEW v AS {endless}"), "view `v`"),
            ("CREATE TRIGGER t AFTER DELETE ON runs BEGIN DELETE FROM runs; END".to_owned(), "trigger `t`"),
            ("CREATE INDEX i ON runs (abs(number))".to_owned(), "index `i`"),
            ("CREATE TABLE x (y)".to_owned(), "table `x`"),
            (format!("ALTER TABLE runs RENAME TO old; CREATE VIEW runs AS {endless}"), "`"),
            (
                "ALTER TABLE runs ADD COLUMN z INTEGER AS (abs(number))".to_owned(),
                "its table `runs` is missing, or is another",
            ),
            ("DROP TABLE tenants".to_owned(), "table `tenants` is missing, or is another"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("runs.db");
            std::fs::write(&path, "").unwrap();
            drop(open_writer(&path, None, Migration::Refuse).unwrap());
            let connection = Connection::open(&path).unwrap();
            connection.execute_batch(&changed).unwrap();
            match recognise(&connection, &path) {
                Err(error @ (StoreError::Foreign { .. } | StoreError::Corrupt { .. })) => {
                    assert!(format!("{error:?}").contains(named), "{changed}: {error:?}");
                }
                other => panic!("{changed}: {other:?}"),
            }
            assert!(super::super::SqliteReader::open(&path).is_err(), "{changed}");
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        std::fs::write(&path, "").unwrap();
        drop(open_writer(&path, None, Migration::Refuse).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("ANALYZE; VACUUM").unwrap();
        assert_eq!(recognise(&connection, &path).unwrap(), FORMAT);
    }
}
