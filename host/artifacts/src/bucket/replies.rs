//! Replies of a bucket, in XML.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use phasm_engine::time::Timestamp;
use quick_xml::de::from_reader;
use serde::{Deserialize, de::DeserializeOwned};

/// A page of a list of objects.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ObjectPage {
    pub(super) contents: Vec<ListedObject>,
    pub(super) common_prefixes: Vec<CommonPrefix>,
    /// Set when there are more; the next page begins there.
    pub(super) next_continuation_token: Option<String>,
}

/// An object in a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListedObject {
    pub(super) key: String,
    pub(super) size: u64,
    last_modified: String,
}

impl ListedObject {
    /// Returns when the object was written, by the clock of the bucket; the epoch if it does not say so.
    pub(super) fn written(&self) -> SystemTime {
        let millis = Timestamp::from_rfc3339(&self.last_modified).map_or(0, |at| at.0);
        UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs())
    }
}

/// The part of keys that several objects share.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CommonPrefix {
    pub(super) prefix: String,
}

/// An upload in parts that was begun.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct UploadReply {
    pub(super) upload_id: String,
}

/// A copy that was made, of an object or of a part of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CopyReply {
    #[serde(rename = "ETag")]
    pub(super) etag: String,
}

/// An error. It also comes with status 200, when the bucket had to begin its reply before it was done.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ErrorReply {
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
}

/// Reads a reply.
///
/// # Errors
/// The message for the user.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    from_reader(body).map_err(|error| format!("its reply cannot be read: {error}"))
}

/// Reads an error; none if the body is another reply.
pub(super) fn error(body: &[u8]) -> Option<ErrorReply> {
    let text = String::from_utf8_lossy(body);
    // Text of other replies has its `<` escaped.
    text.contains("<Error").then(|| from_reader(body).ok()).flatten()
}

/// Writes the parts that make an object, by their tags in order.
pub(super) fn parts(tags: &[String]) -> String {
    let part = |(index, tag): (usize, &String)| {
        let tag = quick_xml::escape::escape(tag.as_str());
        format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", index + 1)
    };
    let parts: String = tags.iter().enumerate().map(part).collect();
    format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>")
}
