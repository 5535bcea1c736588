//! Documents that a store keeps by name: workflows that are run by it, and schedules, which start runs by themselves.
//!
//! ```text
//!  a document ─ Host::plan ─▶ Plan ─▶ save_workflow ──▶ versions by digest ──▶ Host::saved_plan ─▶ submit
//!                                  └▶ put_schedule ───▶ state, due at its next instant
//!  a claiming host ── due ──▶ decide(state, now, how its runs stand) ──▶ fire ──▶ state and run in one write
//!                                                                   └──▶ what it replaces is cancelled, what is old is deleted
//! ```
//!
//! The functions here need no host, and write beside the process that has a file, too.

mod decide;
mod instant;
mod schedule;
mod workflow;

use std::{fmt, sync::Arc};

use phasm_engine::{
    plan::Plan,
    problem::Problems,
    time::{TimeText, Timestamp},
    value::Value,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::store::{
    CatalogEntry, CatalogKind, Change, EntryName, EntryQuery, Labels, ReadStore, Store, StoreError, Text,
};
use phasm_sandbox::Digest;

pub(crate) use self::{
    decide::{Decision, MAX_OPEN_RUNS, RunStands, decide},
    schedule::read,
};
pub use self::{
    schedule::{
        FiringNote, FiringResult, SCHEDULE_LABEL, SCHEDULED_LABEL, ScheduleState, ScheduleTrouble,
        Suspension, given_parameters, next_instants, put_schedule, remove_schedule, resume_schedule,
        schedule, schedule_document, schedules, suspend_schedule,
    },
    workflow::{SavedWorkflow, remove_workflow, save_workflow, saved_workflow, saved_workflows},
};

/// Number of attempts at a change that another process overtakes.
pub(crate) const MAX_TRIES: usize = 16;

/// A document as it is written.
#[derive(Clone, Copy, Debug)]
pub struct WrittenDocument<'a> {
    /// The file name in messages; its extension chooses JSON or YAML.
    pub file: &'a str,
    /// The contents.
    pub text: &'a str,
}

/// One stored version of a workflow file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Digest of its text.
    pub digest: Arc<str>,
    /// The size of its text, in bytes.
    pub size: u64,
    /// The name of the file that it came from.
    pub file: Arc<str>,
    /// When it was saved.
    #[serde(with = "instant")]
    #[schemars(with = "TimeText")]
    pub saved_at: Timestamp,
    /// The author, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
}

impl Version {
    fn new(WrittenDocument { file, text }: WrittenDocument<'_>, by: Option<&str>, now: Timestamp) -> Self {
        let digest = Digest::of(text.as_bytes()).to_string().into();
        Self { digest, size: text.len() as u64, file: file.into(), saved_at: now, by: by.map(Arc::from) }
    }

    /// The text as an entry refers to it; with its bytes if it is new.
    fn text(&self, bytes: Option<&str>) -> Text {
        let bytes = bytes.map(|text| text.as_bytes().into());
        Text { digest: Arc::clone(&self.digest), size: self.size, bytes }
    }
}

/// Something that is kept by a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}")]
pub struct CatalogItem<T> {
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// Time of the next check; for a schedule, the time of its next run.
    #[serde(default, with = "instant::maybe", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub next: Option<Timestamp>,
    /// The saved value.
    #[serde(flatten)]
    pub what: T,
    #[serde(skip)]
    pub(crate) revision: u64,
}

/// A page of a list of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogPage<T> {
    /// Entries, by namespace and name.
    pub items: Vec<CatalogItem<T>>,
    /// Entries of the page that are not as they were written.
    pub damaged: Vec<DamagedEntry>,
    /// Namespace and name of the last entry, if there may be more behind it.
    pub next: Option<(Arc<str>, Arc<str>)>,
}

/// An entry that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DamagedEntry {
    /// The namespace, as far as it can be read.
    pub namespace: Arc<str>,
    /// The name, as far as it can be read.
    pub name: Arc<str>,
    /// Difference that was found.
    pub damaged: Arc<str>,
}

impl<T: DeserializeOwned> CatalogItem<T> {
    /// # Errors
    /// [`StoreError::Corrupt`] if it is none.
    pub(crate) fn read(entry: &CatalogEntry) -> Result<Self, StoreError> {
        let EntryName { namespace, name, .. } = &entry.name;
        let corrupt = |found: &dyn fmt::Display| StoreError::Corrupt {
            path: "store".into(),
            found: format!("{}: {found}", entry.name),
        };
        if entry.damaged {
            return Err(corrupt(&"it is damaged: its checksum differs"));
        }
        let what = serde_json::from_str(&entry.body).map_err(|error| corrupt(&error))?;
        Ok(Self {
            namespace: Arc::clone(namespace),
            name: Arc::clone(name),
            next: entry.due,
            what,
            revision: entry.revision,
        })
    }
}

/// Why a document was not kept.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The schedule could not start by itself: its runs get no parameters.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// A document that is to be a schedule says nothing of when.
    #[error("kind Workflow has no schedule; write `kind: CronWorkflow`, with its spec under `workflowSpec`")]
    NoSchedule,
    /// A schedule is not run by its name.
    #[error("kind CronWorkflow is a schedule, and is kept as one")]
    IsSchedule,
    /// There is no schedule, or workflow, of that name.
    #[error("there is no {shelf} {namespace}/{name} in this store")]
    NotFound {
        /// The kind of entry.
        shelf: CatalogKind,
        /// In which namespace.
        namespace: Arc<str>,
        /// By which name.
        name: Arc<str>,
    },
    /// The entry could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SaveError {
    fn not_found(EntryName { shelf, namespace, name }: &EntryName) -> Self {
        Self::NotFound { shelf: *shelf, namespace: Arc::clone(namespace), name: Arc::clone(name) }
    }
}

/// The text of a document that is kept, by its digest.
///
/// # Errors
/// When the store cannot be read, or what it has is not what was kept.
pub async fn saved_text(store: &dyn ReadStore, digest: &str) -> Result<Option<String>, StoreError> {
    let Some(bytes) = store.text(digest).await? else { return Ok(None) };
    let damaged = |found: &dyn fmt::Display| StoreError::Corrupt {
        path: "store".into(),
        found: format!("workflow file {digest}: {found}"),
    };
    if Digest::of(&bytes).to_string() != digest {
        return Err(damaged(&"it is damaged: its digest differs"));
    }
    String::from_utf8(bytes.to_vec()).map(Some).map_err(|error| damaged(&error))
}

/// A plan's labels as text.
pub(crate) fn labels_of(plan: &Plan) -> Labels {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string().into(), Arc::from);
    plan.labels.iter().map(|(key, value)| (Arc::clone(key), text(value))).collect()
}

fn named(shelf: CatalogKind, namespace: &str, name: &str) -> EntryName {
    EntryName { shelf, namespace: namespace.into(), name: name.into() }
}

async fn find<T: DeserializeOwned>(
    store: &dyn ReadStore,
    name: &EntryName,
) -> Result<Option<CatalogItem<T>>, StoreError> {
    store.entry(name).await?.as_ref().map(CatalogItem::read).transpose()
}

async fn list<T: DeserializeOwned>(
    store: &dyn ReadStore,
    shelf: CatalogKind,
    namespace: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> Result<CatalogPage<T>, StoreError> {
    let after = after.map(|(namespace, name)| (namespace.into(), name.into()));
    let wanted = EntryQuery { shelf, namespace: namespace.map(Arc::from), after, limit };
    let found = store.entries(wanted).await?;
    let last = found.last().filter(|_| found.len() == limit);
    let next = last.map(|last| (Arc::clone(&last.name.namespace), Arc::clone(&last.name.name)));
    let mut page = CatalogPage { items: Vec::new(), damaged: Vec::new(), next };
    for entry in found {
        match CatalogItem::read(&entry) {
            Ok(item) => page.items.push(item),
            Err(error) => {
                let EntryName { namespace, name, .. } = entry.name;
                page.damaged.push(DamagedEntry { namespace, name, damaged: error.to_string().into() });
            }
        }
    }
    Ok(page)
}

/// A change of the revision that was read.
pub(crate) fn change<T: Serialize>(
    name: EntryName,
    from: u64,
    due: Option<Timestamp>,
    what: &T,
    texts: Option<Vec<Text>>,
) -> Change {
    // Texts and numbers: this cannot fail.
    let body = serde_json::to_string(what).unwrap_or_default().into();
    Change { name, from, due, body, texts }
}

/// Changes an entry as it is then, if that changes anything, however often others come before; how it is now.
async fn update<T: DeserializeOwned + Serialize + PartialEq + Clone>(
    store: &dyn Store,
    name: EntryName,
    mut edit: impl FnMut(Option<&CatalogItem<T>>) -> Option<(T, Option<Timestamp>, Option<Vec<Text>>)>,
) -> Result<CatalogItem<T>, SaveError> {
    let mut tries = 0;
    loop {
        let found: Option<CatalogItem<T>> = find(store, &name).await?;
        let Some((what, due, texts)) = edit(found.as_ref()) else {
            return found.ok_or_else(|| SaveError::not_found(&name));
        };
        if let Some(same) = found.as_ref().filter(|found| found.what == what && found.next == due) {
            return Ok(same.clone());
        }
        let from = found.map_or(0, |found| found.revision);
        match store.change(change(name.clone(), from, due, &what, texts)).await {
            Ok(revision) => {
                let EntryName { namespace, name, .. } = name;
                return Ok(CatalogItem { namespace, name, next: due, what, revision });
            }
            Err(StoreError::Moved { .. }) if tries < MAX_TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}
