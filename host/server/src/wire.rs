//! Rows, records and logs as one Phasm sends them to another: as stores keep them.

use std::{num::NonZeroU32, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use phasm::{
    Phase,
    engine::time::Timestamp,
    notify::NoticeView,
    store::{AttemptLog, Document, HostId, Labels, Note, Record, Rest, RunHead, RunRow, RunStatus},
};
use serde::{Deserialize, Serialize};

/// A row.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireRow {
    number: u64,
    #[serde(rename = "runID")]
    run_id: Arc<str>,
    workflow: Arc<str>,
    namespace: Arc<str>,
    priority: u16,
    /// Instants are milliseconds since 1970.
    submitted_at: i64,
    key: Option<Arc<str>>,
    labels: Labels,
    phase: String,
    finished_at: Option<i64>,
    open: bool,
    rest: Option<WireRest>,
    seq: u64,
    owner: Option<String>,
    wake_at: Option<i64>,
    note: Option<WireNote>,
}

#[derive(Debug, Deserialize, Serialize)]
struct WireRest {
    parked: bool,
    until: Option<i64>,
}

#[derive(Debug, Deserialize, Serialize)]
struct WireNote {
    why: Arc<str>,
    since: i64,
}

impl From<&RunRow> for WireRow {
    fn from(RunRow { number, head, status, seq, owner, wake_at, note }: &RunRow) -> Self {
        let RunHead { run_id, workflow, namespace, priority, submitted_at, key, labels } = &**head;
        let millis = |at: Option<Timestamp>| at.map(|at| at.0);
        Self {
            number: *number,
            run_id: Arc::clone(run_id),
            workflow: Arc::clone(workflow),
            namespace: Arc::clone(namespace),
            priority: *priority,
            submitted_at: submitted_at.0,
            key: key.clone(),
            labels: labels.clone(),
            phase: status.phase.as_str().to_owned(),
            finished_at: millis(status.finished_at),
            open: status.open,
            rest: status.rest.map(|rest| WireRest { parked: rest.parked, until: millis(rest.until) }),
            seq: *seq,
            owner: owner.as_ref().map(|owner| owner.as_str().to_owned()),
            wake_at: millis(*wake_at),
            note: note.as_ref().map(|note| WireNote { why: Arc::clone(&note.why), since: note.since.0 }),
        }
    }
}

impl WireRow {
    pub(crate) const fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// # Errors
    /// For a phase that this version does not know.
    pub(crate) fn row(self) -> Result<RunRow, String> {
        let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == self.phase);
        let phase = phase.ok_or_else(|| format!("the server speaks of a phase `{}`", self.phase))?;
        let instant = |at: Option<i64>| at.map(Timestamp);
        let head = RunHead {
            run_id: self.run_id,
            workflow: self.workflow,
            namespace: self.namespace,
            priority: self.priority,
            submitted_at: Timestamp(self.submitted_at),
            key: self.key,
            labels: self.labels,
        };
        let status = RunStatus {
            phase,
            finished_at: instant(self.finished_at),
            open: self.open,
            rest: self.rest.map(|rest| Rest { parked: rest.parked, until: instant(rest.until) }),
        };
        Ok(RunRow {
            number: self.number,
            head: Arc::new(head),
            status,
            seq: self.seq,
            owner: self.owner.as_deref().map(HostId::from),
            wake_at: instant(self.wake_at),
            note: self.note.map(|note| Note { why: note.why, since: Timestamp(note.since) }),
        })
    }
}

/// A record of a journal. Bytes are base64.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireRecord {
    first_seq: u64,
    events: NonZeroU32,
    time: i64,
    body: String,
    document: Option<WireDocument>,
}

#[derive(Debug, Deserialize, Serialize)]
struct WireDocument {
    digest: Arc<str>,
    bytes: String,
}

impl From<&Record<Vec<u8>>> for WireRecord {
    fn from(Record { first_seq, events, time, body, document, notices: _ }: &Record<Vec<u8>>) -> Self {
        let document = document.as_ref().map(|document| WireDocument {
            digest: Arc::clone(&document.digest),
            bytes: BASE64.encode(&document.bytes),
        });
        Self { first_seq: *first_seq, events: *events, time: time.0, body: BASE64.encode(body), document }
    }
}

impl WireRecord {
    /// # Errors
    /// For what is no base64.
    pub(crate) fn record(self) -> Result<Record<Vec<u8>>, String> {
        let Self { first_seq, events, time, body, document } = self;
        let document = document.map(|document| {
            let bytes = decoded(&document.bytes)?.into();
            Ok::<_, String>(Arc::new(Document { digest: document.digest, bytes, components: Vec::new() }))
        });
        let (body, document) = (decoded(&body)?, document.transpose()?);
        Ok(Record { first_seq, events, time: Timestamp(time), body, document, notices: Vec::new() })
    }
}

/// The stored log of an attempt.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct WireLog {
    task: u32,
    attempt: u32,
    dispatch: u32,
    cut: u64,
    text: String,
}

impl From<&AttemptLog> for WireLog {
    fn from(AttemptLog { task, attempt, dispatch, cut, text }: &AttemptLog) -> Self {
        Self { task: *task, attempt: *attempt, dispatch: *dispatch, cut: *cut, text: BASE64.encode(text) }
    }
}

impl WireLog {
    /// # Errors
    /// For what is no base64.
    pub(crate) fn log(self) -> Result<AttemptLog, String> {
        let Self { task, attempt, dispatch, cut, text } = self;
        Ok(AttemptLog { task, attempt, dispatch, cut, text: decoded(&text)? })
    }
}

/// Rows of runs.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct WireRows {
    pub(crate) rows: Vec<WireRow>,
    /// `cursor` of the next page.
    pub(crate) next: Option<String>,
}

/// A run as its store has it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct WireRun {
    pub(crate) row: WireRow,
    /// From the event on that was asked for.
    pub(crate) records: Vec<WireRecord>,
    #[serde(default)]
    pub(crate) logs: Vec<WireLog>,
}

/// A page of notifications about a run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct WireNotices {
    pub(crate) notices: Vec<NoticeView>,
    /// Before which event there may be more.
    pub(crate) next: Option<u64>,
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    BASE64.decode(text).map_err(|error| format!("the server sent bytes that are none: {error}"))
}
