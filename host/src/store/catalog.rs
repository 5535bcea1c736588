//! Catalog entries, which a store keeps by name: saved workflows and schedules.
//!
//! ```text
//!  entry(name) ──▶ CatalogEntry at some revision ── change(from that revision) ──▶ the next one, or StoreError::Moved
//!                                         └─ fire(the same, and a run's first record) ──▶ both or neither
//! ```
//!
//! The body of an entry is opaque to the store. The store knows when the entry is due, and the texts that it names: each text is
//! stored once by its digest, until no entry names it.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;
use tokio::sync::watch;

use super::{Encode, Lease, Pending, Record, RunStatus, StoreError};

/// How many entries of a kind a namespace may have.
pub const MAX_ENTRIES: usize = 1000;
/// How many bytes the texts of a namespace's entries of a kind may have; what several entries name counts for each.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CatalogKind {
    /// Schedules.
    Schedules,
    /// Saved workflows.
    Workflows,
}

impl CatalogKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Schedules, Self::Workflows];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schedules => "schedule",
            Self::Workflows => "workflow",
        }
    }
}

impl fmt::Display for CatalogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Name of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName {
    /// Kind of the entry.
    pub shelf: CatalogKind,
    /// Namespace of the entry.
    pub namespace: Arc<str>,
    /// Unique among those of its kind in the namespace.
    pub name: Arc<str>,
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shelf, namespace, name } = self;
        write!(f, "{shelf} {namespace}/{name}")
    }
}

/// Something that is kept by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Name of the entry.
    pub name: EntryName,
    /// Another one after each change, and never one that any entry has had before.
    pub revision: u64,
    /// Time at which the entry is due, if ever.
    pub due: Option<Timestamp>,
    /// Body, opaque to the store.
    pub body: Arc<str>,
    /// Whether the entry is not as it was written; then nothing in it is to be believed.
    pub damaged: bool,
}

/// A text that entries name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Digest of the bytes. The store does not verify it; a reader can.
    pub digest: Arc<str>,
    /// How many there are.
    pub size: u64,
    /// The bytes; nothing if the entry names the text already.
    pub bytes: Option<Arc<[u8]>>,
}

/// Another revision of an entry, or its first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the entry.
    pub name: EntryName,
    /// The revision that is changed; 0 for an entry that is not there yet.
    pub from: u64,
    /// Time at which the entry is due.
    pub due: Option<Timestamp>,
    /// Body, opaque to the store.
    pub body: Arc<str>,
    /// All the texts that it names, each once; nothing where they stay as they are.
    pub texts: Option<Vec<Text>>,
}

impl Change {
    pub(super) fn moved(&self) -> StoreError {
        StoreError::Moved { what: self.name.to_string() }
    }

    /// Whether there is room for it beside `others`, so many other entries of its kind with so many bytes of text.
    pub(super) fn check_room(&self, others: u64, bytes: u64) -> Result<(), StoreError> {
        let own: u64 = self.texts.iter().flatten().map(|text| text.size).sum();
        let crowded = |limit: String| StoreError::Crowded {
            namespace: Arc::clone(&self.name.namespace),
            shelf: self.name.shelf,
            limit,
        };
        if others >= MAX_ENTRIES as u64 {
            return Err(crowded(format!("{MAX_ENTRIES} of them")));
        }
        if bytes.saturating_add(own) > MAX_TEXT_BYTES {
            return Err(crowded(format!("{} MiB of their files", MAX_TEXT_BYTES >> 20)));
        }
        Ok(())
    }
}

/// Where an entry stands among those that are due at some time.
pub type DuePlace = (Timestamp, EntryName);

/// Which entries [`ReadStore::entries`](super::ReadStore::entries) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryQuery {
    /// Kind of the entries.
    pub shelf: CatalogKind,
    /// Namespace of the entries; all namespaces if absent.
    pub namespace: Option<Arc<str>>,
    /// Position: entries after that namespace and name.
    pub after: Option<(Arc<str>, Arc<str>)>,
    /// Maximum number of entries.
    pub limit: usize,
}

/// Catalog entries: saved workflows and schedules.
pub trait Catalog: Send + Sync {
    /// Writes an entry, if it is as it was when the change was made; its revision is returned.
    ///
    /// # Errors
    /// [`StoreError::Moved`] if it is not; [`StoreError::Crowded`] if the namespace has too many, or too large ones. Nothing was written.
    fn change(&self, change: Change) -> Pending<u64>;

    /// [`Journal::append`](super::Journal::append) of a new run's first record, and [`Self::change`] of an entry whose texts stay as they are: both or
    /// neither.
    ///
    /// # Errors
    /// The errors of the two; nothing was written.
    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64>;

    /// Deletes an entry, and the texts that it alone names; false if there is none.
    ///
    /// # Errors
    /// When the store fails.
    fn remove_entry(&self, name: &EntryName) -> Pending<bool>;

    /// Returns a receiver that changes when an entry has, by any host. Several changes are one, and one may be spurious.
    fn entries_changed(&self) -> watch::Receiver<()>;
}
