//! Who has which run, and when it is due.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::{
    super::{Claim, HostId, Lease, RunHead, StoreError, Wanted},
    fault::Fault,
    group::Group,
};

/// Runs that the host may have, each with the time since when: the rows of partial indexes and nothing else.
const FREE: &str = "
    SELECT number, wake_at AS at FROM runs WHERE wake_at IS NOT NULL
    UNION ALL
    SELECT number, 0 FROM runs WHERE number IN (SELECT run FROM letters WHERE reply IS NULL) AND open AND owner IS NULL
    UNION ALL
    SELECT number, coalesce((SELECT until FROM hosts WHERE host = owner), 0) FROM runs
        WHERE owner IS NOT NULL AND owner <> :host";

/// As `next_due` of a store.
pub(super) fn next_due(connection: &Connection, wanted: &Wanted) -> Result<Option<Timestamp>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT min(at) FROM ({FREE}) JOIN runs USING (number)
         WHERE run_id NOT IN (SELECT value FROM json_each(:except))"
    ))?;
    let except = except(wanted);
    let at: Option<i64> = statement
        .query_one(named_params! { ":host": wanted.host.as_str(), ":except": except }, |row| row.get(0))?;
    Ok(at.map(Timestamp))
}

/// As `claim` of a store.
pub(super) fn claim(group: &mut Group<'_>, wanted: &Wanted) -> Result<Vec<Lease>, Fault> {
    let mut statement = group.transaction.prepare_cached(&format!(
        "SELECT number, min(at), run_id, workflow, namespace, priority, submitted_at, key, epoch
         FROM ({FREE}) JOIN runs USING (number)
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
        |row| Ok((row.get::<_, i64>(0)?, head(row, 2)?, row.get::<_, u64>(8)?)),
    )?;
    let found: Vec<_> = rows.collect::<Result<_, _>>()?;
    let lend = |(number, head, epoch)| lend(group, number, head, epoch, &wanted.host);
    found.into_iter().map(lend).collect()
}

/// As `claim_run` of a store.
pub(super) fn claim_run(
    group: &mut Group<'_>,
    host: &HostId,
    run_id: &Arc<str>,
    now: Timestamp,
) -> Result<Claim, Fault> {
    let mut statement = group.transaction.prepare_cached(
        "SELECT run_id, workflow, namespace, priority, submitted_at, key, number, epoch, open, owner,
             coalesce((SELECT until FROM hosts WHERE host = owner), 0)
         FROM runs WHERE run_id = ?1",
    )?;
    type Found = (RunHead, i64, u64, bool, Option<String>, i64);
    let read = |row: &Row<'_>| -> rusqlite::Result<Found> {
        Ok((head(row, 0)?, row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?, row.get(10)?))
    };
    let found = statement.query_one([run_id], read).optional()?;
    let not_found = || StoreError::NotFound { run_id: Arc::clone(run_id) };
    let (head, number, epoch, open, owner, until) = found.ok_or_else(not_found)?;
    Ok(match owner {
        _ if !open => Claim::Closed,
        Some(owner) if owner == host.as_str() => {
            Claim::Leased(Lease { head: Arc::new(head), host: host.clone(), epoch })
        }
        Some(owner) if until > now.0 => Claim::Held(HostId::from(owner.as_str())),
        Some(_) | None => Claim::Leased(lend(group, number, head, epoch, host)?),
    })
}

fn lend(
    group: &mut Group<'_>,
    number: i64,
    head: RunHead,
    epoch: u64,
    host: &HostId,
) -> Result<Lease, Fault> {
    let epoch = epoch + 1;
    let mut statement = group
        .transaction
        .prepare_cached("UPDATE runs SET owner = ?2, epoch = ?3, wake_at = NULL WHERE number = ?1")?;
    statement.execute(params![number, host.as_str(), epoch])?;
    group.tips.forget(&head.run_id);
    Ok(Lease { head: Arc::new(head), host: host.clone(), epoch })
}

/// As `release` of a store.
pub(super) fn release(group: &mut Group<'_>, lease: &Lease, wake_at: Option<Timestamp>) -> Result<(), Fault> {
    let run = group.leased(lease)?.run;
    let mut statement = group
        .transaction
        .prepare_cached("UPDATE runs SET owner = NULL, wake_at = iif(open, ?2, NULL) WHERE number = ?1")?;
    statement.execute(params![run, wake_at.map(|at| at.0)])?;
    // Whoever claims it next reads where it ends.
    group.tips.forget(&lease.head.run_id);
    Ok(())
}

/// As `heartbeat` of a store.
pub(super) fn heartbeat(group: &Group<'_>, host: &HostId, until: Timestamp) -> Result<(), Fault> {
    let mut statement = group.transaction.prepare_cached(
        "INSERT INTO hosts (host, until) VALUES (?1, ?2) ON CONFLICT (host) DO UPDATE SET until = excluded.until",
    )?;
    statement.execute(params![host.as_str(), until.0])?;
    Ok(())
}

/// From column `first` on.
pub(super) fn head(row: &Row<'_>, first: usize) -> rusqlite::Result<RunHead> {
    Ok(RunHead {
        run_id: row.get(first)?,
        workflow: row.get(first + 1)?,
        namespace: row.get(first + 2)?,
        priority: row.get(first + 3)?,
        submitted_at: Timestamp(row.get(first + 4)?),
        key: row.get(first + 5)?,
    })
}

fn except(wanted: &Wanted) -> String {
    serde_json::to_string(&wanted.except).unwrap_or_default()
}
