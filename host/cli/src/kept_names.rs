//! What is kept in a store by a name: finding it, changing it, and saying what there is instead.

use std::{fmt, path::Path, sync::Arc};

use clap::Args;
#[cfg(unix)]
use phasm::ring::Ring;
use phasm::{
    catalog::{SaveError, Version},
    clock::Clock,
    store::{Entries, Postgres, ReadStore, Shelf, Sqlite, Store, StoreError},
};

use super::{drive::unusable, failure::Failure, hint::Way, kept, stored::StoreArgument, text};

/// Names that a message lists at most.
const MOST_NAMED: usize = 10;
/// Entries that are listed at most.
pub(super) const MOST_LISTED: usize = 1000;

/// A name, with its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// Reads `NAME` or `NAMESPACE/NAME`.
///
/// # Errors
/// What clap tells the user.
pub(super) fn called(text: &str) -> Result<Called, String> {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    if namespace.is_empty() || name.is_empty() || name.contains('/') {
        return Err("expected a name, as `nightly`, or with its namespace, as `data/nightly`".to_owned());
    }
    Ok(Called { namespace: namespace.to_owned(), name: name.to_owned() })
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "default" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

impl Called {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// None of its versions is meant.
    pub(super) fn no_version(&self) -> Failure {
        Failure::call(format!("{} has no version whose digest begins so", self.word()))
    }

    /// As it is printed, and typed again.
    pub(super) fn word(&self) -> String {
        text::clean(&self.to_string()).into_owned()
    }
}

/// Which of those that a store has.
#[derive(Args, Debug)]
pub(super) struct Listing {
    /// Only those of this namespace.
    #[arg(long, value_name = "NAME")]
    pub(super) namespace: Option<String>,
}

/// A store that is changed, whether another process holds it or not.
pub(super) struct Changing {
    pub(super) store: Arc<dyn Store>,
    is_held: bool,
}

impl Changing {
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let (store, is_held): (Arc<dyn Store>, bool) = match kept::url(path) {
            Some(url) => (Arc::new(Postgres::open(url).map_err(unusable)?), true),
            None => match Sqlite::open(path) {
                Err(StoreError::Locked { .. }) => (Arc::new(Sqlite::beside(path).map_err(unusable)?), true),
                opened => (Arc::new(opened.map_err(unusable)?), false),
            },
        };
        Ok(Self { store, is_held })
    }

    /// Has whoever serves the file look at what was changed; how to have somebody serve it, where nobody does.
    pub(super) async fn tell(&self, path: &Path, way: &Way) -> Option<String> {
        if self.is_held {
            ring(path).await;
            return None;
        }
        Some(format!("nobody serves the store now; go on with: {}\n", way.command(&["serve"])))
    }
}

/// Has whoever holds a file look for what is due.
pub(super) async fn ring(file: &Path) {
    #[cfg(unix)]
    if kept::url(file).is_none()
        && let Some(ring) = Ring::at(file).await
    {
        // If it is gone meanwhile, the next one looks by itself.
        drop(ring.submitted().await);
    }
}

/// Who saves something here.
pub(super) fn me() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty())
}

/// Why something was not done; where there is none of that name, what there is instead.
pub(super) async fn refused(error: SaveError, reader: &dyn ReadStore) -> Failure {
    let SaveError::NotFound { shelf, namespace, name } = &error else {
        return match error {
            SaveError::Store(StoreError::Crowded { .. } | StoreError::Moved { .. })
            | SaveError::NoSchedule
            | SaveError::IsSchedule
            | SaveError::Problems(_) => Failure::call(error),
            SaveError::NotFound { .. } | SaveError::Store(_) => Failure::host(error),
        };
    };
    let asked = Called::new(namespace, name).word();
    match others(reader, *shelf).await {
        Ok(others) => Failure::call(format!("there is no {shelf} {asked}; {others}")),
        Err(failed) => Failure::host(failed),
    }
}

/// There is none of that name.
async fn none(shelf: Shelf, name: &Called, reader: &dyn ReadStore) -> Failure {
    let (namespace, name) = (name.namespace.as_str().into(), name.name.as_str().into());
    refused(SaveError::NotFound { shelf, namespace, name }, reader).await
}

/// There is no workflow of that name.
pub(super) async fn no_workflow(name: &Called, reader: &dyn ReadStore) -> Failure {
    none(Shelf::Workflows, name, reader).await
}

/// There is no schedule of that name.
pub(super) async fn no_schedule(name: &Called, reader: &dyn ReadStore) -> Failure {
    none(Shelf::Schedules, name, reader).await
}

async fn others(reader: &dyn ReadStore, shelf: Shelf) -> Result<String, StoreError> {
    let wanted = Entries { shelf, namespace: None, after: None, limit: MOST_NAMED + 1 };
    let found = reader.entries(wanted).await?;
    let mut names: Vec<_> =
        found.iter().map(|entry| Called::new(&entry.name.namespace, &entry.name.name).word()).collect();
    if names.is_empty() {
        return Ok(format!("the store has no {shelf}s"));
    }
    let more = if names.len() > MOST_NAMED { ", …" } else { "" };
    names.truncate(MOST_NAMED);
    Ok(format!("there are: {}{more}", names.join(", ")))
}

/// How a version came to be.
pub(super) fn origin(version: &Version) -> String {
    let by = version.by.as_deref().map(|by| format!(" by {}", text::clean(by))).unwrap_or_default();
    format!("{} {}{by}", text::clean(&version.file), version.saved_at.to_rfc3339())
}

/// The first characters of a digest, which mean it.
pub(super) fn short(digest: &str) -> String {
    digest.strip_prefix("sha256:").unwrap_or(digest).chars().take(12).collect()
}

/// The store that a command is about.
pub(super) struct About {
    pub(super) path: std::path::PathBuf,
    pub(super) way: Way,
    pub(super) now: phasm::engine::time::Timestamp,
}

impl About {
    /// # Errors
    /// When no store is named, or there is none.
    pub(super) fn new(store: &StoreArgument) -> Result<Self, Failure> {
        let path = store.path()?;
        Ok(Self { way: Way::to(&path), path, now: Clock::start().now() })
    }
}
