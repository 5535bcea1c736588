//! Pages of rows, records and logs as one Phasm sends them to another. A row is sent as the store has it; bytes are base64.

use std::{num::NonZeroU32, sync::Arc};

use axum::http::HeaderName;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use phasm::{
    engine::time::Timestamp,
    notify::NoticeView,
    store::{AttemptLog, Document, Record, RunRow},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Header of wishes (RFC 7240), which a server that does not know them leaves out.
pub(crate) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The wish for a bounded number of records in a response. A client without it expects all.
pub(crate) const PARTS: &str = "parts";

/// A record of a journal. Bytes are base64.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "KeptRecord")]
pub(crate) struct WireRecord {
    first_seq: u64,
    events: NonZeroU32,
    time: i64,
    #[schemars(extend("contentEncoding" = "base64"))]
    body: String,
    document: Option<WireDocument>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "KeptDocument")]
struct WireDocument {
    digest: Arc<str>,
    #[schemars(extend("contentEncoding" = "base64"))]
    bytes: String,
}

impl From<&Record<Vec<u8>>> for WireRecord {
    fn from(Record { first_seq, events, time, body, document, .. }: &Record<Vec<u8>>) -> Self {
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
        Ok(Record {
            first_seq,
            events,
            time: Timestamp(time),
            body,
            document,
            notices: Vec::new(),
            logs: Vec::new(),
            remark: None,
        })
    }
}

/// The stored log of an attempt.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "KeptLog")]
pub(crate) struct WireLog {
    task: u32,
    #[schemars(range(min = 1))]
    attempt: u32,
    #[schemars(range(min = 1))]
    dispatch: u32,
    cut: u64,
    #[schemars(extend("contentEncoding" = "base64"))]
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
}

impl From<&AttemptLog> for WireLog {
    fn from(AttemptLog { task, attempt, dispatch, cut, text, damaged }: &AttemptLog) -> Self {
        let (text, damaged) = (BASE64.encode(text), *damaged);
        Self { task: *task, attempt: *attempt, dispatch: *dispatch, cut: *cut, text, damaged }
    }
}

impl WireLog {
    /// # Errors
    /// For what is no base64.
    pub(crate) fn log(self) -> Result<AttemptLog, String> {
        let Self { task, attempt, dispatch, cut, text, damaged } = self;
        Ok(AttemptLog { task, attempt, dispatch, cut, text: decoded(&text)?, damaged })
    }
}

/// Rows of runs.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Rows")]
pub(crate) struct WireRows {
    pub(crate) rows: Vec<RunRow>,
    /// `cursor` of the next page.
    pub(crate) next: Option<String>,
}

/// A run as stored.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "KeptRun")]
pub(crate) struct WireRun {
    pub(crate) row: RunRow,
    /// From the event on that was asked for.
    pub(crate) records: Vec<WireRecord>,
    #[serde(default)]
    pub(crate) logs: Vec<WireLog>,
}

/// A page of notifications about a run.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Notices")]
pub(crate) struct WireNotices {
    pub(crate) notices: Vec<NoticeView>,
    /// Before which event there may be more.
    pub(crate) next: Option<u64>,
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    BASE64.decode(text).map_err(|error| format!("the server sent bytes that are not valid: {error}"))
}
