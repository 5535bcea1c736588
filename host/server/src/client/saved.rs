//! Saved documents of a server: schedules and workflows.

use std::borrow::Cow;

use phasm::{
    catalog::{CatalogItem, ScheduleState},
    engine::time::Timestamp,
    store::{CatalogEntry, CatalogKind, EntryName, EntryQuery, StoreError},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ClientRequest, PAGE_RUNS, Remote, RemoteError, failed, post, segment, senseless};

/// A document as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct DocumentText<'a> {
    /// Name of its file.
    pub file: &'a str,
    /// Content of the file.
    pub text: &'a str,
}

/// A part of the path of what is kept.
const fn word(shelf: CatalogKind) -> &'static str {
    match shelf {
        CatalogKind::Schedules => "schedules",
        CatalogKind::Workflows => "workflows",
    }
}

fn path(shelf: CatalogKind, namespace: &str, name: &str, more: &str) -> String {
    format!("/v1/{}/{}/{}{more}", word(shelf), segment(namespace), segment(name))
}

/// Texts of which the server makes values.
fn parameters<'a>(texts: &'a [(&'a str, &'a str)]) -> Vec<(String, String)> {
    texts.iter().map(|(name, text)| (format!("param.{name}"), (*text).to_owned())).collect()
}

impl Remote {
    /// Keeps a document by the name that it has, `T` being a schedule or a workflow as that is kept.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn put<T: DeserializeOwned>(
        &self,
        shelf: CatalogKind,
        name: (&str, &str),
        document: DocumentText<'_>,
    ) -> Result<CatalogItem<T>, RemoteError> {
        let DocumentText { file, text } = document;
        let is_json = file.to_ascii_lowercase().ends_with(".json");
        let kind = if is_json { "application/json" } else { "application/yaml" };
        let query = [("file", file.to_owned())];
        let body = Some((kind, text.as_bytes().to_vec()));
        let path = Cow::Owned(path(shelf, name.0, name.1, ""));
        self.ask(ClientRequest { method: "PUT", path, query: &query, headers: Vec::new(), body }).await
    }

    /// A version of a document that is kept, by the beginning of its digest, as it was given.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn document(
        &self,
        shelf: CatalogKind,
        name: (&str, &str),
        digest: &str,
    ) -> Result<String, RemoteError> {
        let version = [("version", digest.to_owned())];
        let query = if shelf == CatalogKind::Workflows { version.as_slice() } else { &[] };
        let path = Cow::Owned(path(shelf, name.0, name.1, "/document"));
        let asked = ClientRequest { method: "GET", path, query, headers: Vec::new(), body: None };
        let answer = self.send(asked).await?;
        String::from_utf8(answer.body).map_err(|error| self.unreached(format!("no text came: {error}")))
    }

    /// Has a schedule pause, or go on.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn pause(
        &self,
        name: (&str, &str),
        pauses: bool,
    ) -> Result<CatalogItem<ScheduleState>, RemoteError> {
        let word = if pauses { "/suspend" } else { "/resume" };
        self.ask(post(path(CatalogKind::Schedules, name.0, name.1, word), None)).await
    }

    /// The next instants of a schedule.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn next_instants(
        &self,
        name: (&str, &str),
        count: usize,
    ) -> Result<Vec<Timestamp>, RemoteError> {
        let said: Value = self
            .get(&path(CatalogKind::Schedules, name.0, name.1, "/next"), &[("count", count.to_string())])
            .await?;
        let all = said.get("next").and_then(Value::as_array).cloned().unwrap_or_default();
        let instant = |at: &Value| at.as_str().and_then(Timestamp::from_rfc3339);
        let read: Option<Vec<_>> = all.iter().map(instant).collect();
        read.ok_or_else(|| self.unreached(format!("expected a list of times: {said}")))
    }

    /// Has a schedule start a run now. Returns what `submit --json` prints.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn trigger(
        &self,
        name: (&str, &str),
        texts: &[(&str, &str)],
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        let texts = parameters(texts);
        let query: Vec<_> = texts.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let asked = post(path(CatalogKind::Schedules, name.0, name.1, "/trigger"), None);
        let headers = key.map(|key| ("idempotency-key", key.to_owned())).into_iter().collect();
        self.ask(ClientRequest { query: &query, headers, ..asked }).await
    }

    /// Submits a version of a saved workflow, or the last one. Returns what `submit --json` prints.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn run(
        &self,
        name: (&str, &str),
        version: Option<&str>,
        texts: &[(&str, &str)],
        key: Option<&str>,
    ) -> Result<Value, RemoteError> {
        let texts = parameters(texts);
        let mut query: Vec<_> = texts.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        query.extend(version.map(|version| ("version", version.to_owned())));
        let headers = key.map(|key| ("idempotency-key", key.to_owned())).into_iter().collect();
        let asked = post(path(CatalogKind::Workflows, name.0, name.1, "/runs"), None);
        self.ask(ClientRequest { query: &query, headers, ..asked }).await
    }

    /// Removes what is kept by a name; false if there is nothing.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn remove(&self, shelf: CatalogKind, name: (&str, &str)) -> Result<bool, RemoteError> {
        let path = Cow::Owned(path(shelf, name.0, name.1, ""));
        let asked = ClientRequest { method: "DELETE", path, query: &[], headers: Vec::new(), body: None };
        match self.send(asked).await {
            Ok(_) => Ok(true),
            Err(RemoteError::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A word by which a browser signs in with the key of this, once and soon: at `/login?ticket=`.
    ///
    /// # Errors
    /// When it refuses, or cannot be reached.
    pub async fn ticket(&self) -> Result<String, RemoteError> {
        let said: Value = self.ask(post("/v1/tickets".to_owned(), None)).await?;
        let word = said.get("ticket").and_then(Value::as_str).map(ToOwned::to_owned);
        word.ok_or_else(|| self.unreached("the response is not a ticket".to_owned()))
    }

    /// Returns the saved document of that name, as a store would.
    pub(super) async fn kept_entry(&self, name: &EntryName) -> Result<Option<CatalogEntry>, StoreError> {
        let path = path(name.shelf, &name.namespace, &name.name, "");
        match self.get::<Value>(&path, &[]).await {
            Ok(said) => self.entry_of(name.shelf, &said).map(Some),
            Err(RemoteError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(failed(error, None)),
        }
    }

    /// Pages of what is kept, until there is as much as is wanted.
    pub(super) async fn kept_entries(&self, wanted: EntryQuery) -> Result<Vec<CatalogEntry>, StoreError> {
        let EntryQuery { shelf, namespace, after, limit } = wanted;
        let mut query = vec![("limit", limit.clamp(1, PAGE_RUNS).to_string())];
        query.extend(namespace.map(|namespace| ("namespace", namespace.to_string())));
        query.extend(after.map(|(namespace, name)| ("cursor", format!("{namespace}/{name}"))));
        let mut found = Vec::new();
        loop {
            let page: Value = self
                .get(&format!("/v1/{}", word(shelf)), &query)
                .await
                .map_err(|error| failed(error, None))?;
            for said in page.get(word(shelf)).and_then(Value::as_array).into_iter().flatten() {
                found.push(self.entry_of(shelf, said)?);
            }
            for said in page.get("damaged").and_then(Value::as_array).into_iter().flatten() {
                found.push(CatalogEntry { damaged: true, ..self.entry_of(shelf, said)? });
            }
            let next = page.get("next").and_then(Value::as_str).filter(|_| found.len() < limit);
            let Some(next) = next else { break };
            query.retain(|(name, _)| *name != "cursor");
            query.push(("cursor", next.to_owned()));
        }
        found.truncate(limit);
        Ok(found)
    }

    fn entry_of(&self, shelf: CatalogKind, said: &Value) -> Result<CatalogEntry, StoreError> {
        let text = |name: &str| said.get(name).and_then(Value::as_str);
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
            return Err(senseless(self.url(), format!("the response is not a {shelf}: {said}")));
        };
        let name = EntryName { shelf, namespace: namespace.into(), name: name.into() };
        let due = text("next").and_then(Timestamp::from_rfc3339);
        // A client does not change it.
        Ok(CatalogEntry { name, revision: 0, due, body: said.to_string().into(), damaged: false })
    }
}
