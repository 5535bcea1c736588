//! Write thread: queued jobs become one transaction and one round trip.

use std::{
    collections::HashSet,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Instant,
};

use tokio::{
    sync::{mpsc::UnboundedReceiver, watch},
    time::timeout,
};
use tokio_postgres::{Error, Row};

use super::{
    super::StoreError,
    append::{Append, AppendRequest, Chains},
    entries::{Fire, FireRequest},
    fault::{PostgresError, is_gone, is_passing},
    reconnect::{ReconnectingClient, Session},
    statement::Statement,
};
use crate::metrics::CommitCounters;

/// A transaction takes at most this many requests, so that the first of them does not wait long for the last.
const BATCH_REQUESTS: usize = 1024;
/// Nor does it begin another record after this many bytes.
const BATCH_BYTES: usize = 8 << 20;
/// How often a transaction is made again that others were in the way of.
const TRIES: usize = 8;
/// Documents that are remembered to be kept.
const MAX_KNOWN_DOCUMENTS: usize = 4096;

/// Queued jobs.
pub(super) enum WriteJob {
    Append(AppendRequest),
    Fire(Box<FireRequest>),
    Statement(Statement),
}

/// Statement to send.
enum Outgoing {
    Append(Chains),
    Fire(Fire),
    Statement(Statement),
}

impl Outgoing {
    async fn send(&self, connected: &Session, kept: &HashSet<Arc<str>>) -> Result<Vec<Row>, Error> {
        match self {
            Self::Append(chains) => chains.send(connected, kept).await,
            Self::Fire(firing) => firing.send(connected).await,
            Self::Statement(call) => call.send(connected).await,
        }
    }

    fn documents(&self) -> impl Iterator<Item = &Arc<str>> {
        let chains = match self {
            Self::Append(chains) => Some(chains),
            Self::Fire(_) | Self::Statement(_) => None,
        };
        chains.into_iter().flat_map(Chains::documents)
    }

    fn answer(self, rows: Vec<Row>, link: &ReconnectingClient) {
        match self {
            Self::Append(chains) => chains.answer(&rows, link.address()),
            Self::Fire(firing) => firing.answer(&rows, link.address()),
            Self::Statement(call) => call.answer(Ok(rows)),
        }
    }

    fn fail(self, error: &StoreError) {
        match self {
            Self::Append(chains) => {
                chains.into_appends().for_each(|append| append.answer(Err(error.clone())));
            }
            Self::Fire(firing) => firing.fail(error.clone()),
            Self::Statement(call) => call.answer(Err(error.clone())),
        }
    }

    /// Bytes of records that are sent.
    fn size(&self) -> usize {
        match self {
            Self::Append(chains) => chains.size(),
            Self::Fire(firing) => firing.size(),
            Self::Statement(_) => 0,
        }
    }

    /// Each by itself.
    fn apart(self) -> Vec<Self> {
        let alone = |append: Append| {
            let mut chains = Chains::default();
            chains.take(append).is_none().then_some(Self::Append(chains))
        };
        match self {
            Self::Append(chains) => chains.into_appends().filter_map(alone).collect(),
            alone @ (Self::Fire(_) | Self::Statement(_)) => vec![alone],
        }
    }
}

/// Works off a queue on a connection of its own.
pub(super) struct PostgresWriter {
    link: ReconnectingClient,
    queue: UnboundedReceiver<WriteJob>,
    /// Digests of documents that were kept; others may have deleted them since.
    kept: HashSet<Arc<str>>,
    commits: Arc<CommitCounters>,
    /// Number of transactions that the server has answered.
    progress: Arc<AtomicU64>,
    /// Told once the tables need a later version.
    newer: Arc<watch::Sender<Option<StoreError>>>,
}

impl PostgresWriter {
    pub(super) fn new(
        link: ReconnectingClient,
        queue: UnboundedReceiver<WriteJob>,
        commits: Arc<CommitCounters>,
        progress: Arc<AtomicU64>,
        newer: Arc<watch::Sender<Option<StoreError>>>,
    ) -> Self {
        Self { link, queue, kept: HashSet::new(), commits, progress, newer }
    }

    /// Writes until the queue is empty and has no senders.
    pub(super) async fn run(mut self) {
        while let Some(first) = self.queue.recv().await {
            let (requests, count, bytes) = self.gather(first);
            let began = Instant::now();
            match self.commit(requests).await {
                Ok(true) => self.commits.done(began, count, Some(bytes)),
                Ok(false) => self.commits.failed(),
                Err((requests, error)) => {
                    self.commits.failed();
                    self.commit_apart(requests, &error).await;
                }
            }
        }
    }

    /// The server refused one of them, and with it the others: which one is found by asking for each.
    async fn commit_apart(&mut self, requests: Vec<Outgoing>, error: &StoreError) {
        let mut apart: Vec<_> = requests.into_iter().flat_map(Outgoing::apart).collect();
        if apart.len() == 1 {
            return apart.drain(..).for_each(|request| request.fail(error));
        }
        for request in apart {
            if let Err((requests, error)) = self.commit(vec![request]).await {
                requests.into_iter().for_each(|request| request.fail(&error));
            }
        }
    }

    /// Collects queued jobs, in the order of the calls.
    fn gather(&mut self, first: WriteJob) -> (Vec<Outgoing>, usize, usize) {
        let (mut requests, mut count, mut bytes) = (Vec::new(), 0, 0);
        let mut next = Some(first);
        while let Some(job) = next {
            bytes += add(&mut requests, job);
            count += 1;
            let is_full = count >= BATCH_REQUESTS || bytes >= BATCH_BYTES;
            next = if is_full { None } else { self.queue.try_recv().ok() };
        }
        (requests, count, bytes)
    }

    /// Makes them durable and answers; false if that failed. Gives them back, unwritten, if the server did not take one of them.
    async fn commit(&mut self, requests: Vec<Outgoing>) -> Result<bool, (Vec<Outgoing>, StoreError)> {
        let bytes = requests.iter().map(Outgoing::size).sum();
        let failed = match self.transact(&requests, bytes).await {
            Ok(rows) => {
                requests.into_iter().zip(rows).for_each(|(request, rows)| request.answer(rows, &self.link));
                return Ok(true);
            }
            Err(PostgresError::Server(error)) if !is_gone(&error) => {
                let failed = PostgresError::Server(error).at(self.link.address(), "written");
                self.tell_newer(&failed);
                return Err((requests, failed));
            }
            Err(fault) => fault.at(self.link.address(), "written"),
        };
        self.tell_newer(&failed);
        requests.into_iter().for_each(|request| request.fail(&failed));
        Ok(false)
    }

    async fn transact(
        &mut self,
        requests: &[Outgoing],
        bytes: usize,
    ) -> Result<Vec<Vec<Row>>, PostgresError> {
        let mut tries = 0;
        loop {
            let connected = self.link.connected().await?;
            let patience = self.link.address().patience(bytes);
            let Ok(answered) = timeout(patience, transact(&connected, requests, &self.kept)).await else {
                self.link.forget(&connected);
                return Err(PostgresError::Mute(patience));
            };
            self.progress.fetch_add(1, Ordering::Relaxed);
            match answered {
                Err(error) if is_passing(&error) && tries < TRIES => {
                    tries += 1;
                    self.kept.clear();
                }
                Err(error) => {
                    if is_gone(&error) {
                        self.link.forget(&connected);
                    }
                    return Err(error.into());
                }
                Ok(rows) => {
                    self.remember(requests);
                    return Ok(rows);
                }
            }
        }
    }
}

impl PostgresWriter {
    fn tell_newer(&self, failed: &StoreError) {
        if matches!(failed, StoreError::Newer { .. }) {
            self.newer.send_replace(Some(failed.clone()));
        }
    }

    fn remember(&mut self, requests: &[Outgoing]) {
        if self.kept.len() > MAX_KNOWN_DOCUMENTS {
            self.kept.clear();
        }
        self.kept.extend(requests.iter().flat_map(Outgoing::documents).cloned());
    }
}

/// Adds a job behind the others; returns the bytes of its record.
fn add(requests: &mut Vec<Outgoing>, job: WriteJob) -> usize {
    let append = match job {
        WriteJob::Statement(call) => {
            requests.push(Outgoing::Statement(call));
            return 0;
        }
        WriteJob::Fire(fire) => {
            let Some(firing) = fire.encode() else { return 0 };
            let size = firing.size();
            requests.push(Outgoing::Fire(firing));
            return size;
        }
        WriteJob::Append(unencoded) => match unencoded.encode() {
            Some(append) => append,
            None => return 0,
        },
    };
    let size = append.size();
    let left = match requests.last_mut() {
        Some(Outgoing::Append(chains)) => chains.take(append),
        Some(Outgoing::Statement(_) | Outgoing::Fire(_)) | None => Some(append),
    };
    if let Some(append) = left {
        let mut chains = Chains::default();
        drop(chains.take(append));
        requests.push(Outgoing::Append(chains));
    }
    size
}

type QueryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// All of them or none, in one round trip. A statement by itself is a transaction.
async fn transact(
    connected: &Session,
    requests: &[Outgoing],
    kept: &HashSet<Arc<str>>,
) -> Result<Vec<Vec<Row>>, Error> {
    let ask = |request| Box::pin(Outgoing::send(request, connected, kept)) as QueryFuture<'_, _>;
    if let [request] = requests {
        return Ok(vec![ask(request).await?]);
    }
    let (mut begin, mut end) = (command(connected, "BEGIN"), command(connected, "COMMIT"));
    let mut all: Vec<_> = requests.iter().map(|request| (ask(request), None)).collect();
    let begun = start(&mut begin).await;
    for (asked, rows) in &mut all {
        *rows = start(asked).await;
    }
    let ended = start(&mut end).await;
    finish(begin, begun).await?;
    let mut found = Vec::with_capacity(all.len());
    let mut failed = None;
    for (asked, rows) in all {
        match finish(asked, rows).await {
            Ok(rows) => found.push(rows),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    finish(end, ended).await?;
    failed.map_or(Ok(found), Err)
}

fn command<'a>(connected: &'a Session, sql: &'static str) -> QueryFuture<'a, ()> {
    Box::pin(connected.client.batch_execute(sql))
}

/// Sends it, without waiting.
async fn start<T>(sent: &mut QueryFuture<'_, T>) -> Option<Result<T, Error>> {
    poll_fn(|cx| match sent.as_mut().poll(cx) {
        Poll::Ready(ready) => Poll::Ready(Some(ready)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

async fn finish<T>(sent: QueryFuture<'_, T>, ready: Option<Result<T, Error>>) -> Result<T, Error> {
    match ready {
        Some(ready) => ready,
        None => sent.await,
    }
}
