//! How far the delivery of a notice has come: what a store keeps of it.

use std::sync::Arc;

use phasm_engine::time::{TimeText, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::store::{NoticeRow, StoreError};

/// The state of a notification in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    /// Such as `run.succeeded`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// When what it tells of happened.
    pub(crate) at: Timestamp,
    /// The body, until it is not needed any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<String>,
    /// Number of tries.
    #[serde(default)]
    pub(crate) tries: u32,
    /// The last try that was answered, or is known to have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<NoticeTry>,
    #[serde(default)]
    pub(crate) standing: NoticeProgress,
}

/// State of a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum NoticeProgress {
    /// Waiting for delivery.
    #[default]
    Waiting,
    /// Delivered.
    Delivered,
    /// Given up after the last try.
    GivenUp,
    /// Dropped: the endpoint wants nothing more of this run.
    Gone,
    /// Not delivered: the stored notification is not as it was written.
    Damaged,
}

/// A try to deliver a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeTry {
    /// When it was over.
    pub at: Timestamp,
    /// The status that was answered, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why it failed; nothing if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One delivery of a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Notice")]
pub struct NoticeView {
    /// The same for each try: `webhook-id`.
    pub id: String,
    /// The name of the endpoint.
    pub endpoint: Arc<str>,
    /// Such as `run.succeeded`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The event that it tells of.
    pub seq: u64,
    /// When that happened.
    #[schemars(with = "TimeText")]
    pub at: String,
    /// How it stands.
    pub standing: NoticeProgress,
    /// Number of tries.
    pub tries: u32,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub due: Option<String>,
    /// When it was tried last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub tried_at: Option<String>,
    /// Status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100))]
    pub status: Option<u16>,
    /// Why that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Progress {
    pub(crate) fn new(kind: String, at: Timestamp, payload: String) -> Self {
        let payload = Some(payload);
        Self { kind, at, payload, tries: 0, last: None, standing: NoticeProgress::Waiting }
    }

    /// # Errors
    /// [`StoreError::Corrupt`] for what no Phasm has written, or a later one.
    pub(crate) fn read(notice: &NoticeRow) -> Result<Self, StoreError> {
        let corrupt = |found| StoreError::Corrupt { path: notice.id.to_string().into(), found };
        if notice.damaged {
            return Err(corrupt("the notification is damaged: its checksum differs".to_owned()));
        }
        serde_json::from_str(&notice.body)
            .map_err(|error| corrupt(format!("a notification that cannot be read: {error}")))
    }

    pub(crate) fn body(&self) -> Arc<str> {
        // Texts and numbers: this cannot fail.
        serde_json::to_string(self).unwrap_or_default().into()
    }

    /// Marks it as finished; no host posts it any more.
    #[cfg(feature = "http")]
    pub(crate) fn over(self, standing: NoticeProgress) -> Self {
        Self { standing, payload: None, ..self }
    }
}

impl NoticeView {
    /// Shows a notice that is kept. One that cannot be read stands as damaged, with the reason.
    #[must_use]
    pub fn of(notice: &NoticeRow) -> Self {
        let read = Progress::read(notice);
        let progress = read.unwrap_or_else(|error| Progress {
            kind: "?".to_owned(),
            at: Timestamp(0),
            payload: None,
            tries: 0,
            last: Some(NoticeTry { at: Timestamp(0), status: None, why: Some(error.to_string()) }),
            standing: NoticeProgress::Damaged,
        });
        let Progress { kind, at, payload: _, tries, last, standing } = progress;
        let id = &notice.id;
        Self {
            id: id.to_string(),
            endpoint: Arc::clone(&id.endpoint),
            kind,
            seq: id.seq,
            at: at.to_rfc3339(),
            standing,
            tries,
            due: notice.due.map(Timestamp::to_rfc3339),
            tried_at: last.as_ref().map(|last| last.at.to_rfc3339()),
            status: last.as_ref().and_then(|last| last.status),
            failure: last.and_then(|last| last.why),
        }
    }
}
