//! Writes of one transaction to the runs and their journals.

use std::{collections::BTreeMap, sync::Arc};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{
        Encode, Lease, RETAINED_ANSWERS, Record, Reply, RunHead, RunStatus, StoreError, checksum::checksum,
        migration::FORMAT,
    },
    documents,
    fault::Fault,
    format::MINIMUM_READER,
    heads::{JournalHead, JournalHeads},
    logs, outbox, rows,
    schema::MAX_RECORD_BYTES,
};

const JOURNAL_HEAD: &str =
    "SELECT number, seq, epoch, last_record, open, namespace FROM runs WHERE run_id = ?1";
/// No number is used twice, though the run that had it was deleted.
const NEXT_NUMBER: &str =
    "SELECT 1 + max(coalesce((SELECT max(number) FROM runs), 0), (SELECT highest FROM deleted_runs)),
        (SELECT coalesce(max(minimum), 0) FROM readers)";
const INSERT_RUN: &str = "
    INSERT INTO runs (number, run_id, workflow, namespace, priority, submitted_at, phase, open, seq, epoch, owner, key,
        document, labels, last_record, finished_at, rest, rests_until, remark, head_checksum, state_checksum, lease_checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
        row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?12, ?14, ?13), row_checksum(?1, ?9, ?15, ?7, ?16, ?8, ?17, ?18, ?19),
        row_checksum(?1, ?10, ?11, NULL, NULL, NULL))";
const LABEL: &str = "INSERT INTO labels (key, value, run) VALUES (?1, ?2, ?3)";
const OF_KEY: &str = "SELECT run_id FROM runs WHERE namespace = ?1 AND key = ?2";
const INSERT_RECORD: &str = "
    INSERT INTO journal (run, previous, first_seq, events, time, body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const ADVANCE: &str = "
    UPDATE runs SET seq = ?3, last_record = ?4, phase = ?5, finished_at = ?6, rest = ?8, rests_until = ?9, remark = ?12,
        state_checksum = row_checksum(?1, ?3, ?4, ?5, ?6, ?10, ?8, ?9, ?12)
    WHERE number = ?1 AND seq = ?2 AND epoch = ?7 AND (SELECT coalesce(max(minimum), 0) FROM readers) <= ?11";
/// `ADVANCE` with an update of the index, for a run that ends, or is open again.
const TURN: &str = "
    UPDATE runs SET seq = ?3, last_record = ?4, phase = ?5, finished_at = ?6, rest = ?8, rests_until = ?9, remark = ?12,
        open = ?10, owner = iif(?10, owner, NULL), wake_at = iif(?10, wake_at, NULL),
        state_checksum = row_checksum(?1, ?3, ?4, ?5, ?6, ?10, ?8, ?9, ?12),
        lease_checksum = row_checksum(?1, epoch, iif(?10, owner, NULL), iif(?10, wake_at, NULL), note, noted_at)
    WHERE number = ?1 AND seq = ?2 AND epoch = ?7 AND (SELECT coalesce(max(minimum), 0) FROM readers) <= ?11";
const GROW: &str = "
    INSERT INTO stored (namespace, bytes) VALUES (?1, ?2) ON CONFLICT (namespace) DO UPDATE SET bytes = bytes + excluded.bytes";
/// A namespace whose last run was deleted.
const FORGET: &str = "DELETE FROM stored WHERE namespace = ?1 AND bytes = 0";
/// The letters to a run that has ended are answered by nothing at all.
pub(super) const END_MAIL: &str = "UPDATE letters SET reply = x'', checksum = row_checksum(run, body, x'') WHERE run = ?1 AND reply IS NULL";
const REPLY: &str = "UPDATE letters SET reply = ?3, checksum = row_checksum(run, body, ?3) WHERE run = ?1 AND id = ?2 AND reply IS NULL";
const FORGET_REPLIES: &str = "
    DELETE FROM letters WHERE run = ?1 AND reply IS NOT NULL AND id <= (
        SELECT id FROM letters WHERE run = ?1 AND reply IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)";

pub(super) const STATEMENTS: [&str; 12] = [
    JOURNAL_HEAD,
    NEXT_NUMBER,
    INSERT_RUN,
    OF_KEY,
    INSERT_RECORD,
    LABEL,
    ADVANCE,
    TURN,
    GROW,
    END_MAIL,
    REPLY,
    FORGET_REPLIES,
];

/// A transaction being filled.
pub(super) struct WriteTransaction<'a> {
    pub(super) connection: &'a Connection,
    pub(super) heads: &'a mut JournalHeads,
    buffer: &'a mut Vec<u8>,
    /// How much more is kept of each namespace.
    grown: BTreeMap<Arc<str>, i64>,
}

impl<'a> WriteTransaction<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        heads: &'a mut JournalHeads,
        buffer: &'a mut Vec<u8>,
    ) -> Self {
        Self { connection, heads, buffer, grown: BTreeMap::new() }
    }

    /// Adds up what has been written; to be called before the commit.
    pub(super) fn finish(self) -> Result<(), Fault> {
        let mut grow = self.connection.prepare_cached(GROW)?;
        let mut forget = self.connection.prepare_cached(FORGET)?;
        for (namespace, more) in self.grown {
            grow.execute(params![namespace, more])?;
            if more < 0 {
                forget.execute([namespace])?;
            }
        }
        Ok(())
    }

    /// Adds to the stored bytes of a namespace, or subtracts.
    pub(super) fn grow(&mut self, namespace: &Arc<str>, more: i64) {
        match self.grown.get_mut(namespace) {
            Some(grown) => *grown += more,
            None => drop(self.grown.insert(Arc::clone(namespace), more)),
        }
    }

    /// Fails once the file needs a later format than this version knows.
    pub(super) fn check_format(&self) -> Result<(), Fault> {
        check_format(self.connection)
    }

    /// Writes one record and where its run now stands, and returns the size of the body.
    pub(super) fn append(
        &mut self,
        lease: &Lease,
        status: RunStatus,
        record: &Record<Arc<dyn Encode>>,
        replies: &[Reply],
    ) -> Result<usize, Fault> {
        let run_id = &lease.head.run_id;
        let journal_head = self.journal_head(run_id)?;
        if journal_head.as_ref().is_some_and(|journal_head| journal_head.epoch != lease.epoch) {
            return Err(lease.lost().into());
        }
        record.check_follows(run_id, journal_head.as_ref().map_or(0, |journal_head| journal_head.seq))?;
        self.encode(run_id, &*record.body)?;
        let (journal_head, id) = match journal_head {
            Some(journal_head) => {
                let id = self.insert_record(journal_head.run, journal_head.last_record, record)?;
                self.advance(&journal_head, status, record, id)?;
                (journal_head, id)
            }
            None => self.begin(lease, status, record)?,
        };
        let grown = logs::add(self.connection, journal_head.run, &record.logs)?;
        self.grow(&journal_head.namespace, self.size() + grown);
        self.reply(journal_head.run, replies)?;
        let told = outbox::add(self.connection, run_id, &record.notices)?;
        if !status.open {
            self.connection.prepare_cached(END_MAIL)?.execute([journal_head.run])?;
        }
        let journal_head =
            JournalHead { seq: record.next_seq(), last_record: Some(id), open: status.open, ..journal_head };
        self.heads.set(run_id, journal_head);
        let logged = record.logs.iter().map(|log| log.text.len()).sum::<usize>();
        Ok(self.buffer.len() + told + logged)
    }

    /// The end of a run's journal, if the lease still holds.
    pub(super) fn leased(&self, lease: &Lease) -> Result<JournalHead, Fault> {
        let run_id = &lease.head.run_id;
        let journal_head =
            self.journal_head(run_id)?.ok_or_else(|| StoreError::NotFound { run_id: Arc::clone(run_id) })?;
        if journal_head.epoch == lease.epoch { Ok(journal_head) } else { Err(lease.lost().into()) }
    }

    pub(super) fn journal_head(&self, run_id: &str) -> Result<Option<JournalHead>, Fault> {
        if let Some(journal_head) = self.heads.get(run_id) {
            return Ok(Some(journal_head));
        }
        let mut statement = self.connection.prepare_cached(JOURNAL_HEAD)?;
        let found = statement.query_one([run_id], |row| {
            Ok(JournalHead {
                run: row.get(0)?,
                seq: row.get(1)?,
                epoch: row.get(2)?,
                last_record: row.get(3)?,
                open: row.get(4)?,
                namespace: rows::lossy(row, 5).into(),
            })
        });
        found.optional().map_err(|error| match error.sqlite_error_code() {
            Some(_) => error.into(),
            // A number that no run has.
            None => Fault::bad_row(&format!("the row of run {run_id}")),
        })
    }

    fn encode(&mut self, run_id: &Arc<str>, body: &dyn Encode) -> Result<(), StoreError> {
        self.buffer.clear();
        body.encode(self.buffer);
        let size = self.buffer.len();
        if size > MAX_RECORD_BYTES {
            return Err(StoreError::TooLarge { run_id: Arc::clone(run_id), size, limit: MAX_RECORD_BYTES });
        }
        Ok(())
    }

    /// Bytes of the record that was encoded last.
    fn size(&self) -> i64 {
        i64::try_from(self.buffer.len()).unwrap_or(i64::MAX)
    }

    /// A new run, with its first record; the run as it was before that.
    fn begin(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: &Record<Arc<dyn Encode>>,
    ) -> Result<(JournalHead, i64), Fault> {
        let Lease { head, host, epoch } = lease;
        if let Some(key) = &head.key {
            let mut of_key = self.connection.prepare_cached(OF_KEY)?;
            let found: Option<Arc<str>> =
                of_key.query_one(params![head.namespace, key], |row| row.get(0)).optional()?;
            if let Some(run_id) = found {
                return Err(StoreError::Exists { run_id }.into());
            }
        }
        let keep = |document| documents::keep(self.connection, &head.run_id, document);
        let document = record.document.as_deref().map(keep).transpose()?;
        rows::add_owner(self.connection, host)?;
        let mut next = self.connection.prepare_cached(NEXT_NUMBER)?;
        let (run, minimum) = next.query_one([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        within(minimum)?;
        let id = self.insert_record(run, None, record)?;
        self.insert_run(run, id, document, lease, status, record)?;
        for (name, value) in &head.labels {
            self.connection.prepare_cached(LABEL)?.execute(params![name, value, run])?;
        }
        let (namespace, epoch) = (Arc::clone(&head.namespace), *epoch);
        Ok((JournalHead { run, namespace, seq: 0, epoch, last_record: None, open: status.open }, id))
    }

    fn insert_run<B>(
        &self,
        run: i64,
        last_record: i64,
        document: Option<i64>,
        Lease { head, host, epoch }: &Lease,
        status: RunStatus,
        record: &Record<B>,
    ) -> Result<(), Fault> {
        let RunHead { run_id, workflow, namespace, priority, submitted_at, key, labels } = &**head;
        let labelled = (!labels.is_empty()).then(|| serde_json::to_string(labels).unwrap_or_default());
        self.connection.prepare_cached(INSERT_RUN)?.execute(params![
            run,
            run_id,
            workflow,
            namespace,
            priority,
            submitted_at.0,
            status.phase.as_str(),
            status.open,
            record.next_seq(),
            epoch,
            status.open.then_some(host.as_str()),
            key,
            document,
            labelled,
            last_record,
            status.finished_at.map(|time| time.0),
            status.rest.map(|rest| rest.parked),
            status.rest.and_then(|rest| rest.until).map(|at| at.0),
            record.remark,
        ])?;
        Ok(())
    }

    fn insert_record<B>(&self, run: i64, previous: Option<i64>, record: &Record<B>) -> Result<i64, Fault> {
        let Record { first_seq, events, time, .. } = record;
        let body = &**self.buffer;
        let checksum = checksum(run, *first_seq, events.get(), *time, body);
        let mut statement = self.connection.prepare_cached(INSERT_RECORD)?;
        Ok(statement.insert(params![run, previous, first_seq, events, time.0, body, checksum])?)
    }

    fn advance<B>(
        &self,
        journal_head: &JournalHead,
        status: RunStatus,
        record: &Record<B>,
        last_record: i64,
    ) -> Result<(), Fault> {
        let (phase, finished_at) = (status.phase.as_str(), status.finished_at.map(|time| time.0));
        let parked = status.rest.map(|rest| rest.parked);
        let until = status.rest.and_then(|rest| rest.until).map(|at| at.0);
        let values = params![
            journal_head.run,
            journal_head.seq,
            record.next_seq(),
            last_record,
            phase,
            finished_at,
            journal_head.epoch,
            parked,
            until,
            status.open,
            FORMAT,
            record.remark
        ];
        let statement = if status.open == journal_head.open { ADVANCE } else { TURN };
        let changed = self.connection.prepare_cached(statement)?.execute(values)?;
        if changed != 1 {
            self.check_format()?;
            return Err(Fault::Damaged(format!("run number {} was changed from outside", journal_head.run)));
        }
        Ok(())
    }

    pub(super) fn reply(&self, run: i64, replies: &[Reply]) -> Result<(), Fault> {
        if replies.is_empty() {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(REPLY)?;
        for Reply { letter, body } in replies {
            statement.execute(params![run, letter, &**body])?;
        }
        self.connection.prepare_cached(FORGET_REPLIES)?.execute(params![run, RETAINED_ANSWERS])?;
        Ok(())
    }
}

/// Fails once the file needs a later format than this version knows.
pub(super) fn check_format(connection: &Connection) -> Result<(), Fault> {
    within(connection.prepare_cached(MINIMUM_READER)?.query_one([], |row| row.get(0))?)
}

fn within(minimum: i64) -> Result<(), Fault> {
    if minimum <= FORMAT { Ok(()) } else { Err(Fault::Newer(minimum)) }
}
