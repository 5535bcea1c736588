//! Objects of a bucket, over the API of S3.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    ops::Range,
    path::Path,
    time::Duration,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use phasm_sandbox::{
    Digest, FileBody, HttpClient, HttpConfig, HttpLimits, ResponseReader, SignedBody, SignedRequest,
    SigningKey,
};
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use super::replies::{self, CopyReply, ObjectPage, UploadReply};
use crate::bucket_config::{Addressing, BucketConfig};

/// Times that a request is sent which the bucket does not take.
const TRIES: u32 = 5;
/// Time before the second try; each further one waits twice as long.
const PAUSE: Duration = Duration::from_millis(200);
/// Time until the head of a response to a request without content.
const TIME: Duration = Duration::from_secs(60);
/// Time in which a part of an upload is sent, parts become an object, and a copy is made.
const CONTENT_TIME: Duration = Duration::from_secs(20 * 60);
/// Most bytes of a reply in XML: a list of a thousand keys of a kilobyte.
const MAX_REPLY: u64 = 4 << 20;
/// Status of a response with a part of an object.
const PARTIAL: u16 = 206;
/// Characters of keys that stand for themselves in URLs.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Client of one bucket.
pub(super) struct BucketClient {
    http: HttpClient,
    key: SigningKey,
    /// URL of the bucket, without a slash at its end.
    base: String,
    /// Name of the bucket, for copies.
    bucket: String,
}

/// A part of a file, with its digest.
pub(super) struct FilePart<'a> {
    pub(super) file: &'a Path,
    pub(super) bytes: Range<u64>,
    pub(super) digest: Digest,
}

/// A request for an object.
#[derive(Clone, Copy)]
struct ObjectRequest<'a> {
    method: &'static str,
    key: &'a str,
    query: &'a [(&'a str, &'a str)],
    headers: &'a [(&'static str, &'a str)],
    content: Content<'a>,
    /// Time until the head of the response.
    time: Duration,
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Nothing,
    Text(&'a str),
    File(&'a FilePart<'a>),
}

impl<'a> ObjectRequest<'a> {
    const fn new(method: &'static str, key: &'a str) -> Self {
        Self { method, key, query: &[], headers: &[], content: Content::Nothing, time: TIME }
    }
}

impl BucketClient {
    pub(super) fn new(config: &BucketConfig) -> Self {
        // Parts are bounded in time themselves.
        let limits = HttpLimits { time: CONTENT_TIME, ..HttpLimits::default() };
        let http = HttpConfig { limits, secrets: Vec::new(), ..config.http.clone() };
        let (endpoint, bucket) = (config.endpoint.trim_end_matches('/'), config.name.to_string());
        let base = match (config.addressing, endpoint.split_once("://")) {
            (Addressing::Host, Some((scheme, host))) => format!("{scheme}://{bucket}.{host}"),
            (Addressing::Host | Addressing::Path, _) => format!("{endpoint}/{bucket}"),
        };
        Self { http: HttpClient::new(http), key: config.key.clone(), base, bucket }
    }

    /// Lists objects in the order of their keys, page by page, until `each` returns false.
    ///
    /// # Errors
    /// Fails when the bucket cannot be read.
    pub(super) async fn list(
        &self,
        query: &[(&str, &str)],
        mut each: impl FnMut(ObjectPage) -> bool,
    ) -> io::Result<()> {
        let mut token: Option<String> = None;
        loop {
            let mut query = [query, &[("list-type", "2")]].concat();
            query.extend(token.as_deref().map(|token| ("continuation-token", token)));
            let request = ObjectRequest { query: &query, ..ObjectRequest::new("GET", "") };
            let page: ObjectPage = self.read(request).await?;
            token = page.next_continuation_token.clone();
            if !each(page) || token.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns the size of an object; none if there is none of that key.
    ///
    /// # Errors
    /// Fails when the bucket cannot be read.
    pub(super) async fn size(&self, key: &str) -> io::Result<Option<u64>> {
        let found = self.send(ObjectRequest::new("HEAD", key)).await;
        let Some(found) = present(found)? else { return Ok(None) };
        let size = found.header("content-length").and_then(|size| size.parse().ok());
        size.map(Some).ok_or_else(|| io::Error::other("the bucket does not say the size of an object"))
    }

    /// Returns a small object; none if there is none of that key.
    ///
    /// # Errors
    /// Fails when the bucket cannot be read.
    pub(super) async fn text(&self, key: &str) -> io::Result<Option<String>> {
        let Some(mut found) = present(self.send(ObjectRequest::new("GET", key)).await)? else {
            return Ok(None);
        };
        let body = found.read(MAX_REPLY).await.map_err(|why| unanswered(&why))?;
        Ok(Some(String::from_utf8_lossy(&body).into_owned()))
    }

    /// Writes a small object.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn put_text(&self, key: &str, text: &str) -> io::Result<()> {
        let content = Content::Text(text);
        self.send(ObjectRequest { content, ..ObjectRequest::new("PUT", key) }).await.map(drop)
    }

    /// Writes an object whose content is a part of a file, or the next part of an upload. Returns its tag.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn put(
        &self,
        key: &str,
        query: &[(&str, &str)],
        part: &FilePart<'_>,
    ) -> io::Result<String> {
        let (content, time) = (Content::File(part), CONTENT_TIME);
        let sent =
            self.send(ObjectRequest { content, query, time, ..ObjectRequest::new("PUT", key) }).await?;
        Ok(sent.header("etag").unwrap_or_default().to_owned())
    }

    /// Writes the content of an object to a file that is made. A download that breaks off continues where it was.
    ///
    /// # Errors
    /// Fails when there is no such object, when the bucket cannot be read, and when the file cannot be written.
    pub(super) async fn download(&self, key: &str, path: &Path) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        let (mut written, mut tries) = (0_u64, 0);
        loop {
            let range = format!("bytes={written}-");
            let headers: &[_] = if written == 0 { &[] } else { &[("range", range.as_str())] };
            let mut found = self.send(ObjectRequest { headers, ..ObjectRequest::new("GET", key) }).await?;
            if written > 0 && found.status != PARTIAL {
                file.set_len(0)?;
                file.rewind()?;
                written = 0;
            }
            let before = written;
            match received(&mut found, &mut file, &mut written).await? {
                DownloadEnd::Whole => return Ok(()),
                DownloadEnd::BrokenOff(why) => {
                    // Parts that arrive are progress, however many there are.
                    tries = if written > before { 0 } else { tries + 1 };
                    if tries >= TRIES {
                        return Err(unanswered(&why));
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Deletes an object, if it is there.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn delete(&self, key: &str) -> io::Result<()> {
        present(self.send(ObjectRequest::new("DELETE", key)).await).map(drop)
    }

    /// Copies an object, or a part of it as the next part of an upload. Returns the tag of what was written.
    ///
    /// # Errors
    /// Fails when there is no such object, and when the bucket cannot be written.
    pub(super) async fn copy(
        &self,
        from: &str,
        to: &str,
        query: &[(&str, &str)],
        bytes: Option<Range<u64>>,
    ) -> io::Result<String> {
        let source = format!("/{}/{}", self.bucket, escaped(from));
        let bytes = bytes.map(|bytes| format!("bytes={}-{}", bytes.start, bytes.end.saturating_sub(1)));
        let mut headers = vec![("x-amz-copy-source", source.as_str())];
        headers.extend(bytes.as_deref().map(|bytes| ("x-amz-copy-source-range", bytes)));
        let (headers, time) = (&*headers, CONTENT_TIME);
        let request = ObjectRequest { query, headers, time, ..ObjectRequest::new("PUT", to) };
        self.read::<CopyReply>(request).await.map(|copied| copied.etag)
    }

    /// Begins an upload in parts. Returns its id.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn begin_upload(&self, key: &str) -> io::Result<String> {
        let request = ObjectRequest { query: &[("uploads", "")], ..ObjectRequest::new("POST", key) };
        self.read::<UploadReply>(request).await.map(|begun| begun.upload_id)
    }

    /// Makes an object of the parts with these tags.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn complete_upload(&self, key: &str, upload: &str, tags: &[String]) -> io::Result<()> {
        let parts = replies::parts(tags);
        let (query, content, time) = ([("uploadId", upload)], Content::Text(&parts), CONTENT_TIME);
        let request = ObjectRequest { query: &query, content, time, ..ObjectRequest::new("POST", key) };
        let mut sent = self.send(request).await?;
        let body = sent.read(MAX_REPLY).await.map_err(|why| unanswered(&why))?;
        replies::error(&body).map_or(Ok(()), |error| Err(refused(sent.status, &error.code, &error.message)))
    }

    /// Ends an upload in parts without an object, unless it has ended.
    ///
    /// # Errors
    /// Fails when the bucket cannot be written.
    pub(super) async fn abort_upload(&self, key: &str, upload: &str) -> io::Result<()> {
        let query = [("uploadId", upload)];
        let request = ObjectRequest { query: &query, ..ObjectRequest::new("DELETE", key) };
        present(self.send(request).await).map(drop)
    }

    /// Sends a request and reads the reply.
    async fn read<T: DeserializeOwned>(&self, request: ObjectRequest<'_>) -> io::Result<T> {
        let mut found = self.send(request).await?;
        let body = found.read(MAX_REPLY).await.map_err(|why| unanswered(&why))?;
        if let Some(error) = replies::error(&body) {
            return Err(refused(found.status, &error.code, &error.message));
        }
        replies::read(&body).map_err(io::Error::other)
    }

    /// Sends a request, again if it is not taken for the moment. All of them may be sent twice.
    async fn send(&self, request: ObjectRequest<'_>) -> io::Result<ResponseReader> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.try_once(request).await {
                Err(RequestError::Transient(_)) => {}
                other => return other.map_err(RequestError::into_error),
            }
            sleep(pause).await;
            pause *= 2;
        }
        self.try_once(request).await.map_err(RequestError::into_error)
    }

    async fn try_once(&self, request: ObjectRequest<'_>) -> Result<ResponseReader, RequestError> {
        let ObjectRequest { method, key, query, headers, content, time } = request;
        let url = self.url(key, query);
        let body = match content {
            Content::Nothing => None,
            Content::Text(text) => Some(SignedBody::text(text.to_owned())),
            Content::File(part) => Some(part.body().map_err(RequestError::Permanent)?),
        };
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let sent = self.http.send_signed(SignedRequest { method, url: &url, headers, body, time }, &self.key);
        let mut found = sent.await.map_err(|why| RequestError::Transient(unanswered(&why)))?;
        if (200..300).contains(&found.status) {
            return Ok(found);
        }
        let body = found.read(MAX_REPLY).await.unwrap_or_default();
        let error = replies::error(&body);
        let (code, message) = error.map(|error| (error.code, error.message)).unwrap_or_default();
        let error = refused(found.status, &code, &message);
        Err(match found.status {
            408 | 429 | 500 | 502 | 503 | 504 => RequestError::Transient(error),
            _ => RequestError::Permanent(error),
        })
    }

    fn url(&self, key: &str, query: &[(&str, &str)]) -> String {
        let part = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
        let query: Vec<_> =
            query.iter().map(|(name, value)| format!("{}={}", part(name), part(value))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}/{}{mark}{}", self.base, escaped(key), query.join("&"))
    }
}

impl FilePart<'_> {
    fn body(&self) -> io::Result<SignedBody> {
        let mut file = File::open(self.file)?;
        file.seek(SeekFrom::Start(self.bytes.start))?;
        let size = self.bytes.end.saturating_sub(self.bytes.start);
        Ok(SignedBody::file(FileBody::new(file, self.bytes.clone()), size, self.digest.hex()))
    }
}

/// Why a request was not taken.
enum RequestError {
    /// The same request may be taken later.
    Transient(io::Error),
    /// The same request will never be taken.
    Permanent(io::Error),
}

impl RequestError {
    fn into_error(self) -> io::Error {
        match self {
            Self::Transient(error) | Self::Permanent(error) => error,
        }
    }
}

/// End of a download.
enum DownloadEnd {
    Whole,
    BrokenOff(String),
}

/// Writes the parts of a response to a file, and counts them.
async fn received(found: &mut ResponseReader, file: &mut File, written: &mut u64) -> io::Result<DownloadEnd> {
    loop {
        match found.part().await {
            Ok(Some(part)) => {
                file.write_all(&part)?;
                *written += part.len() as u64;
            }
            Ok(None) => return Ok(DownloadEnd::Whole),
            Err(why) => return Ok(DownloadEnd::BrokenOff(why)),
        }
    }
}

/// Returns a key as the path of a URL.
fn escaped(key: &str) -> String {
    key.split('/').map(|part| utf8_percent_encode(part, PLAIN).to_string()).collect::<Vec<_>>().join("/")
}

/// Returns none for an object that is not there.
fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Returns the error of a request without a response. The log has the URL: who sees the run need not know where the bucket is.
fn unanswered(why: &str) -> io::Error {
    tracing::warn!("artifacts: {why}");
    io::Error::other("the bucket cannot be reached; the log of the host says why")
}

fn refused(status: u16, code: &str, message: &str) -> io::Error {
    let (kind, hint) = match (status, code) {
        // A bucket that is missing is no missing object.
        (404, "NoSuchBucket") => (io::ErrorKind::Other, "; check `name` under `[artifacts.bucket]`"),
        (404, _) => (io::ErrorKind::NotFound, ""),
        (401 | 403, _) => {
            (io::ErrorKind::PermissionDenied, "; check the key under `[artifacts.bucket]` and its rights")
        }
        _ => (io::ErrorKind::Other, ""),
    };
    let words = [code, message].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(": ");
    let words = if words.is_empty() { String::new() } else { format!(" ({words})") };
    io::Error::new(kind, format!("the bucket refuses with status {status}{words}{hint}"))
}
