//! Errors of stores.

use std::{io, path::PathBuf, sync::Arc};

use super::CatalogKind;

/// Why a store did not do what it was asked. Cheap to clone: one failed commit fails many appends.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The sequence check failed.
    #[error("run {run_id} has {found} events, {expected} were expected: another host has advanced it")]
    Conflict {
        /// The run.
        run_id: Arc<str>,
        /// The record's `first_seq`.
        expected: u64,
        /// How many events the run has; 0 if it does not exist.
        found: u64,
    },
    /// Another host has claimed the run.
    #[error("run {run_id} was claimed by another host")]
    LeaseLost {
        /// The run.
        run_id: Arc<str>,
    },
    /// A submission of that key was made before.
    #[error("run {run_id} was submitted with this key")]
    Exists {
        /// The run that came of it.
        run_id: Arc<str>,
    },
    /// The run has ended and takes no requests.
    #[error("run {run_id} has already ended")]
    Closed {
        /// The run.
        run_id: Arc<str>,
    },
    /// The run has not ended.
    #[error("run {run_id} has not ended; only runs that have are deleted")]
    StillOpen {
        /// The run.
        run_id: Arc<str>,
    },
    /// Too many letters to the run wait for an answer.
    #[error(
        "{limit} requests to run {run_id} wait for a reply; no more are accepted until some are carried out"
    )]
    MailboxFull {
        /// The run.
        run_id: Arc<str>,
        /// How many may wait.
        limit: usize,
    },
    /// A run that waits in its store could not be loaded.
    #[error("run {run_id} cannot be loaded: {reason}")]
    Unreachable {
        /// The run.
        run_id: Arc<str>,
        /// Why.
        reason: String,
    },
    /// There is no such run.
    #[error("there is no run {run_id} in this store")]
    NotFound {
        /// The run asked for.
        run_id: Arc<str>,
    },
    /// A record is larger than the store takes.
    #[error("a record of run {run_id} has {size} bytes; the store takes at most {limit}")]
    TooLarge {
        /// The run.
        run_id: Arc<str>,
        /// Bytes of the encoded body.
        size: usize,
        /// Bytes the store takes.
        limit: usize,
    },
    /// Another writer has changed an entry, or the entry exists already, or is gone.
    #[error("{what} was changed meanwhile; look at it again")]
    Moved {
        /// Name of the entry.
        what: String,
    },
    /// A namespace has as many entries as it may have.
    #[error("namespace {namespace} has {limit}, and may have no more of {shelf}s; remove some")]
    Crowded {
        /// The namespace.
        namespace: Arc<str>,
        /// Kind of the entry.
        shelf: CatalogKind,
        /// Limit that was reached, in words.
        limit: String,
    },
    /// Another process, or another handle in this one, has the store open.
    #[error("{path} is in use{}: one process at a time may use a store file", by(*.pid))]
    Locked {
        /// The store's file.
        path: PathBuf,
        /// The process that holds it, where known.
        pid: Option<u32>,
    },
    /// The file or database is something else, and was left as it was.
    #[error("{path} is not a Phasm store: {found}; name another {instead}")]
    Foreign {
        /// The file, or the URL of the database without its password.
        path: PathBuf,
        /// Apparent type of the file, or the content of the database.
        found: String,
        /// The kind of thing to name instead.
        instead: &'static str,
    },
    /// A later Phasm has migrated the store so that this version may not use it any more. Nothing was written.
    #[error(
        "{path} needs store format {found} or later, this Phasm knows formats up to {known}: use a later Phasm"
    )]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// The earliest format that a version has to know.
        found: i64,
        /// The latest format known here.
        known: i64,
    },
    /// An earlier Phasm has written the store, which has not been migrated yet. It was left as it was.
    #[error(
        "{path} has store format {found}, this Phasm uses format {known}: end the hosts of the earlier version, then run `phasm migrate`, \
         or start `phasm serve`"
    )]
    Older {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format known here.
        known: i64,
    },
    /// Stored data contradicts itself.
    #[error("{path} is damaged: {found}")]
    Corrupt {
        /// The store's file.
        path: PathBuf,
        /// Contradiction, and its place.
        found: String,
    },
    /// The file is not the one that was opened: what is written could be lost. Nothing is acknowledged any more.
    #[error("the store {path} is gone: {found}; nothing more is recorded there")]
    Gone {
        /// The store's file.
        path: PathBuf,
        /// Change of the file that was found.
        found: String,
    },
    /// The disk or a quota is full. The store goes on once there is room.
    #[error("{path} cannot grow: the disk or a quota is full")]
    Full {
        /// The store's file.
        path: PathBuf,
    },
    /// The system failed the store.
    #[error("{path} cannot be {action}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Action that failed, as a participle: "opened".
        action: &'static str,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The server of the store is not to be had, or went away in between: what was asked for may have been done. The store goes on
    /// once the server is back.
    #[error(
        "{server} cannot be reached, or the connection was lost; a request that was under way may or may not have been carried out"
    )]
    Unavailable {
        /// Its URL, without the password.
        server: PathBuf,
        /// Reason of the system or the server.
        source: Arc<io::Error>,
    },
    /// The server of the store refused to read it, as for a key that it does not know.
    #[error("{server} refused: {why}")]
    Refused {
        /// Its URL.
        server: String,
        /// Its reason, for people.
        why: String,
    },
    /// The store's own thread has ended, which only a panic on it makes happen before the store is dropped.
    #[error("the store has stopped; restart the process")]
    Stopped,
}

impl StoreError {
    /// Whether the store may be well again by itself: who could not write goes on when it is.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Full { .. } | Self::Io { .. } | Self::Locked { .. } | Self::Unavailable { .. } => true,
            Self::Conflict { .. }
            | Self::LeaseLost { .. }
            | Self::Exists { .. }
            | Self::Closed { .. }
            | Self::StillOpen { .. }
            | Self::MailboxFull { .. }
            | Self::Unreachable { .. }
            | Self::NotFound { .. }
            | Self::TooLarge { .. }
            | Self::Moved { .. }
            | Self::Crowded { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Corrupt { .. }
            | Self::Gone { .. }
            | Self::Refused { .. }
            | Self::Stopped => false,
        }
    }
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" by process {pid}"))
}
