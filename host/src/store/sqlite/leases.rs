//! Claims: owners of runs, and when runs are due.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use rusqlite::{Connection, named_params, params};

use super::{
    super::{Claim, ClaimRequest, HostId, Lease, Note, RunHead, StoreError},
    checksum::SOUND,
    fault::Fault,
    rows,
    write_transaction::WriteTransaction,
};

/// Runs that the host may have, each with the time since when: of those that are due the first, and all that have mail or whose owner
/// is another, by indexes that hold little else. `CROSS JOIN` says in which order tables are gone through.
const FREE: &str = "
    SELECT * FROM (SELECT number, wake_at AS at FROM runs
        WHERE wake_at <= :now AND run_id NOT IN (SELECT value FROM json_each(:except))
        ORDER BY wake_at, priority DESC, number LIMIT :limit)
    UNION ALL
    SELECT number, 0 FROM letters CROSS JOIN runs ON number = run WHERE reply IS NULL AND open AND owner IS NULL
    UNION ALL
    SELECT number, until FROM hosts CROSS JOIN runs ON owner = host WHERE open AND host <> :host";

/// Runs that only wait lose their owner once its host is gone: they are fenced off, and due when their clock runs out.
const LET_REST: &str = "
    UPDATE runs SET owner = NULL, epoch = epoch + 1, wake_at = rests_until,
        lease_checksum = row_checksum(number, epoch + 1, NULL, rests_until, note, noted_at)
    WHERE open AND rest IS NOT NULL AND owner IN (SELECT host FROM hosts WHERE until <= ?1 AND host <> ?2)
    RETURNING run_id";

/// Owners that others have written beside the holder of the file, each found by the index.
const MEET: &str = "
    INSERT OR IGNORE INTO hosts
    WITH RECURSIVE owners (host) AS (
        SELECT min(owner) FROM runs WHERE open AND owner IS NOT NULL
        UNION ALL
        SELECT (SELECT min(owner) FROM runs WHERE open AND owner > host) FROM owners WHERE host IS NOT NULL)
    SELECT host, 0 FROM owners WHERE host IS NOT NULL";

/// Processes that submitted beside the holder of the file, or have left, and own nothing any more.
const FORGET: &str = "
    DELETE FROM hosts WHERE until = 0
        AND NOT EXISTS (SELECT 1 FROM runs WHERE open AND owner IS NOT NULL AND owner = host)";

/// The same for all hosts that had the file before. Their other runs go to the first claim.
pub(super) const TAKE_OVER: &str = "
    BEGIN IMMEDIATE;
    UPDATE runs SET owner = NULL, epoch = epoch + 1, wake_at = rests_until,
            lease_checksum = row_checksum(number, epoch + 1, NULL, rests_until, note, noted_at)
        WHERE open AND owner IS NOT NULL AND rest IS NOT NULL;
    INSERT INTO hosts SELECT DISTINCT owner, 0 FROM runs WHERE open AND owner IS NOT NULL;
    COMMIT;";

/// `next_due` of a store.
pub(super) fn next_due(connection: &Connection, wanted: &ClaimRequest) -> Result<Option<Timestamp>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT min(at) FROM ({FREE}) CROSS JOIN runs USING (number)
         WHERE run_id NOT IN (SELECT value FROM json_each(:except))"
    ))?;
    let except = except(wanted);
    let at: Option<i64> = statement.query_one(
        named_params! { ":host": wanted.host.as_str(), ":except": except, ":now": i64::MAX, ":limit": 1 },
        |row| row.get(0),
    )?;
    Ok(at.map(Timestamp))
}

/// `claim` of a store.
pub(super) fn claim(tx: &mut WriteTransaction<'_>, wanted: &ClaimRequest) -> Result<Vec<Lease>, Fault> {
    tx.connection.prepare_cached(MEET)?.execute([])?;
    let_rest(tx, wanted.now, wanted.host.as_str())?;
    let mut statement = tx.connection.prepare_cached(&format!(
        "SELECT number, min(at), run_id, workflow, namespace, priority, submitted_at, key, labels, epoch
         FROM ({FREE}) CROSS JOIN runs USING (number)
         WHERE at <= :now AND run_id NOT IN (SELECT value FROM json_each(:except))
         GROUP BY number ORDER BY min(at), priority DESC, number LIMIT :limit"
    ))?;
    let rows = statement.query_map(
        named_params! {
            ":host": wanted.host.as_str(),
            ":now": wanted.now.0,
            ":except": except(wanted),
            ":limit": i64::try_from(wanted.limit).unwrap_or(i64::MAX),
        },
        |row| Ok((row.get::<_, i64>(0)?, rows::leased_head(row, 2), row.get::<_, u64>(9)?)),
    )?;
    let found: Vec<_> = rows.collect::<Result<_, _>>()?;
    let lend = |(number, head, epoch)| lend(tx, number, head, epoch, &wanted.host);
    let leases = found.into_iter().map(lend).collect::<Result<_, _>>()?;
    tx.connection.prepare_cached(FORGET)?.execute([])?;
    Ok(leases)
}

/// `owned` of a store.
pub(super) fn owned(connection: &Connection, host: &HostId) -> Result<Vec<Arc<str>>, Fault> {
    let mut statement = connection.prepare_cached("SELECT run_id FROM runs WHERE open AND owner = ?1")?;
    let rows = statement.query_map([host.as_str()], |row| Ok(rows::lossy(row, 0).into()))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `claim_run` of a store.
pub(super) fn claim_run(
    tx: &mut WriteTransaction<'_>,
    host: &HostId,
    run_id: &Arc<str>,
    now: Timestamp,
) -> Result<Claim, Fault> {
    let mut statement = tx.connection.prepare_cached(
        &format!(
        "SELECT run_id, workflow, namespace, priority, submitted_at, key, labels, number, epoch, open OR NOT {SOUND}, owner,
             coalesce((SELECT until FROM hosts WHERE host = owner), 0)
         FROM runs WHERE run_id = ?1",
    ))?;
    let mut rows = statement.query([run_id])?;
    let row = rows.next()?.ok_or_else(|| StoreError::NotFound { run_id: Arc::clone(run_id) })?;
    let head = rows::leased_head(row, 0);
    let number: i64 = row.get(7)?;
    let epoch: u64 = row.get(8)?;
    let is_open: bool = row.get(9)?;
    let owner: Option<String> = row.get(10)?;
    let until: i64 = row.get(11)?;
    Ok(match owner {
        _ if !is_open => Claim::Closed,
        Some(owner) if owner != host.as_str() && until > now.0 => Claim::Held(HostId::from(owner.as_str())),
        Some(_) | None => Claim::Leased(lend(tx, number, head, epoch, host)?),
    })
}

fn let_rest(tx: &mut WriteTransaction<'_>, now: Timestamp, but: &str) -> Result<(), Fault> {
    let mut statement = tx.connection.prepare_cached(LET_REST)?;
    let mut rows = statement.query(params![now.0, but])?;
    while let Some(row) = rows.next()? {
        tx.heads.forget(&rows::lossy(row, 0));
    }
    Ok(())
}

fn lend(
    tx: &mut WriteTransaction<'_>,
    number: i64,
    head: RunHead,
    epoch: u64,
    host: &HostId,
) -> Result<Lease, Fault> {
    let epoch = epoch + 1;
    rows::add_owner(tx.connection, host)?;
    let mut statement = tx.connection.prepare_cached(
        "UPDATE runs SET owner = ?2, epoch = ?3, wake_at = NULL, note = NULL, noted_at = NULL,
             lease_checksum = row_checksum(number, ?3, ?2, NULL, NULL, NULL)
         WHERE number = ?1",
    )?;
    statement.execute(params![number, host.as_str(), epoch])?;
    tx.heads.forget(&head.run_id);
    Ok(Lease { head: Arc::new(head), host: host.clone(), epoch })
}

/// `release` of a store.
pub(super) fn release(
    tx: &mut WriteTransaction<'_>,
    lease: &Lease,
    wake_at: Option<Timestamp>,
    note: Option<&Note>,
) -> Result<(), Fault> {
    let run = tx.leased(lease)?.run;
    let mut statement = tx.connection.prepare_cached(
        "UPDATE runs SET owner = NULL, wake_at = iif(open, ?2, NULL), note = ?3, noted_at = ?4,
             lease_checksum = row_checksum(number, epoch, NULL, iif(open, ?2, NULL), ?3, ?4)
         WHERE number = ?1",
    )?;
    let (why, since) = (note.map(|note| &*note.why), note.map(|note| note.since.0));
    statement.execute(params![run, wake_at.map(|at| at.0), why, since])?;
    // The next owner reads where the journal ends.
    tx.heads.forget(&lease.head.run_id);
    Ok(())
}

/// `note` of a store.
pub(super) fn note(tx: &WriteTransaction<'_>, lease: &Lease, note: Option<&Note>) -> Result<(), Fault> {
    let run = tx.leased(lease)?.run;
    let mut statement =
        tx.connection.prepare_cached(
            "UPDATE runs SET note = ?2, noted_at = ?3, lease_checksum = row_checksum(number, epoch, owner, wake_at, ?2, ?3)
             WHERE number = ?1",
        )?;
    statement.execute(params![run, note.map(|note| &*note.why), note.map(|note| note.since.0)])?;
    Ok(())
}

/// `heartbeat` of a store.
pub(super) fn heartbeat(tx: &mut WriteTransaction<'_>, host: &HostId, until: Timestamp) -> Result<(), Fault> {
    let mut statement = tx.connection.prepare_cached(
        "INSERT INTO hosts (host, until) VALUES (?1, ?2) ON CONFLICT (host) DO UPDATE SET until = excluded.until",
    )?;
    statement.execute(params![host.as_str(), until.0])?;
    if until <= Timestamp(0) { let_rest(tx, until, "") } else { Ok(()) }
}

fn except(wanted: &ClaimRequest) -> String {
    serde_json::to_string(&wanted.except).unwrap_or_default()
}
