//! Rows of the tables, as a store returns them.

use std::sync::Arc;

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio_postgres::Row;

use super::{
    super::{
        AttemptLog, Document, HostId, JournalPart, Labels, Note, Record, Rest, RunHead, RunRow, RunStatus,
        StoreError, checksum::checksum, row::Soundness,
    },
    append::place,
    fault::{PostgresError, count, get},
};

/// Reads records that follow each other; the last part ends where the run does.
pub(super) fn journal(run_id: &Arc<str>, rows: &[Row], since: u64) -> Result<JournalPart, PostgresError> {
    let Some(first) = rows.first() else {
        return Err(StoreError::NotFound { run_id: Arc::clone(run_id) }.into());
    };
    if !get::<bool>(first, "sound")? {
        return Err(PostgresError::bad_row(&format!("the row of run {run_id}")));
    }
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
    if found > end {
        return Err(PostgresError::Damaged(format!("run {run_id} has {end} events, its journal {found}")));
    }
    let is_last = found == end || (since >= end && records.is_empty());
    Ok(JournalPart { records, is_last })
}

/// The whole journal, or an error if it ends too early.
pub(super) fn whole_journal(
    run_id: &Arc<str>,
    rows: &[Row],
    since: u64,
) -> Result<Vec<Record<Vec<u8>>>, PostgresError> {
    let part = journal(run_id, rows, since)?;
    if part.is_last {
        return Ok(part.records);
    }
    let end = rows.first().map(|row| count(row, "seq")).transpose()?.unwrap_or_default();
    let found = part.records.last().map_or(since.min(end), Record::next_seq);
    Err(PostgresError::Damaged(format!("run {run_id} has {end} events, its journal {found}")))
}

pub(super) fn record(run_id: &str, row: &Row) -> Result<Record<Vec<u8>>, PostgresError> {
    let (first_seq, body) = (count(row, "first_seq")?, get::<Vec<u8>>(row, "body")?);
    let damaged = |what| PostgresError::Damaged(format!("record {first_seq} of run {run_id} {what}"));
    let events = u32::try_from(count(row, "events")?).ok().and_then(|events| events.try_into().ok());
    let events: std::num::NonZeroU32 = events.ok_or_else(|| damaged("has no events"))?;
    let time = Timestamp(get(row, "time")?);
    if get::<i64>(row, "checksum")? != checksum(place(run_id), first_seq, events.get(), time, &body) {
        return Err(damaged("is damaged: its checksum differs"));
    }
    let document = get::<Option<&str>>(row, "digest")?.map(|digest| {
        let bytes = get::<&[u8]>(row, "bytes")?.into();
        Ok::<_, PostgresError>(Arc::new(Document { digest: digest.into(), bytes, components: Vec::new() }))
    });
    Ok(Record {
        first_seq,
        events,
        time,
        body,
        document: document.transpose()?,
        notices: Vec::new(),
        logs: Vec::new(),
        remark: None,
    })
}

/// Columns of a run, and whether its parts are as they were written.
macro_rules! run_columns {
    () => {
        "found.*, found.head_checksum IS NOT DISTINCT FROM checksum_of_head(found.number, found.run_id, found.workflow, found.namespace,
            found.priority, found.submitted_at, found.key, found.labels, found.document) AS head_sound,
        found.state_checksum IS NOT DISTINCT FROM checksum_of_state(found.number, found.seq, found.phase, found.finished_at, found.open,
            found.rest, found.rests_until, found.remark) AS state_sound,
        found.lease_checksum IS NOT DISTINCT FROM checksum_of_lease(found.number, found.epoch, found.owner, found.wake_at, found.note,
            found.noted_at) AS lease_sound"
    };
}
pub(super) use run_columns;

/// Reads a row of `run_columns`. One that is damaged has placeholders for the values that are not to be believed.
pub(super) fn row(row: &Row) -> Result<RunRow, PostgresError> {
    let is_sound = |column| get::<bool>(row, column);
    let soundness = Soundness {
        head: is_sound("head_sound")?,
        state: is_sound("state_sound")?,
        lease: is_sound("lease_sound")?,
    };
    let head = Some(row).filter(|_| soundness.head).and_then(|row| head(row).ok());
    let state = Some(row).filter(|_| soundness.state).and_then(|row| state(row).ok());
    let lease = Some(row).filter(|_| soundness.lease).and_then(|row| lease(row).ok());
    let has_ended = state.is_some_and(|(status, _)| !status.open);
    let soundness = Soundness { head: head.is_some(), state: state.is_some(), lease: lease.is_some() };
    let soundness = if has_ended { soundness.without_lease() } else { soundness };
    let (status, seq) = match state {
        Some(state) => state,
        None => (RunStatus::damaged(get(row, "open")?), 0),
    };
    let (owner, wake_at, note) = lease.unwrap_or_default();
    Ok(RunRow {
        number: get::<i64>(row, "number")?.unsigned_abs(),
        head: Arc::new(head.map_or_else(|| placeholder(row), Ok)?),
        status,
        seq,
        owner,
        wake_at,
        note,
        remark: if soundness.state { get::<Option<&str>>(row, "remark")?.map(Arc::from) } else { None },
        damaged: soundness.complaint(),
    })
}

fn placeholder(row: &Row) -> Result<RunHead, PostgresError> {
    Ok(RunHead::damaged(get(row, "run_id")?, get(row, "namespace")?))
}

fn state(row: &Row) -> Result<(RunStatus, u64), PostgresError> {
    let word: &str = get(row, "phase")?;
    let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == word);
    let rest = |parked| {
        let until = get::<Option<i64>>(row, "rests_until")?.map(Timestamp);
        Ok::<_, PostgresError>(Rest { parked, until })
    };
    let status = RunStatus {
        phase: phase.ok_or_else(|| PostgresError::Damaged(format!("there is no phase {word}")))?,
        finished_at: get::<Option<i64>>(row, "finished_at")?.map(Timestamp),
        open: get(row, "open")?,
        rest: get::<Option<bool>>(row, "rest")?.map(rest).transpose()?,
    };
    Ok((status, count(row, "seq")?))
}

/// Owner, due time and note of a run.
type Lending = (Option<HostId>, Option<Timestamp>, Option<Note>);

fn lease(row: &Row) -> Result<Lending, PostgresError> {
    let since = get::<Option<i64>>(row, "noted_at")?.map(Timestamp).unwrap_or_default();
    let note = get::<Option<&str>>(row, "note")?.map(|why| Note { why: why.into(), since });
    let wake_at = get::<Option<i64>>(row, "wake_at")?.map(Timestamp);
    Ok((get::<Option<&str>>(row, "owner")?.map(HostId::from), wake_at, note))
}

/// Same as [`head`], for a lease of the run: a damaged run cannot be loaded, so that the lease is given back with the reason.
pub(super) fn leased_head(row: &Row) -> Result<RunHead, PostgresError> {
    head(row).or_else(|_| placeholder(row))
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
    let small =
        |column| count(row, column).ok().and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
    let damaged = !get::<bool>(row, "sound")?;
    let (cut, text) = if damaged { (0, Vec::new()) } else { (count(row, "cut")?, get(row, "text")?) };
    Ok(AttemptLog {
        task: small("task"),
        attempt: small("attempt"),
        dispatch: small("dispatch"),
        cut,
        text,
        damaged,
    })
}
