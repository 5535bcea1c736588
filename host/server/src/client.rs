//! A server as a store to look at, and to ask for what its runs are asked.

mod artifacts;
mod plugins;
mod saved;

use std::{borrow::Cow, io, net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use form_urlencoded::Serializer;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use phasm::{
    Phase,
    engine::time::Timestamp,
    notify::NoticeView,
    sandbox::{
        HttpAnswer, HttpClient, HttpConfig, HttpRequest,
        trace::{TRACEPARENT, TRACESTATE},
    },
    spans::caller,
    store::{
        Answer, AttemptLog, CatalogEntry, Census, EntryName, EntryQuery, Filter, JournalPart, Pending,
        ReadStore, Record, RunRow, StoreError,
    },
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;

pub use self::saved::DocumentText;
use crate::wire::{PARTS, WireLog, WireNotices, WireRecord, WireRows, WireRun};

/// The largest answer that is read.
const MAX_RESPONSE_BYTES: u64 = 1 << 30;
/// Rows of a page.
const PAGE_RUNS: usize = 1000;
/// How long a change is waited for at once.
const WAIT: &str = "30s";
/// Tries again after a server that is not there for a moment.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Bytes that need no percent-encoding in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A server somewhere.
#[derive(Clone)]
pub struct Remote(Arc<Inner>);

struct Inner {
    /// Without a slash at its end.
    url: String,
    key: Option<String>,
    client: HttpClient,
}

/// Why a server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The server was not reached, or its response cannot be read.
    #[error("{url} cannot be reached: {why}")]
    Unreached {
        /// The server.
        url: String,
        /// Why.
        why: String,
    },
    /// The server refused the request.
    #[error("{url} refused: {detail}")]
    Refused {
        /// The server.
        url: String,
        /// Such as 404.
        status: u16,
        /// Its own words.
        detail: String,
        /// Problems of the request, as `validate --json` prints them.
        problems: Vec<Value>,
    },
}

impl RemoteError {
    /// The status of a refusal.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Unreached { .. } => None,
            Self::Refused { status, .. } => Some(*status),
        }
    }
}

/// A request to the server.
struct ClientRequest<'a> {
    method: &'static str,
    path: Cow<'a, str>,
    query: &'a [(&'a str, String)],
    headers: Vec<(&'static str, String)>,
    /// Media type and bytes of the body.
    body: Option<(&'static str, Vec<u8>)>,
}

impl Remote {
    /// The server at that URL, which is asked with that key.
    ///
    /// # Errors
    /// For what is no `http://` or `https://` URL, for one with a query, and for a key that others on the way could read.
    pub fn new(url: &str, key: Option<String>) -> Result<Self, String> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let rest = rest.filter(|rest| !rest.is_empty() && !rest.contains(['?', '#', '@']));
        let rest =
            rest.ok_or_else(|| format!("{url}: expected a server such as https://phasm.example.com"))?;
        if key.is_some() && url.starts_with("http://") && !is_here(rest) {
            return Err(format!("{url}: a key is sent to other machines over https:// only"));
        }
        let client = HttpClient::new(HttpConfig::default());
        Ok(Self(Arc::new(Inner { url: url.trim_end_matches('/').to_owned(), key, client })))
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Returns whether the server is asked with a key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.0.key.is_some()
    }

    /// Whether the server answers.
    ///
    /// # Errors
    /// When it does not, or refuses.
    pub async fn is_there(&self) -> Result<(), RemoteError> {
        self.get("/healthz", &[]).await.map(|_: Value| ())
    }

    /// Asks whether the server can do its work: its store can be read, and it is not stopping.
    ///
    /// # Errors
    /// When it does not respond, or refuses: with status 503 while it is not ready.
    pub async fn is_ready(&self) -> Result<(), RemoteError> {
        self.get("/readyz", &[]).await.map(|_: Value| ())
    }

    /// Submits a document, as text, with parameters by name: values, and texts of which the server makes values. Returns what `submit --json` prints.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn submit(
        &self,
        document: &str,
        parameters: &Value,
        texts: &[(&str, &str)],
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        let body = serde_json::json!({ "document": document, "parameters": parameters });
        let key = key.map(|key| ("idempotency-key", key.to_owned()));
        let names: Vec<_> =
            texts.iter().map(|(name, text)| (format!("param.{name}"), (*text).to_owned())).collect();
        let query: Vec<_> = names.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let asked = post("/v1/runs".into(), Some(body));
        self.ask(ClientRequest { headers: key.into_iter().collect(), query: &query, ..asked }).await
    }

    /// Ends a run, or one task of it. Returns the run view after that.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn cancel(&self, run_id: &str, task: Option<&str>) -> Result<Value, RemoteError> {
        let task = task.map(|task| format!("/tasks/{}", segment(task))).unwrap_or_default();
        self.ask(post(format!("/v1/runs/{}{task}/cancel", segment(run_id)), None)).await
    }

    /// Answers a suspended task, and waits a while for its executor. Returns the run view after that.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn resume(&self, run_id: &str, task: &str, answer: Value) -> Result<Value, RemoteError> {
        let path = format!("/v1/runs/{}/tasks/{}/resume?wait=10s", segment(run_id), segment(task));
        self.ask(post(path, Some(answer))).await
    }

    /// Runs a run again. Returns what `submit --json` prints.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn rerun(
        &self,
        run_id: &str,
        from_failed: bool,
        parameters: &Value,
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        let body = serde_json::json!({ "fromFailed": from_failed, "parameters": parameters });
        let headers = key.map(|key| ("idempotency-key", key.to_owned())).into_iter().collect();
        let asked = post(format!("/v1/runs/{}/rerun", segment(run_id)), Some(body));
        self.ask(ClientRequest { headers, ..asked }).await
    }

    /// The notices of a run, the latest first, `limit` at most.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn notices_of(&self, run_id: &str, limit: usize) -> Result<Vec<NoticeView>, RemoteError> {
        let path = format!("/v1/runs/{}/notices", segment(run_id));
        let (mut found, mut before) = (Vec::new(), None);
        while found.len() < limit {
            let mut query = vec![("limit", (limit - found.len()).clamp(1, PAGE_RUNS).to_string())];
            query.extend(before.map(|before: u64| ("before", before.to_string())));
            let WireNotices { notices, next } = self.get(&path, &query).await?;
            found.extend(notices);
            let Some(next) = next else { break };
            before = Some(next);
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the server's metrics in the Prometheus text format.
    ///
    /// # Errors
    /// When it refuses, as for a key that is bound to namespaces, or cannot be reached.
    pub async fn metrics(&self) -> Result<String, RemoteError> {
        let path = Cow::Borrowed("/metrics");
        let asked = ClientRequest { method: "GET", path, query: &[], headers: Vec::new(), body: None };
        Ok(String::from_utf8_lossy(&self.send(asked).await?.body).into_owned())
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T, RemoteError> {
        let path = Cow::Borrowed(path);
        self.ask(ClientRequest { method: "GET", path, query, headers: Vec::new(), body: None }).await
    }

    async fn ask<T: DeserializeOwned>(&self, asked: ClientRequest<'_>) -> Result<T, RemoteError> {
        let answer = self.send(asked).await?;
        serde_json::from_slice(&answer.body)
            .map_err(|error| self.unreached(format!("the response cannot be read: {error}")))
    }

    async fn send(&self, asked: ClientRequest<'_>) -> Result<HttpAnswer, RemoteError> {
        let Inner { url, key, client } = &*self.0;
        let ClientRequest { method, path, query, mut headers, body } = asked;
        let mut query = Serializer::for_suffix(String::from("?"), 1).extend_pairs(query).finish();
        if query == "?" {
            query.clear();
        }
        headers.extend(key.as_ref().map(|key| ("authorization", format!("Bearer {key}"))));
        let caller = caller();
        headers.extend(caller.iter().map(|caller| (TRACEPARENT, caller.parent())));
        let state = caller.and_then(|caller| caller.state);
        headers.extend(state.map(|state| (TRACESTATE, state.to_string())));
        let (kind, body) = body.map_or((None, Vec::new()), |(kind, body)| (Some(kind), body));
        headers.extend(kind.map(|kind| ("content-type", kind.to_owned())));
        let request = HttpRequest {
            method,
            url: format!("{url}{path}{query}"),
            headers,
            body,
            most: MAX_RESPONSE_BYTES,
            inside: true,
        };
        let answer = client.send(request).await.map_err(|why| self.unreached(why))?;
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    fn unreached(&self, why: String) -> RemoteError {
        RemoteError::Unreached { url: self.0.url.clone(), why }
    }

    fn refused(&self, answer: &HttpAnswer) -> RemoteError {
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let detail = said.get("detail").and_then(Value::as_str);
        let mut detail = detail.map_or_else(|| format!("status {}", answer.status), ToOwned::to_owned);
        if answer.status == 401 {
            detail += match &self.0.key {
                Some(_) => "; the key in PHASM_KEY is not one of the server's",
                None => {
                    "; PHASM_KEY is not set. `phasm key add NAME --store FILE` on the server's machine makes a key"
                }
            };
        }
        let problems = said
            .get("errors")
            .or_else(|| said.get("problems"))
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        RemoteError::Refused { url: self.0.url.clone(), status: answer.status, detail, problems }
    }

    async fn kept(&self, run_id: &str, query: &[(&str, String)]) -> Result<WireRun, StoreError> {
        let path = Cow::Owned(format!("/v1/rows/{}", segment(run_id)));
        let headers = vec![("prefer", PARTS.to_owned())];
        let found = self.ask(ClientRequest { method: "GET", path, query, headers, body: None }).await;
        found.map_err(|error| failed(error, Some(run_id)))
    }

    async fn part(&self, run_id: &str, since: u64) -> Result<JournalPart, StoreError> {
        let found = self.kept(run_id, &[("since", since.to_string())]).await?;
        let records: Result<Vec<_>, String> = found.records.into_iter().map(WireRecord::record).collect();
        let records = records.map_err(|why| senseless(&self.0.url, why))?;
        let is_last = records.last().is_none_or(|last| last.next_seq() >= found.row.seq);
        Ok(JournalPart { records, is_last })
    }

    /// Pages, until there are as many as are wanted.
    async fn rows(
        &self,
        mut query: Vec<(&'static str, String)>,
        most: usize,
    ) -> Result<Vec<RunRow>, StoreError> {
        let mut found = Vec::new();
        query.push(("limit", most.clamp(1, PAGE_RUNS).to_string()));
        loop {
            let page: WireRows = self.get("/v1/rows", &query).await.map_err(|error| failed(error, None))?;
            found.extend(page.rows);
            let Some(next) = page.next.filter(|_| found.len() < most) else { break };
            query.retain(|(name, _)| *name != "cursor");
            query.push(("cursor", next));
        }
        found.truncate(most);
        Ok(found)
    }

    /// Sends a message for every change until the run has ended or the receiver is dropped.
    async fn tell(self, run_id: Arc<str>, news: watch::Sender<()>) {
        let mut known = None;
        loop {
            let wait = known.map(|seq: u64| [("since", seq.to_string()), ("wait", WAIT.to_owned())]);
            let asked = self.kept(&run_id, wait.as_ref().map_or(&[], |wait| wait.as_slice()));
            let row: RunRow = tokio::select! {
                () = news.closed() => return,
                found = asked => match found {
                    Ok(found) => found.row,
                    Err(StoreError::Unavailable { .. }) => {
                        tokio::time::sleep(RETRY_PAUSE).await;
                        continue;
                    }
                    Err(_) => return,
                },
            };
            if known != Some(row.seq) {
                known = Some(row.seq);
                news.send_replace(());
            }
            if !row.status.open {
                return;
            }
        }
    }
}

/// Whether a URL, without its scheme, is of this machine.
fn is_here(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn post<'a>(path: String, body: Option<Value>) -> ClientRequest<'a> {
    let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
    ClientRequest { method: "POST", path: path.into(), query: &[], headers: Vec::new(), body }
}

/// A part of a path.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn failed(error: RemoteError, run_id: Option<&str>) -> StoreError {
    match (error, run_id) {
        (RemoteError::Refused { status: 404, .. }, Some(run_id)) => {
            StoreError::NotFound { run_id: run_id.into() }
        }
        (RemoteError::Unreached { url, why }, _) => {
            StoreError::Unavailable { server: url.into(), source: Arc::new(io::Error::other(why)) }
        }
        (RemoteError::Refused { url, status: 400..500, detail, .. }, _) => {
            StoreError::Refused { server: url, why: detail }
        }
        (RemoteError::Refused { url, detail, .. }, _) => senseless(&url, detail),
    }
}

fn senseless(url: &str, why: String) -> StoreError {
    StoreError::Io { path: PathBuf::from(url), action: "read", source: Arc::new(io::Error::other(why)) }
}

/// The error of a method that the API does not offer.
fn untold<T: Send + 'static>(url: &str) -> Pending<T> {
    let error = senseless(url, "the server does not offer that; name its store".to_owned());
    Pending::new(async move { Err(error) })
}

impl ReadStore for Remote {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        let (remote, run_id) = (self.clone(), run_id.to_owned());
        Pending::new(async move {
            let mut records: Vec<Record<Vec<u8>>> = Vec::new();
            loop {
                let next = records.last().map_or(since, Record::next_seq);
                let part = remote.part(&run_id, next).await?;
                records.extend(part.records);
                if part.is_last {
                    return Ok(records);
                }
            }
        })
    }

    /// The server decides on the size of the part.
    fn load_part(&self, run_id: &str, since: u64, _most: usize) -> Pending<JournalPart> {
        let (remote, run_id) = (self.clone(), run_id.to_owned());
        Pending::new(async move { remote.part(&run_id, since).await })
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        let (remote, run_id) = (self.clone(), run_id.to_owned());
        Pending::new(async move {
            match remote.kept(&run_id, &[]).await {
                Ok(found) => Ok(Some(found.row)),
                Err(StoreError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        let remote = self.clone();
        let Filter { namespaces, workflow, phase, before, from: _, since, label, open } = filter;
        let mut query = Vec::new();
        query.extend(namespaces.first().map(|namespace| ("namespace", namespace.to_string())));
        query.extend(workflow.map(|workflow| ("workflow", workflow.to_string())));
        query.extend(phase.map(|phase| ("phase", phase.as_str().to_owned())));
        query.extend(since.map(|since| ("since", since.to_rfc3339())));
        query.extend(label.map(|(key, value)| ("label", format!("{key}={value}"))));
        query.extend(before.map(|number| ("cursor", number.to_string())));
        query.extend(open.then(|| ("open", "true".to_owned())));
        Pending::new(async move { remote.rows(query, limit).await })
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        let remote = self.clone();
        Pending::new(async move { remote.rows(vec![("open", "true".to_owned())], PAGE_RUNS).await })
    }

    fn census(&self, _now: Timestamp) -> Pending<Census> {
        untold(&self.0.url)
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        untold(&self.0.url)
    }

    fn ended(&self, _namespace: &str, _phase: Option<Phase>, _limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        untold(&self.0.url)
    }

    fn component(&self, _digest: &str) -> Pending<Option<Arc<[u8]>>> {
        untold(&self.0.url)
    }

    fn answer(&self, _run_id: &str, _letter: u64) -> Pending<Answer> {
        untold(&self.0.url)
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        let (remote, run_id) = (self.clone(), run_id.to_owned());
        Pending::new(async move {
            let mut query = vec![("logs", "true".to_owned())];
            query.extend(task.map(|task| ("task", task.to_string())));
            let found = remote.kept(&run_id, &query).await?;
            let logs: Result<_, String> = found.logs.into_iter().map(WireLog::log).collect();
            logs.map_err(|why| senseless(&remote.0.url, why))
        })
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        let (remote, name) = (self.clone(), name.clone());
        Pending::new(async move { remote.kept_entry(&name).await })
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        let remote = self.clone();
        Pending::new(async move { remote.kept_entries(wanted).await })
    }

    fn due_entries(
        &self,
        _after: Option<(Timestamp, EntryName)>,
        _limit: usize,
    ) -> Pending<Vec<CatalogEntry>> {
        untold(&self.0.url)
    }

    fn text(&self, _digest: &str) -> Pending<Option<Arc<[u8]>>> {
        untold(&self.0.url)
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        let news = watch::Sender::new(());
        let heard = news.subscribe();
        tokio::spawn(self.clone().tell(run_id.into(), news));
        heard
    }
}
