//! Names of schedules and saved workflows, and messages about missing ones.

use std::fmt;

use clap::Args;
use phasm::{
    catalog::{DamagedEntry, SaveError, Version},
    store::{CatalogKind, EntryQuery, ReadStore, StoreError},
};

use crate::{
    exit::Exit,
    failure::Failure,
    terminal::{screen::Screen, text},
};

/// Names that a message lists at most.
const MAX_NAMED: usize = 10;
/// Entries that are listed at most.
pub(crate) const MAX_LISTED: usize = 1000;

/// A name, with its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QualifiedName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Reads `NAME` or `NAMESPACE/NAME`.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn called(text: &str) -> Result<QualifiedName, String> {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    if namespace.is_empty() || name.is_empty() || name.contains('/') {
        return Err("expected a name, as `nightly`, or with its namespace, as `data/nightly`".to_owned());
    }
    Ok(QualifiedName { namespace: namespace.to_owned(), name: name.to_owned() })
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "default" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

impl QualifiedName {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The namespace and the name, as a client takes them.
    pub(crate) fn pair(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }

    /// None of its versions is meant.
    pub(crate) fn no_version(&self) -> Failure {
        Failure::call(format!("no version of {} matches that digest prefix", self.word()))
    }

    /// Returns the name as it is printed, and can be typed again.
    pub(crate) fn word(&self) -> String {
        text::clean(&self.to_string()).into_owned()
    }
}

/// Which of those that a store has.
#[derive(Args, Debug)]
pub(crate) struct NamespaceFilter {
    /// Only entries in this namespace.
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
}

/// Why something was not done; where there is none of that name, what there is instead.
pub(crate) async fn refused(error: SaveError, reader: &dyn ReadStore) -> Failure {
    let SaveError::NotFound { shelf, namespace, name } = &error else {
        return match error {
            SaveError::Store(StoreError::Crowded { .. } | StoreError::Moved { .. })
            | SaveError::NoSchedule
            | SaveError::IsSchedule
            | SaveError::Problems(_) => Failure::call(error),
            SaveError::NotFound { .. } | SaveError::Store(_) => Failure::host(error),
        };
    };
    let asked = QualifiedName::new(namespace, name).word();
    match others(reader, *shelf).await {
        Ok(others) => Failure::call(format!("there is no {shelf} {asked}; {others}")),
        Err(failed) => Failure::host(failed),
    }
}

/// There is none of that name.
pub(crate) async fn not_found(shelf: CatalogKind, name: &QualifiedName, reader: &dyn ReadStore) -> Failure {
    let (namespace, name) = (name.namespace.as_str().into(), name.name.as_str().into());
    refused(SaveError::NotFound { shelf, namespace, name }, reader).await
}

/// There is no workflow of that name.
pub(crate) async fn no_workflow(name: &QualifiedName, reader: &dyn ReadStore) -> Failure {
    not_found(CatalogKind::Workflows, name, reader).await
}

/// There is no schedule of that name.
pub(crate) async fn no_schedule(name: &QualifiedName, reader: &dyn ReadStore) -> Failure {
    not_found(CatalogKind::Schedules, name, reader).await
}

async fn others(reader: &dyn ReadStore, shelf: CatalogKind) -> Result<String, StoreError> {
    let wanted = EntryQuery { shelf, namespace: None, after: None, limit: MAX_NAMED + 1 };
    let found = reader.entries(wanted).await?;
    let mut names: Vec<_> = found
        .iter()
        .map(|entry| QualifiedName::new(&entry.name.namespace, &entry.name.name).word())
        .collect();
    if names.is_empty() {
        return Ok(format!("the store has no {shelf}s"));
    }
    let more = if names.len() > MAX_NAMED { ", …" } else { "" };
    names.truncate(MAX_NAMED);
    Ok(format!("there are: {}{more}", names.join(", ")))
}

/// How a version came to be.
pub(crate) fn origin(version: &Version) -> String {
    let by = version.by.as_deref().map(|by| format!(" by {}", text::clean(by))).unwrap_or_default();
    format!("{} {}{by}", text::clean(&version.file), version.saved_at.to_rfc3339())
}

/// The first characters of a digest, which mean it.
pub(crate) fn short(digest: &str) -> String {
    digest.strip_prefix("sha256:").unwrap_or(digest).chars().take(12).collect()
}
/// Names damaged entries. Returns the status to exit with.
pub(crate) fn tell_damaged(screen: &Screen, damaged: &[DamagedEntry]) -> Exit {
    for DamagedEntry { damaged, .. } in damaged {
        screen.err(&format!("{} {}\n", text::bad("error:"), text::clean(damaged)));
    }
    if damaged.is_empty() { Exit::Done } else { Exit::Error }
}
