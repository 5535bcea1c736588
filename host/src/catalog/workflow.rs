//! Workflows that are run by their names.

use phasm_engine::{plan::Plan, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CatalogItem, CatalogPage, SaveError, Version, WrittenDocument, find, labels_of, list, named, update,
};
use crate::store::{CatalogKind, Labels, ReadStore, Store, StoreError};

/// How many versions of a workflow are kept; the oldest go first.
const MAX_VERSIONS: usize = 100;

/// A workflow that is run by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Workflow")]
pub struct SavedWorkflow {
    /// Its versions, the one that is run last; up to 100 of them are kept.
    pub versions: Vec<Version>,
    /// `metadata.labels` of the last one, as text.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

impl SavedWorkflow {
    /// The version that is meant by the beginning of its digest (`sha256:` may be left out), or the last one.
    #[must_use]
    pub fn version(&self, digest: Option<&str>) -> Option<&Version> {
        let Some(digest) = digest else { return self.versions.last() };
        let meant = digest.strip_prefix("sha256:").unwrap_or(digest);
        let bare = |version: &&Version| {
            let own = version.digest.strip_prefix("sha256:").unwrap_or(&version.digest);
            !meant.is_empty() && own.starts_with(meant)
        };
        self.versions.iter().rfind(bare)
    }
}

/// Keeps a workflow by its name in its namespace; one that is there already becomes this one's earlier version. A text that is the last
/// version's changes nothing. `plan` is what the text was planned as.
///
/// # Errors
/// [`SaveError`]; nothing was changed.
pub async fn save_workflow(
    store: &dyn Store,
    plan: &Plan,
    written: WrittenDocument<'_>,
    by: Option<&str>,
    now: Timestamp,
) -> Result<CatalogItem<SavedWorkflow>, SaveError> {
    if plan.cron.is_some() {
        return Err(SaveError::IsSchedule);
    }
    let new = Version::new(written, by, now);
    let labels = labels_of(plan);
    update(
        store,
        named(CatalogKind::Workflows, &plan.namespace, &plan.name),
        |found: Option<&CatalogItem<SavedWorkflow>>| {
            let mut versions = found.map(|found| found.what.versions.clone()).unwrap_or_default();
            if versions.last().is_some_and(|last| last.digest == new.digest) {
                return None;
            }
            versions.retain(|version| version.digest != new.digest);
            versions.push(new.clone());
            versions.drain(..versions.len().saturating_sub(MAX_VERSIONS));
            let bytes = |version: &Version| (version.digest == new.digest).then_some(written.text);
            let texts = versions.iter().map(|version| version.text(bytes(version))).collect();
            Some((SavedWorkflow { versions, labels: labels.clone() }, None, Some(texts)))
        },
    )
    .await
}

/// The workflow of that name, if there is one.
///
/// # Errors
/// When the store cannot be read.
pub async fn saved_workflow(
    store: &dyn ReadStore,
    namespace: &str,
    name: &str,
) -> Result<Option<CatalogItem<SavedWorkflow>>, StoreError> {
    find(store, &named(CatalogKind::Workflows, namespace, name)).await
}

/// The first `limit` workflows, of a namespace or of all, by namespace and name; those behind `after`, if it is given.
///
/// # Errors
/// When the store cannot be read.
pub async fn saved_workflows(
    store: &dyn ReadStore,
    namespace: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> Result<CatalogPage<SavedWorkflow>, StoreError> {
    list(store, CatalogKind::Workflows, namespace, after, limit).await
}

/// Deletes a workflow with all its versions; false if there is none. Its runs stay.
///
/// # Errors
/// When the store fails.
pub async fn remove_workflow(store: &dyn Store, namespace: &str, name: &str) -> Result<bool, StoreError> {
    store.remove_entry(&named(CatalogKind::Workflows, namespace, name)).await
}
