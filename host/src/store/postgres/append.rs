//! Records of many runs in one statement.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tokio::sync::oneshot;
use tokio_postgres::{Error, Row, types::ToSql};

use super::{
    super::{AttemptLog, Document, Encode, Lease, Record, Reply, RunStatus, StoreError, checksum::checksum},
    address::Address,
    fault::{PostgresError, count, get, saturated},
    outbox::NoticeColumns,
    reconnect::Session,
};

/// The largest record: well below what a value may have (10^9), far above what a step writes.
pub(super) const MAX_RECORD_BYTES: usize = 256 << 20;

pub(super) const APPEND: &str = "SELECT * FROM append_records($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
    $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, \
    $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43)";

/// One record on its way.
pub(super) struct Append {
    lease: Lease,
    status: RunStatus,
    record: Record<Vec<u8>>,
    replies: Vec<Reply>,
    answer: oneshot::Sender<Result<(), StoreError>>,
}

/// One that is not yet encoded.
pub(super) struct AppendRequest {
    pub(super) lease: Lease,
    pub(super) status: RunStatus,
    pub(super) record: Record<Arc<dyn Encode>>,
    pub(super) replies: Vec<Reply>,
    pub(super) answer: oneshot::Sender<Result<(), StoreError>>,
}

impl AppendRequest {
    /// Encodes it; one that is too large is refused.
    pub(super) fn encode(self) -> Option<Append> {
        let Self { lease, status, record, replies, answer } = self;
        match encoded(&lease, record) {
            Ok(record) => Some(Append { lease, status, record, replies, answer }),
            Err(refused) => {
                drop(answer.send(Err(refused)));
                None
            }
        }
    }
}

/// # Errors
/// [`StoreError::TooLarge`].
pub(super) fn encoded(lease: &Lease, record: Record<Arc<dyn Encode>>) -> Result<Record<Vec<u8>>, StoreError> {
    let mut body = Vec::new();
    record.body.encode(&mut body);
    let document = record.document.iter().flat_map(|document| {
        document.components.iter().map(|component| component.bytes.len()).chain([document.bytes.len()])
    });
    if let Some(size) = document.chain([body.len()]).find(|size| *size > MAX_RECORD_BYTES) {
        let run_id = Arc::clone(&lease.head.run_id);
        return Err(StoreError::TooLarge { run_id, size, limit: MAX_RECORD_BYTES });
    }
    let Record { first_seq, events, time, body: _, document, notices, logs, remark } = record;
    Ok(Record { first_seq, events, time, body, document, notices, logs, remark })
}

impl Append {
    /// Returns a record whose result has no waiter of its own.
    pub(super) fn alone(lease: Lease, status: RunStatus, record: Record<Vec<u8>>) -> Self {
        let (answer, _) = oneshot::channel();
        Self { lease, status, record, replies: Vec::new(), answer }
    }

    pub(super) fn size(&self) -> usize {
        self.record.body.len() + self.record.logs.iter().map(|log| log.text.len()).sum::<usize>()
    }

    /// Whether it goes on where `before` ends, so that both are taken or refused together.
    fn follows(&self, before: &Self) -> bool {
        before.status.open
            && self.lease.epoch == before.lease.epoch
            && self.record.first_seq == before.record.next_seq()
    }

    /// Returns the document of a run that this record creates.
    fn new_document(&self) -> Option<&Document> {
        self.record.document.as_deref().filter(|_| self.record.first_seq == 0)
    }

    pub(super) fn answer(self, answer: Result<(), StoreError>) {
        drop(self.answer.send(answer));
    }
}

/// Records of which those of one run follow each other: its chain.
#[derive(Default)]
pub(super) struct Chains {
    /// In the order of the first records.
    chains: Vec<Vec<Append>>,
    by_run: HashMap<Arc<str>, usize>,
}

impl Chains {
    /// One record.
    pub(super) fn of(append: Append) -> Self {
        Self { chains: vec![vec![append]], by_run: HashMap::new() }
    }

    /// Bytes of the records, and of documents and components that may be sent with them.
    pub(super) fn size(&self) -> usize {
        let components = |document: &Document| -> usize {
            document.bytes.len() + document.components.iter().map(|one| one.bytes.len()).sum::<usize>()
        };
        let size = |append: &Append| append.size() + append.new_document().map_or(0, components);
        self.chains.iter().flatten().map(size).sum()
    }

    /// Returns the columns to send.
    pub(super) fn columns(&self, kept: &HashSet<Arc<str>>) -> Columns<'_> {
        Columns::of(&self.chains, kept)
    }

    /// Why the only record was refused, by the row that says so.
    pub(super) fn refused(&self, row: &Row) -> Result<StoreError, PostgresError> {
        let append = self.only().ok_or_else(|| PostgresError::Damaged("nothing was refused".into()))?;
        Ok(Verdict::read(row)?.of(append))
    }

    /// Takes a record; it is given back if it does not follow what its run has in here.
    pub(super) fn take(&mut self, append: Append) -> Option<Append> {
        let run_id = &append.lease.head.run_id;
        let chain = self.by_run.get(run_id).and_then(|chain| self.chains.get_mut(*chain));
        match chain {
            Some(chain) if chain.last().is_some_and(|last| append.follows(last)) => chain.push(append),
            Some(_) => return Some(append),
            None => {
                self.by_run.insert(Arc::clone(run_id), self.chains.len());
                self.chains.push(vec![append]);
            }
        }
        None
    }

    pub(super) fn into_appends(self) -> impl Iterator<Item = Append> {
        self.chains.into_iter().flatten()
    }

    /// Returns the only record, if there is only one.
    fn only(&self) -> Option<&Append> {
        let [chain] = &*self.chains else { return None };
        let [append] = &**chain else { return None };
        Some(append)
    }

    /// Sends them, without the bytes of documents that are known to be kept.
    pub(super) async fn send(
        &self,
        connected: &Session,
        kept: &HashSet<Arc<str>>,
    ) -> Result<Vec<Row>, Error> {
        let columns = self.columns(kept);
        connected.query(APPEND, &columns.parameters()).await
    }

    /// The documents that their runs speak of.
    pub(super) fn documents(&self) -> impl Iterator<Item = &Arc<str>> {
        let firsts = self.chains.iter().filter_map(|chain| chain.first()).filter_map(Append::new_document);
        firsts.map(|document| &document.digest)
    }

    /// Says what came of each, by the rows of those that were refused.
    pub(super) fn answer(self, rows: &[Row], address: &Address) {
        let refused: Result<HashMap<u64, Verdict>, PostgresError> =
            rows.iter().map(|row| Ok((count(row, "chain")?, Verdict::read(row)?))).collect();
        let refused = refused.map_err(|fault| fault.at(address, "written"));
        for (number, chain) in (1..).zip(self.chains) {
            for append in chain {
                let answer = match &refused {
                    Ok(refused) => refused.get(&number).map_or(Ok(()), |verdict| Err(verdict.of(&append))),
                    Err(error) => Err(error.clone()),
                };
                append.answer(answer);
            }
        }
    }
}

/// Reason why a chain was refused.
struct Verdict {
    /// The epoch and the number of events of the run, if it exists.
    run: Option<(u64, u64)>,
    /// The run that has the key of this one.
    holder: Option<Arc<str>>,
}

impl Verdict {
    fn read(row: &Row) -> Result<Self, PostgresError> {
        let exists = get::<Option<i64>>(row, "epoch")?.is_some();
        let run = if exists { Some((count(row, "epoch")?, count(row, "seq")?)) } else { None };
        Ok(Self { run, holder: get::<Option<&str>>(row, "holder")?.map(Arc::from) })
    }

    fn of(&self, append: &Append) -> StoreError {
        let (lease, expected) = (&append.lease, append.record.first_seq);
        let run_id = Arc::clone(&lease.head.run_id);
        match (self.run, &self.holder) {
            (Some((epoch, _)), _) if epoch != lease.epoch => lease.lost(),
            (Some((_, found)), _) => StoreError::Conflict { run_id, expected, found },
            (None, Some(holder)) if expected == 0 => StoreError::Exists { run_id: Arc::clone(holder) },
            (None, _) => StoreError::Conflict { run_id, expected, found: 0 },
        }
    }
}

/// Columns to send.
#[derive(Default)]
pub(super) struct Columns<'a> {
    run_id: Vec<&'a str>,
    epoch: Vec<i64>,
    first: Vec<i64>,
    next: Vec<i64>,
    phase: Vec<&'a str>,
    finished: Vec<Option<i64>>,
    open: Vec<bool>,
    rest: Vec<Option<bool>>,
    until: Vec<Option<i64>>,
    remark: Vec<Option<&'a str>>,
    /// Heads of new runs; empty for the others.
    heads: Heads<'a>,
    record_chain: Vec<i64>,
    record_first: Vec<i64>,
    events: Vec<i64>,
    time: Vec<i64>,
    body: Vec<&'a [u8]>,
    checksum: Vec<i64>,
    reply_chain: Vec<i64>,
    letter: Vec<i64>,
    reply: Vec<&'a [u8]>,
    documents: DocumentColumns<'a>,
    notices: NoticeColumns<'a>,
    logs: LogColumns<'a>,
}

/// Logs of attempts that the records end.
#[derive(Default)]
struct LogColumns<'a> {
    chain: Vec<i64>,
    task: Vec<i64>,
    attempt: Vec<i64>,
    dispatch: Vec<i64>,
    cut: Vec<i64>,
    text: Vec<&'a [u8]>,
}

impl<'a> LogColumns<'a> {
    fn add(&mut self, chain: i64, logs: &'a [AttemptLog]) {
        for AttemptLog { task, attempt, dispatch, cut, text, damaged: _ } in logs {
            self.chain.push(chain);
            self.task.push((*task).into());
            self.attempt.push((*attempt).into());
            self.dispatch.push((*dispatch).into());
            self.cut.push(saturated(*cut));
            self.text.push(text);
        }
    }
}

/// Documents of new runs, each once.
#[derive(Default)]
struct DocumentColumns<'a> {
    digest: Vec<&'a str>,
    bytes: Vec<Option<&'a [u8]>>,
    needing: Vec<&'a str>,
    component: Vec<&'a str>,
    component_bytes: Vec<&'a [u8]>,
}

impl<'a> DocumentColumns<'a> {
    fn add(&mut self, document: &'a Document, kept: &HashSet<Arc<str>>) {
        if self.digest.contains(&&*document.digest) {
            return;
        }
        let is_kept = kept.contains(&document.digest);
        self.digest.push(&document.digest);
        self.bytes.push((!is_kept).then_some(&*document.bytes));
        for component in document.components.iter().filter(|_| !is_kept) {
            self.needing.push(&document.digest);
            self.component.push(&component.digest);
            self.component_bytes.push(&component.bytes);
        }
    }
}

#[derive(Default)]
struct Heads<'a> {
    host: Vec<Option<&'a str>>,
    workflow: Vec<Option<&'a str>>,
    namespace: Vec<Option<&'a str>>,
    priority: Vec<Option<i64>>,
    submitted: Vec<Option<i64>>,
    key: Vec<Option<&'a str>>,
    document: Vec<Option<&'a str>>,
    labels: Vec<Option<String>>,
}

impl<'a> Columns<'a> {
    fn of(chains: &'a [Vec<Append>], kept: &HashSet<Arc<str>>) -> Self {
        let mut columns = Self::default();
        for (number, chain) in (1..).zip(chains) {
            if let (Some(first), Some(last)) = (chain.first(), chain.last()) {
                columns.add_chain(first, last);
                first.new_document().into_iter().for_each(|document| columns.documents.add(document, kept));
            }
            chain.iter().for_each(|append| columns.add_record(number, append));
        }
        columns
    }

    fn add_chain(&mut self, first: &'a Append, last: &'a Append) {
        let Lease { head, host, epoch } = &first.lease;
        self.run_id.push(&head.run_id);
        self.epoch.push(saturated(*epoch));
        self.first.push(saturated(first.record.first_seq));
        self.next.push(saturated(last.record.next_seq()));
        self.phase.push(last.status.phase.as_str());
        self.finished.push(last.status.finished_at.map(|at| at.0));
        self.open.push(last.status.open);
        self.rest.push(last.status.rest.map(|rest| rest.parked));
        self.until.push(last.status.rest.and_then(|rest| rest.until).map(|at| at.0));
        self.remark.push(last.record.remark.as_deref());
        let is_new = first.record.first_seq == 0;
        self.heads.host.push(is_new.then(|| host.as_str()));
        self.heads.workflow.push(is_new.then_some(&*head.workflow));
        self.heads.namespace.push(is_new.then_some(&*head.namespace));
        self.heads.priority.push(is_new.then_some(head.priority.into()));
        self.heads.submitted.push(is_new.then_some(head.submitted_at.0));
        self.heads.key.push(head.key.as_deref().filter(|_| is_new));
        self.heads.document.push(first.new_document().map(|document| &*document.digest));
        let labels = is_new && !head.labels.is_empty();
        self.heads.labels.push(labels.then(|| serde_json::to_string(&head.labels).unwrap_or_default()));
    }

    fn add_record(&mut self, chain: i64, append: &'a Append) {
        let Record { first_seq, events, time, body, document: _, notices, logs, remark: _ } = &append.record;
        self.notices.add(chain, notices);
        self.logs.add(chain, logs);
        self.record_chain.push(chain);
        self.record_first.push(saturated(*first_seq));
        self.events.push(events.get().into());
        self.time.push(time.0);
        self.body.push(body);
        self.checksum.push(checksum(place(&append.lease.head.run_id), *first_seq, events.get(), *time, body));
        for Reply { letter, body } in &append.replies {
            self.reply_chain.push(chain);
            self.letter.push(saturated(*letter));
            self.reply.push(body);
        }
    }

    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 43] {
        let Heads { host, workflow, namespace, priority, submitted, key, document, labels } = &self.heads;
        let NoticeColumns { chain, seq, endpoint, due, body: notice_body } = &self.notices;
        let LogColumns { chain: log_chain, task, attempt, dispatch, cut, text } = &self.logs;
        let DocumentColumns { digest, bytes, needing, component, component_bytes } = &self.documents;
        [
            &self.run_id,
            &self.epoch,
            &self.first,
            &self.next,
            &self.phase,
            &self.finished,
            &self.open,
            host,
            workflow,
            namespace,
            priority,
            submitted,
            key,
            document,
            labels,
            &self.rest,
            &self.until,
            &self.remark,
            &self.record_chain,
            &self.record_first,
            &self.events,
            &self.time,
            &self.body,
            &self.checksum,
            &self.reply_chain,
            &self.letter,
            &self.reply,
            digest,
            bytes,
            needing,
            component,
            component_bytes,
            chain,
            seq,
            endpoint,
            due,
            notice_body,
            log_chain,
            task,
            attempt,
            dispatch,
            cut,
            text,
        ]
    }
}

/// Returns the number that stands for a run in checksums: the real one is known to the server alone.
pub(super) fn place(run_id: &str) -> i64 {
    xxhash_rust::xxh3::xxh3_64(run_id.as_bytes()).cast_signed()
}
