//! Runs in a PostgreSQL database, which several hosts may share.
//!
//! ```text
//!  append, claim … ──▶ queue ──▶ one transaction, one round trip: begin, all queued requests, commit ──▶ all their answers
//!  load …          ──▶ two connections for reading, each as of the last commit
//!  heartbeat       ──▶ one connection, so that no record is before it
//!  changes of others ──▶ one connection that listens
//! ```
//!
//! A function of the database judges each request by itself: a refused request does not affect the others of its transaction.
//! A lost connection is made anew. The result of requests that were under way then is unknown, as the server's answer is lost.

mod address;
pub(super) mod append;
mod catalog;
pub(super) mod connection;
mod entries;
mod exchange;
mod fault;
mod follow;
mod format;
pub(super) mod functions;
mod journal;
mod leases;
mod listener;
mod mailbox;
mod outbox;
pub(super) mod reader;
mod reconnect;
mod renewals;
mod rows;
mod statement;
mod thread;
mod tls;
mod writer;

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use tokio::sync::watch;
use tokio_postgres::Row;

pub use self::reader::PostgresReader;
use self::{
    address::{Address, SCHEMES},
    append::APPEND,
    fault::{Parameter, PostgresError, get},
    follow::{Audience, TELL},
    listener::Tells,
    reader::Readers,
    reconnect::ReconnectingClient,
    renewals::Renewals,
    statement::Statement,
    thread::Thread,
    writer::{PostgresWriter, WriteJob},
};
use super::{HasReader, Lease, Migration, Pending, ReadStore, Store, StoreError};
use crate::metrics::{CommitCounters, CommitCounts};

const KEEP_TENANTS: &str = "SELECT keep_tenants($1)";
const SWEEP: &str = "SELECT sweep()";
const STATEMENTS: [&str; 20] = [
    APPEND,
    entries::CHANGE,
    entries::FIRE,
    entries::REMOVE,
    leases::CLAIM,
    leases::CLAIM_RUN,
    leases::RELEASE,
    leases::NEXT_DUE,
    renewals::HEARTBEAT,
    mailbox::POST,
    mailbox::MAIL,
    mailbox::MAILED,
    leases::OWNED,
    mailbox::REPLY,
    journal::KEEP_LOG,
    journal::ABANDON,
    journal::DELETE,
    TELL,
    exchange::SHARE,
    outbox::SETTLE,
];

/// A store in a database. Dropping it waits until all that was queued is durable, or has failed.
pub struct Postgres {
    address: Arc<Address>,
    readers: Readers,
    renewals: Renewals,
    thread: Thread<WriteJob>,
    commits: Arc<CommitCounters>,
    changed: Arc<watch::Sender<()>>,
    reconnected: Arc<watch::Sender<()>>,
    shared: Arc<watch::Sender<()>>,
    entries_changed: Arc<watch::Sender<()>>,
    notices_changed: Arc<watch::Sender<()>>,
    /// Which runs others follow.
    audience: Arc<Audience>,
    /// Set once the tables need a later version.
    newer: Arc<watch::Sender<Option<StoreError>>>,
    /// Whether leases go by the caller's times: only so can tests say what time it is.
    by_callers_clock: bool,
}

impl Postgres {
    /// Whether that is the URL of a database, and not a file.
    #[must_use]
    pub fn is_url(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// The URL without its password, as it is shown to people.
    #[must_use]
    pub fn shown(url: &str) -> String {
        address::shown(url)
    }

    /// Opens the store at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none. Tables of an
    /// earlier format are refused: [`open_with`](Self::open_with) migrates them.
    ///
    /// Without a password in it that of `PGPASSWORD` is taken. Options behind a `?`: `sslmode` (`disable`, `prefer`, `require`, `verify-ca`, `verify-full`) and `sslrootcert` (a file of
    /// certificates) as PostgreSQL's own clients know them, `schema` for the namespace of the tables (`phasm`), `lease` for the
    /// seconds after which a host that is silent is taken for gone (15).
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Foreign`], [`StoreError::Older`], [`StoreError::Newer`], or [`StoreError::Io`] as
    /// when the URL is not understood or the server refuses.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, Migration::Refuse)
    }

    /// Opens the store as [`open`](Self::open) does; `migration` says what becomes of tables of an earlier format.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub fn open_with(url: &str, migration: Migration) -> Result<Self, StoreError> {
        let address = Arc::new(Address::parse(url)?);
        let mut link = ReconnectingClient::new(&address, &STATEMENTS);
        let prepared = Arc::clone(&address);
        let commits = Arc::<CommitCounters>::default();
        let counts = Arc::clone(&commits);
        let newer = Arc::new(watch::Sender::new(None));
        let told = Arc::clone(&newer);
        let thread = Thread::start(&address, async move |jobs, progress| {
            format::prepare(&prepared, migration).await.map_err(|fault| fault.at(&prepared, "opened"))?;
            link.connected().await?;
            Ok(PostgresWriter::new(link, jobs, counts, progress, told).run())
        })?;
        let readers = Readers::new(&address, thread.handle());
        let renewals = Renewals::new(&address, thread.handle());
        let changed = Arc::new(watch::Sender::new(()));
        let reconnected = Arc::new(watch::Sender::new(()));
        let shared = Arc::new(watch::Sender::new(()));
        let entries_changed = Arc::new(watch::Sender::new(()));
        let notices_changed = Arc::new(watch::Sender::new(()));
        let audience = Arc::<Audience>::default();
        // This is a guess: followers repeat their subscription before the time is over.
        audience.take(follow::ALL, address.lease);
        let tells = Tells {
            changed: Arc::clone(&changed),
            reconnected: Arc::clone(&reconnected),
            shared: Arc::clone(&shared),
            entries: Arc::clone(&entries_changed),
            notices: Arc::clone(&notices_changed),
            audience: Arc::clone(&audience),
        };
        let listening = listener::listen(Arc::clone(&address), tells);
        thread.handle().spawn(listening);
        Ok(Self {
            address,
            readers,
            renewals,
            thread,
            commits,
            changed,
            reconnected,
            shared,
            entries_changed,
            notices_changed,
            audience,
            newer,
            by_callers_clock: false,
        })
    }

    /// For tests: leases go by the times that the callers give.
    #[cfg(test)]
    pub(super) fn by_callers_clock(self) -> Self {
        Self { by_callers_clock: true, ..self }
    }

    fn callers_clock(&self, now: Timestamp) -> Parameter {
        Box::new(self.by_callers_clock.then_some(now.0))
    }

    /// Notifies the followers of all runs, once for all writes until then.
    fn tell_of_rows(&self) {
        if !self.audience.wants_all() {
            return;
        }
        let (address, audience) = (Arc::clone(&self.address), Arc::clone(&self.audience));
        let Some(queue) = self.thread.queue() else { return };
        self.thread.handle().spawn(async move {
            tokio::time::sleep(follow::AT_ONCE).await;
            audience.tells();
            let said: Vec<Parameter> =
                vec![Box::new(follow::written(&address.schema)), Box::new(follow::ALL.to_owned())];
            let (call, _answered) = Statement::new(&address, TELL, said, |_| Ok(()));
            // A store that is closed meanwhile has written its last.
            if let Some(queue) = queue.upgrade() {
                drop(queue.send(WriteJob::Statement(call)));
            }
        });
    }

    fn ask<T: Send + 'static>(
        &self,
        sql: &'static str,
        parameters: Vec<Parameter>,
        read: impl FnOnce(&[Row]) -> Result<T, PostgresError> + Send + Sync + 'static,
    ) -> Pending<T> {
        let (call, answered) = Statement::new(&self.address, sql, parameters, read);
        self.thread.send(WriteJob::Statement(call));
        answered
    }
}

impl HasReader for Postgres {
    fn reader(&self) -> &dyn ReadStore {
        &self.readers
    }
}

impl Store for Postgres {
    fn keep_tenants(&self, tenants: Arc<str>) -> Pending<()> {
        self.ask(KEEP_TENANTS, vec![Box::new(tenants.to_string())], |_| Ok(()))
    }

    fn rows_changed(&self) -> watch::Receiver<()> {
        self.readers.follow(follow::ALL)
    }

    fn until_gone(&self) -> Pending<()> {
        let mut told = self.newer.subscribe();
        Pending::new(async move {
            let newer = told.wait_for(Option::is_some).await.ok().and_then(|newer| newer.clone());
            newer.map_or(Err(StoreError::Stopped), Err)
        })
    }

    fn give_back(&self) -> Pending<bool> {
        self.ask(SWEEP, Vec::new(), |_| Ok(false))
    }

    fn written(&self) -> Option<CommitCounts> {
        Some(self.commits.get())
    }
}

fn one<'a, T>(
    rows: &'a [Row],
    read: impl FnOnce(&'a Row) -> Result<T, PostgresError>,
) -> Result<T, PostgresError> {
    read(rows.first().ok_or_else(|| PostgresError::Damaged("a function returned nothing".into()))?)
}

fn run_id(lease: &Lease) -> Parameter {
    Box::new(lease.head.run_id.to_string())
}

/// Reads the result of an operation that only the holder of a lease may do.
fn leased(rows: &[Row], lease: &Lease) -> Result<(), PostgresError> {
    match one(rows, |row| get(row, "verdict"))? {
        "fenced" => Err(lease.lost().into()),
        "none" => Err(StoreError::NotFound { run_id: Arc::clone(&lease.head.run_id) }.into()),
        _ => Ok(()),
    }
}
