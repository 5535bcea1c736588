//! Rows of the tables, as a store returns them.

use std::sync::Arc;

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio_postgres::Row;

use super::{
    super::{
        AttemptLog, Document, HostId, Labels, Note, Record, Rest, RunHead, RunRow, RunStatus, StoreError,
        checksum::checksum,
    },
    append::place,
    fault::{PostgresError, count, get},
};

pub(super) fn journal(
    run_id: &Arc<str>,
    rows: &[Row],
    since: u64,
) -> Result<Vec<Record<Vec<u8>>>, PostgresError> {
    let Some(first) = rows.first() else {
        return Err(StoreError::NotFound { run_id: Arc::clone(run_id) }.into());
    };
    let end = count(first, "seq")?;
    let mut records = Vec::with_capacity(rows.len());
    let mut next = None;
    for row in rows.iter().filter(|row| get::<Option<i64>>(row, "first_seq").is_ok_and(|seq| seq.is_some())) {
        let record = record(run_id, row)?;
        if since > 0 && record.next_seq() <= since {
            continue;
        }
        let expected = next.unwrap_or(record.first_seq.min(since));
        if record.first_seq != expected {
            return Err(PostgresError::Damaged(format!("run {run_id} lacks event {expected}")));
        }
        next = Some(record.next_seq());
        records.push(record);
    }
    let found = next.unwrap_or(since.min(end));
    if found == end || (since >= end && records.is_empty()) {
        return Ok(records);
    }
    Err(PostgresError::Damaged(format!("run {run_id} has {end} events, its journal {found}")))
}

pub(super) fn record(run_id: &str, row: &Row) -> Result<Record<Vec<u8>>, PostgresError> {
    let (first_seq, body) = (count(row, "first_seq")?, get::<Vec<u8>>(row, "body")?);
    let damaged = |what| PostgresError::Damaged(format!("record {first_seq} of run {run_id} {what}"));
    let events = u32::try_from(count(row, "events")?).ok().and_then(|events| events.try_into().ok());
    let events: std::num::NonZeroU32 = events.ok_or_else(|| damaged("has no events"))?;
    let time = Timestamp(get(row, "time")?);
    if get::<i64>(row, "checksum")? != checksum(place(run_id), first_seq, events.get(), time, &body) {
        return Err(damaged("is not what was written: its checksum differs"));
    }
    let document = get::<Option<&str>>(row, "digest")?.map(|digest| {
        let bytes = get::<&[u8]>(row, "bytes")?.into();
        Ok::<_, PostgresError>(Arc::new(Document { digest: digest.into(), bytes, components: Vec::new() }))
    });
    Ok(Record { first_seq, events, time, body, document: document.transpose()?, notices: Vec::new() })
}

pub(super) fn row(row: &Row) -> Result<RunRow, PostgresError> {
    let word: &str = get(row, "phase")?;
    let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == word);
    let status = RunStatus {
        phase: phase.ok_or_else(|| PostgresError::Damaged(format!("there is no phase {word}")))?,
        finished_at: get::<Option<i64>>(row, "finished_at")?.map(Timestamp),
        open: get(row, "open")?,
        rest: get::<Option<bool>>(row, "rest")?
            .map(|parked| {
                let until = get::<Option<i64>>(row, "rests_until")?.map(Timestamp);
                Ok::<_, PostgresError>(Rest { parked, until })
            })
            .transpose()?,
    };
    Ok(RunRow {
        number: count(row, "number")?,
        head: Arc::new(head(row)?),
        status,
        seq: count(row, "seq")?,
        owner: get::<Option<&str>>(row, "owner")?.map(HostId::from),
        wake_at: get::<Option<i64>>(row, "wake_at")?.map(Timestamp),
        note: get::<Option<&str>>(row, "note")?
            .map(|why| {
                let since = get::<Option<i64>>(row, "noted_at")?.map(Timestamp).unwrap_or_default();
                Ok::<_, PostgresError>(Note { why: why.into(), since })
            })
            .transpose()?,
    })
}

/// Reads the unchanging part of a run from its row.
pub(super) fn head(row: &Row) -> Result<RunHead, PostgresError> {
    let priority = u16::try_from(count(row, "priority")?);
    Ok(RunHead {
        run_id: get::<&str>(row, "run_id")?.into(),
        workflow: get::<&str>(row, "workflow")?.into(),
        namespace: get::<&str>(row, "namespace")?.into(),
        priority: priority.map_err(|_| PostgresError::Damaged("a priority is too large".into()))?,
        submitted_at: Timestamp(get(row, "submitted_at")?),
        key: get::<Option<&str>>(row, "key")?.map(Arc::from),
        labels: labels(get(row, "labels")?)?,
    })
}

pub(super) fn labels(text: Option<&str>) -> Result<Labels, PostgresError> {
    let damaged = |error| PostgresError::Damaged(format!("labels: {error}"));
    text.map_or_else(|| Ok(Labels::new()), |text| serde_json::from_str(text).map_err(damaged))
}

pub(super) fn log(row: &Row) -> Result<AttemptLog, PostgresError> {
    let small = |column| {
        u32::try_from(count(row, column)?)
            .map_err(|_| PostgresError::Damaged(format!("a {column} is too large")))
    };
    Ok(AttemptLog {
        task: small("task")?,
        attempt: small("attempt")?,
        dispatch: small("dispatch")?,
        cut: count(row, "cut")?,
        text: get(row, "text")?,
    })
}
