//! Stores of runs: a journal per run, and one row with the run's state.
//!
//! ```text
//!  host   ── claim(due) ──▶ leases ── load(run) ──▶ records in order ──▶ replay
//!  driver ── append(lease, status, record) ──▶ store       queued in the order of the calls
//!         ◀── Ok: durable │ LeaseLost: stop driving ──        many runs' records share one commit
//!         ── release(lease, wake_at) ──▶ without owner until it is due, or has a request
//!  others ── post(run, letter) ──▶ mailbox ── answer ──▶   once the run has recorded it
//! ```
//!
//! Next to runs a store keeps [entries](CatalogEntry) by their names: a schedule changes in the same write that creates the run
//! it fires.
//!
//! A store has a format. [`Sqlite::open`] and [`Postgres::open`] refuse one of an earlier version, as hosts of that version may be
//! using it; a program that is alone with its store, or that is the host, opens it by `open_with` and [`Migration::Apply`]. A store
//! that needs a later version fails each write with [`StoreError::Newer`].
//!
//! A [`Record`] is durable as a whole or not at all. Each record names the number of events that its run had before it, and comes
//! with the epoch of a [`Lease`]. A store takes the record only if both match, hence two hosts never both advance a run.

mod catalog;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
mod error;
mod exchange;
#[cfg(feature = "sqlite")]
mod group_commit;
mod journal;
mod leases;
mod mailbox;
pub mod memory;
mod migration;
mod outbox;
mod pending;
#[cfg(feature = "postgres")]
pub mod postgres;
mod read;
pub(crate) mod retention;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod subscriptions;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
pub mod view;

use std::{path::PathBuf, sync::Arc};

use tokio::sync::watch;

use crate::metrics::CommitCounts;

#[cfg(feature = "postgres")]
pub use self::postgres::{Postgres, PostgresReader};
#[cfg(feature = "sqlite")]
pub use self::sqlite::{Sqlite, SqliteReader};
pub use self::{
    catalog::{
        Catalog, CatalogEntry, CatalogKind, Change, DuePlace, EntryName, EntryQuery, MAX_ENTRIES,
        MAX_TEXT_BYTES, Text,
    },
    error::StoreError,
    exchange::{
        Exchange, ExchangeRequest, ExchangeResponse, IncomingReport, Offer, OfferId, Report, TakenOffer,
    },
    journal::{AttemptLog, Component, Document, Encode, Journal, Record},
    leases::{Claim, ClaimRequest, HostId, Lease, Leases},
    mailbox::{Answer, Letter, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, Mailbox, RETAINED_ANSWERS, Reply},
    memory::Memory,
    migration::Migration,
    outbox::{NewNotice, NoticeId, NoticeRow, Notices, Outbox, Settle},
    pending::Pending,
    read::{HasReader, JournalPart, ReadStore, StoredBytes},
    row::{Census, Filter, Labels, Note, Rest, RunHead, RunRow, RunStatus},
};

/// Stores runs. The holder of a run's [`Lease`] writes to the run; every handle may post requests to it.
///
/// Every operation that writes is queued before the call returns, is taken in the order of the calls, and is durable once the
/// result is `Ok`. An operation that is refused writes nothing, and affects no other; after any other error it is unknown whether
/// it was written.
pub trait Store: ReadStore + Journal + Leases + Mailbox + Catalog + Outbox + Exchange {
    /// Leaves what others shall know of the tenants, in place of what was left before.
    ///
    /// # Errors
    /// When the store fails.
    fn keep_tenants(&self, _tenants: Arc<str>) -> Pending<()> {
        Pending::ready(Ok(()))
    }

    /// Returns a receiver that changes some time after rows of runs have, by any host: for views that list runs. Several changes
    /// are one, and one may be spurious. Changes by this store's own host may come by its lifecycle events alone.
    fn rows_changed(&self) -> watch::Receiver<()> {
        self.changed()
    }

    /// Deletes what no run and no host needs any more, and gives some of the room of what was deleted back to the system. Returns
    /// whether there is more to give.
    ///
    /// # Errors
    /// When the store fails.
    fn give_back(&self) -> Pending<bool> {
        Pending::ready(Ok(false))
    }

    /// Resolves once the store is not to be had any more, as when its file was deleted, or when it needs a later version: the process
    /// has to end. A store that comes
    /// back by itself never resolves.
    ///
    /// # Errors
    /// [`StoreError::Gone`], [`StoreError::Newer`] once a later version has made the store its own, or [`StoreError::Stopped`] if the
    /// store was closed.
    fn until_gone(&self) -> Pending<()> {
        Pending::new(std::future::pending())
    }

    /// The file that it is, if it is one.
    fn file(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the number and size of this handle's commits since it was opened; none if it does not count them.
    fn written(&self) -> Option<CommitCounts> {
        None
    }
}
