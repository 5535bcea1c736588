//! Runs in a PostgreSQL database, which several hosts may share.
//!
//! ```text
//!  append, claim … ──▶ queue ──▶ one transaction, one round trip: begin, all queued requests, commit ──▶ all their answers
//!  load …          ──▶ two connections for reading, each as of the last commit
//!  changes of others ──▶ one connection that listens
//! ```
//!
//! A function of the database judges each request by itself: a refused request does not affect the others of its transaction.
//! A lost connection is made anew. The result of requests that were under way then is unknown, as the server's answer is lost.

mod address;
pub(super) mod append;
pub(super) mod connection;
mod entries;
mod fault;
mod follow;
mod format;
mod listener;
mod notices;
mod offers;
pub(super) mod reader;
mod reconnect;
mod statement;
mod thread;
mod tls;
mod writer;

use std::{sync::Arc, time::Duration};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::{oneshot, watch};
use tokio_postgres::Row;

pub use self::reader::PostgresReader;
use self::{
    address::{Address, SCHEMES},
    append::{APPEND, AppendRequest},
    fault::{Parameter, PostgresError, count, get, saturated},
    follow::{Audience, Following, TELL},
    listener::Tells,
    reader::{Readers, head},
    reconnect::ReconnectingClient,
    statement::Statement,
    thread::Thread,
    writer::{PostgresWriter, WriteJob},
};
use super::{
    Answer, AttemptLog, CatalogEntry, Census, Change, Claim, ClaimRequest, DuePlace, Encode, EntryName,
    EntryQuery, ExchangeRequest, ExchangeResponse, Filter, HostId, Lease, Letter, MAX_LETTER_BYTES,
    MAX_WAITING_LETTERS, NewNotice, Note, NoticeRow, Notices, Pending, ReadStore, Record, Reply, RunRow,
    RunStatus, Settle, Store, StoreError, StoredBytes,
};
use crate::metrics::{CommitCounters, CommitCounts};

const CLAIM: &str = "SELECT * FROM claim_runs($1, $2, $3, $4, $5)";
const CLAIM_RUN: &str = "SELECT * FROM claim_run($1, $2, $3)";
const RELEASE: &str = "SELECT release_run($1, $2, $3) AS verdict";
const LEAVE: &str = "SELECT leave_run($1, $2, $3, $4, $5) AS verdict";
const KEEP_TENANTS: &str = "SELECT keep_tenants($1)";
const NOTE: &str = "SELECT note_run($1, $2, $3, $4) AS verdict";
const NEXT_DUE: &str = "SELECT next_due($1, $2, $3, $4) AS at";
const HEARTBEAT: &str = "SELECT heartbeat($1, $2, $3)";
const POST: &str = "SELECT * FROM post_letter($1, $2, $3)";
const MAIL: &str = "SELECT id, body FROM letters
    WHERE run = (SELECT number FROM runs WHERE run_id = $1) AND reply IS NULL ORDER BY id";
const MAILED: &str = "SELECT run_id FROM runs
    WHERE owner IS NOT DISTINCT FROM $1 AND number IN (SELECT run FROM letters WHERE reply IS NULL) ORDER BY run_id";
const OWNED: &str = "SELECT run_id FROM runs WHERE owner = $1 AND open";
const REPLY: &str = "SELECT reply_letters($1, $2, $3, $4) AS verdict";
const KEEP_LOG: &str = "SELECT keep_log($1, $2, $3, $4, $5, $6, $7) AS verdict";
const ABANDON: &str = "SELECT abandon_run($1, $2, $3, $4, $5, $6, $7, $8) AS verdict";
const DELETE: &str = "SELECT delete_run($1) AS verdict";
const STATEMENTS: [&str; 20] = [
    APPEND,
    entries::CHANGE,
    entries::FIRE,
    entries::REMOVE,
    CLAIM,
    CLAIM_RUN,
    RELEASE,
    NEXT_DUE,
    HEARTBEAT,
    POST,
    MAIL,
    MAILED,
    OWNED,
    REPLY,
    KEEP_LOG,
    ABANDON,
    DELETE,
    TELL,
    offers::SHARE,
    notices::SETTLE,
];

/// A store in a database. Dropping it waits until all that was queued is durable, or has failed.
pub struct Postgres {
    address: Arc<Address>,
    readers: Readers,
    thread: Thread<WriteJob>,
    commits: Arc<CommitCounters>,
    changed: Arc<watch::Sender<()>>,
    shared: Arc<watch::Sender<()>>,
    entries_changed: Arc<watch::Sender<()>>,
    notices_changed: Arc<watch::Sender<()>>,
    following: Arc<Following>,
    /// Which runs others follow.
    audience: Arc<Audience>,
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

    /// Opens the store at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    ///
    /// Without a password in it that of `PGPASSWORD` is taken. Options behind a `?`: `sslmode` (`disable`, `prefer`, `require`, `verify-ca`, `verify-full`) and `sslrootcert` (a file of
    /// certificates) as PostgreSQL's own clients know them, `schema` for the namespace of the tables (`phasm`), `lease` for the
    /// seconds after which a host that is silent is taken for gone (15).
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Foreign`], [`StoreError::Newer`], or [`StoreError::Io`] as when the URL is not
    /// understood or the server refuses.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = Arc::new(Address::parse(url)?);
        let mut link = ReconnectingClient::new(&address, &STATEMENTS, true);
        let commits = Arc::<CommitCounters>::default();
        let counts = Arc::clone(&commits);
        let thread = Thread::start(&address, async move |jobs| {
            link.connected().await?;
            Ok(PostgresWriter::new(link, jobs, counts).run())
        })?;
        let readers = Readers::new(&address, thread.handle());
        let changed = Arc::new(watch::Sender::new(()));
        let shared = Arc::new(watch::Sender::new(()));
        let entries_changed = Arc::new(watch::Sender::new(()));
        let notices_changed = Arc::new(watch::Sender::new(()));
        let audience = Arc::<Audience>::default();
        // This is a guess: followers repeat their subscription before the time is over.
        audience.take(follow::ALL, address.lease);
        let tells = Tells {
            changed: Arc::clone(&changed),
            shared: Arc::clone(&shared),
            entries: Arc::clone(&entries_changed),
            notices: Arc::clone(&notices_changed),
            audience: Arc::clone(&audience),
        };
        let listening = listener::listen(Arc::clone(&address), tells);
        thread.handle().spawn(listening);
        let following = Arc::default();
        Ok(Self {
            address,
            readers,
            thread,
            commits,
            changed,
            shared,
            entries_changed,
            notices_changed,
            following,
            audience,
            by_callers_clock: false,
        })
    }

    /// For tests: leases go by the times that the callers give.
    #[cfg(test)]
    pub(super) fn by_callers_clock(self) -> Self {
        Self { by_callers_clock: true, ..self }
    }

    fn clock(&self, now: Timestamp) -> Parameter {
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

impl ReadStore for Postgres {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        self.readers.load_since(run_id, since)
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        self.readers.get(run_id)
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.readers.list(filter, limit)
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.readers.open_runs()
    }

    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.readers.census(now)
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        self.readers.namespaces()
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        self.readers.ended(namespace, phase, limit)
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        self.readers.tenants()
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        self.readers.stored(&namespaces)
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.readers.component(digest)
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        self.readers.answer(run_id, letter)
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        self.readers.logs(run_id, task)
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        self.readers.entry(name)
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.readers.entries(wanted)
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.readers.due_entries(after, limit)
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        self.readers.due_notices(endpoint, limit)
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        self.readers.endpoint_after(endpoint)
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        self.readers.notices(&wanted)
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.readers.text(digest)
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.following.follow(run_id, &self.address, self.thread.handle())
    }
}

impl Store for Postgres {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        let (answer, answered) = oneshot::channel();
        let run_id = &lease.head.run_id;
        self.thread.send(WriteJob::Append(AppendRequest {
            lease: lease.clone(),
            status,
            record,
            replies,
            answer,
        }));
        if self.audience.wants(run_id) {
            let said: Vec<Parameter> =
                vec![Box::new(follow::written(&self.address.schema)), Box::new(run_id.to_string())];
            // Said with the commit of the record, or of the next.
            drop(self.ask(TELL, said, |_| Ok(())));
        }
        self.tell_of_rows();
        later(answered)
    }

    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let parameters: Vec<Parameter> = vec![
            Box::new(wanted.host.to_string()),
            Box::new(wanted.now.0),
            self.clock(wanted.now),
            Box::new(i64::try_from(wanted.limit).unwrap_or(i64::MAX)),
            except(&wanted),
        ];
        self.ask(CLAIM, parameters, move |rows| rows.iter().map(|row| lease(row, &wanted.host)).collect())
    }

    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        let parameters: Vec<Parameter> =
            vec![Box::new(host.to_string()), Box::new(run_id.to_owned()), self.clock(now)];
        let (host, run_id) = (host.clone(), Arc::from(run_id));
        self.ask(CLAIM_RUN, parameters, move |rows| {
            let row = rows.first().ok_or(StoreError::NotFound { run_id })?;
            Ok(match get(row, "verdict")? {
                "closed" => Claim::Closed,
                "held" => Claim::Held(get::<&str>(row, "owner")?.into()),
                _ => Claim::Leased(lease(row, &host)?),
            })
        })
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> =
            vec![run_id(&lease), Box::new(saturated(lease.epoch)), Box::new(wake_at.map(|at| at.0))];
        self.ask(RELEASE, parameters, move |rows| leased(rows, &lease))
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(wake_at.map(|at| at.0)),
            Box::new(note.why.to_string()),
            Box::new(note.since.0),
        ];
        self.ask(LEAVE, parameters, move |rows| leased(rows, &lease))
    }

    fn keep_tenants(&self, tenants: Arc<str>) -> Pending<()> {
        self.ask(KEEP_TENANTS, vec![Box::new(tenants.to_string())], |_| Ok(()))
    }

    fn note(&self, lease: &Lease, note: Option<Note>) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(note.as_ref().map(|note| note.why.to_string())),
            Box::new(note.as_ref().map(|note| note.since.0)),
        ];
        self.ask(NOTE, parameters, move |rows| leased(rows, &lease))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        let parameters: Vec<Parameter> = vec![
            Box::new(wanted.host.to_string()),
            Box::new(wanted.now.0),
            self.clock(wanted.now),
            except(&wanted),
        ];
        self.ask(NEXT_DUE, parameters, |rows| {
            Ok(one(rows, |row| get::<Option<i64>>(row, "at"))?.map(Timestamp))
        })
    }

    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        let lease = i64::try_from(self.address.lease.as_millis()).unwrap_or(i64::MAX);
        let until = (self.by_callers_clock || until <= Timestamp(0)).then_some(until.0);
        let parameters: Vec<Parameter> = vec![Box::new(host.to_string()), Box::new(until), Box::new(lease)];
        self.ask(HEARTBEAT, parameters, |_| Ok(()))
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.address.lease)
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn rows_changed(&self) -> watch::Receiver<()> {
        self.follow(follow::ALL)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn share(&self, ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        let (parameters, now) = (offers::parameters(&ask, self.clock(ask.now)), ask.now);
        self.ask(offers::SHARE, parameters, move |rows| offers::shares(rows, now))
    }

    fn shared(&self) -> watch::Receiver<()> {
        self.shared.subscribe()
    }

    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        let named: Arc<str> = run_id.into();
        if body.len() > MAX_LETTER_BYTES {
            let (run_id, size) = (named, body.len());
            return refused(StoreError::TooLarge { run_id, size, limit: MAX_LETTER_BYTES });
        }
        let parameters: Vec<Parameter> = vec![
            Box::new(run_id.to_owned()),
            Box::new(body),
            Box::new(saturated(MAX_WAITING_LETTERS as u64)),
        ];
        self.ask(POST, parameters, move |rows| match one(rows, |row| get(row, "verdict"))? {
            "none" => Err(StoreError::NotFound { run_id: named }.into()),
            "closed" => Err(StoreError::Closed { run_id: named }.into()),
            "full" => Err(StoreError::MailboxFull { run_id: named, limit: MAX_WAITING_LETTERS }.into()),
            _ => one(rows, |row| count(row, "id")),
        })
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        let letter = |row: &Row| Ok(Letter { id: count(row, "id")?, body: get(row, "body")? });
        self.ask(MAIL, vec![run_id(lease)], move |rows| rows.iter().map(letter).collect())
    }

    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        let name = |row: &Row| Ok(get::<&str>(row, "run_id")?.into());
        let owner = Box::new(owner.map(|host| host.as_str().to_owned()));
        self.ask(MAILED, vec![owner], move |rows| rows.iter().map(name).collect())
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        let name = |row: &Row| Ok(get::<&str>(row, "run_id")?.into());
        self.ask(OWNED, vec![Box::new(host.to_string())], move |rows| rows.iter().map(name).collect())
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        let lease = lease.clone();
        let (letters, bodies): (Vec<_>, Vec<_>) =
            replies.iter().map(|reply| (saturated(reply.letter), reply.body.to_vec())).unzip();
        let parameters: Vec<Parameter> =
            vec![run_id(&lease), Box::new(saturated(lease.epoch)), Box::new(letters), Box::new(bodies)];
        self.ask(REPLY, parameters, move |rows| leased(rows, &lease))
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        let lease = lease.clone();
        let AttemptLog { task, attempt, dispatch, cut, text } = log;
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(i64::from(task)),
            Box::new(i64::from(attempt)),
            Box::new(i64::from(dispatch)),
            Box::new(saturated(cut)),
            Box::new(text),
        ];
        self.ask(KEEP_LOG, parameters, move |rows| leased(rows, &lease))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        let mut parameters: Vec<Parameter> = vec![
            run_id(lease),
            Box::new(saturated(lease.epoch)),
            Box::new(Phase::Error.as_str()),
            Box::new(at.0),
        ];
        parameters.extend(notices::alone(&notices));
        let lease = lease.clone();
        self.tell_of_rows();
        self.ask(ABANDON, parameters, move |rows| match one(rows, |row| get(row, "verdict"))? {
            "closed" => Err(StoreError::Closed { run_id: Arc::clone(&lease.head.run_id) }.into()),
            _ => leased(rows, &lease),
        })
    }

    fn settle(&self, settle: Settle) -> Pending<bool> {
        self.ask(notices::SETTLE, notices::settled(&settle), |rows| one(rows, |row| get(row, "settled")))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.notices_changed.subscribe()
    }

    fn change(&self, change: Change) -> Pending<u64> {
        self.ask(entries::CHANGE, entries::parameters(&change), move |rows| entries::changed(rows, &change))
    }

    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64> {
        let (answer, fired) = oneshot::channel();
        let lease = lease.clone();
        self.thread.send(WriteJob::Fire(Box::new(entries::FireRequest {
            lease,
            status,
            record,
            change,
            answer,
        })));
        self.tell_of_rows();
        later(fired)
    }

    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        self.ask(entries::REMOVE, entries::name(name), |rows| one(rows, |row| get(row, "removed")))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.entries_changed.subscribe()
    }

    fn written(&self) -> Option<CommitCounts> {
        Some(self.commits.get())
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        let named: Arc<str> = run_id.into();
        self.tell_of_rows();
        self.ask(DELETE, vec![Box::new(run_id.to_owned())], move |rows| {
            match one(rows, |row| get(row, "verdict"))? {
                "open" => Err(StoreError::StillOpen { run_id: named }.into()),
                verdict => Ok(verdict == "done"),
            }
        })
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

fn except(wanted: &ClaimRequest) -> Parameter {
    Box::new(wanted.except.iter().map(ToString::to_string).collect::<Vec<String>>())
}

fn lease(row: &Row, host: &HostId) -> Result<Lease, PostgresError> {
    Ok(Lease { head: Arc::new(head(row)?), host: host.clone(), epoch: count(row, "epoch")? })
}

/// Reads the result of an operation that only the holder of a lease may do.
fn leased(rows: &[Row], lease: &Lease) -> Result<(), PostgresError> {
    match one(rows, |row| get(row, "verdict"))? {
        "fenced" => Err(lease.lost().into()),
        "none" => Err(StoreError::NotFound { run_id: Arc::clone(&lease.head.run_id) }.into()),
        _ => Ok(()),
    }
}

fn refused<T: Send + 'static>(error: StoreError) -> Pending<T> {
    Box::pin(std::future::ready(Err(error)))
}

/// A thread that ends drops the answers it owes.
fn later<T: Send + 'static>(answered: oneshot::Receiver<Result<T, StoreError>>) -> Pending<T> {
    Box::pin(async move { answered.await.unwrap_or(Err(StoreError::Stopped)) })
}
