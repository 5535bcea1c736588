//! Runs in memory, and their indexes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    mem,
    sync::Arc,
};

use phasm_engine::{phase::Phase, time::Timestamp};

use super::{
    super::{
        Answer, AttemptLog, Change, Claim, ClaimRequest, Encode, ExchangeRequest, ExchangeResponse, HostId,
        JournalPart, Lease, Letter, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, NewNotice, Note, RETAINED_ANSWERS,
        Record, Reply, RunRow, RunStatus, Settle, StoreError,
    },
    catalog::CatalogTable,
    documents::Documents,
    exchange::Offers,
    outbox::NoticeTable,
};

/// Highest priority first, then in the order of submission.
pub(super) type Urgency = (Reverse<u16>, u64);

/// Runs by when they are due, the most urgent first.
pub(super) type Due = BTreeSet<(Timestamp, Urgency, Arc<str>)>;

pub(super) fn urgency(row: &RunRow) -> Urgency {
    (Reverse(row.head.priority), row.number)
}

/// Says when a run is due.
pub(super) fn wake_at(due: &mut Due, row: &mut RunRow, at: Option<Timestamp>) {
    let key = |at| (at, urgency(row), Arc::clone(&row.head.run_id));
    if let Some(before) = row.wake_at {
        due.remove(&key(before));
    }
    due.extend(at.map(key));
    row.wake_at = at;
}

/// Bytes take much less room than events.
pub(super) fn encoded(record: Record<Arc<dyn Encode>>) -> Record<Vec<u8>> {
    let Record { first_seq, events, time, body, document, notices, logs, remark } = record;
    let mut bytes = Vec::new();
    body.encode(&mut bytes);
    bytes.shrink_to_fit();
    Record { first_seq, events, time, body: bytes, document, notices, logs, remark }
}

#[derive(Default)]
pub(super) struct State {
    pub(super) runs: HashMap<Arc<str>, Run>,
    /// Runs that were submitted with a key, by namespace and key.
    pub(super) keys: HashMap<(Arc<str>, Arc<str>), Arc<str>>,
    pub(super) hosts: HashMap<HostId, Timestamp>,
    /// All that ever had a run.
    pub(super) owners: BTreeSet<HostId>,
    pub(super) last_number: u64,
    pub(super) last_letter: u64,
    /// Runs without an owner.
    pub(super) due: Due,
    /// Runs with letters that wait for an answer.
    pub(super) mail: BTreeSet<Arc<str>>,
    /// In the order of closing.
    pub(super) closed: VecDeque<Arc<str>>,
    pub(super) closed_events: u64,
    pub(super) limit: u64,
    pub(super) documents: Documents,
    pub(super) offers: Offers,
    pub(super) catalog: CatalogTable,
    pub(super) notified: NoticeTable,
    pub(super) tenants: Option<Arc<str>>,
}

pub(super) struct Run {
    pub(super) row: RunRow,
    pub(super) epoch: u64,
    pub(super) journal: Vec<Record<Vec<u8>>>,
    pub(super) letters: VecDeque<Letter>,
    pub(super) replies: VecDeque<Reply>,
    pub(super) logs: BTreeMap<(u32, u32, u32), AttemptLog>,
    /// Bytes of the run's records and logs.
    pub(super) bytes: u64,
}

impl Run {
    pub(super) fn lease(&self, host: &HostId) -> Lease {
        Lease { head: Arc::clone(&self.row.head), host: host.clone(), epoch: self.epoch }
    }

    /// Records from an event on, until they have more than `most` bytes.
    pub(super) fn part(&self, since: u64, most: usize) -> JournalPart {
        let first = self.journal.partition_point(|record| record.next_seq() <= since);
        let left = self.journal.get(first..).unwrap_or_default();
        let mut bytes = 0;
        let fits = |record: &&Record<Vec<u8>>| {
            let before = bytes;
            bytes += record.body.len();
            before <= most
        };
        let records: Vec<_> = left.iter().take_while(fits).cloned().collect();
        JournalPart { is_last: records.len() == left.len(), records }
    }

    pub(super) fn answer(&self, letter: u64) -> Answer {
        match self.replies.iter().find(|reply| reply.letter == letter) {
            Some(reply) if reply.body.is_empty() => Answer::Ended,
            Some(reply) => Answer::Replied(reply.body.to_vec()),
            None if self.letters.iter().any(|waiting| waiting.id == letter) => Answer::Waiting,
            None => Answer::Unknown,
        }
    }

    /// Stores the log of an attempt, in place of its earlier log.
    pub(super) fn keep_log(&mut self, log: AttemptLog) {
        self.bytes += log.text.len() as u64;
        if let Some(before) = self.logs.insert((log.task, log.attempt, log.dispatch), log) {
            self.bytes -= before.text.len() as u64;
        }
    }

    /// The letters to a run that has ended are answered by nothing at all.
    pub(super) fn end_mail(&mut self) {
        let unanswered = self.letters.drain(..);
        self.replies.extend(unanswered.map(|letter| Reply { letter: letter.id, body: Arc::new([]) }));
    }

    pub(super) fn reply(&mut self, reply: Reply) {
        if let Some(at) = self.letters.iter().position(|letter| letter.id == reply.letter) {
            self.letters.remove(at);
            self.replies.push_back(reply);
        }
        while self.replies.len() as u64 > RETAINED_ANSWERS {
            self.replies.pop_front();
        }
    }
}

impl State {
    pub(super) fn run(&self, run_id: &str) -> Option<&Run> {
        self.runs.get(run_id)
    }

    pub(super) fn rows(&self, wanted: impl Fn(&RunRow) -> bool) -> Vec<RunRow> {
        self.runs.values().map(|run| &run.row).filter(|row| wanted(row)).cloned().collect()
    }

    /// The run of a lease that still holds.
    pub(super) fn leased(&mut self, lease: &Lease) -> Result<&mut Run, StoreError> {
        let run_id = &lease.head.run_id;
        let run =
            self.runs.get_mut(run_id).ok_or_else(|| StoreError::NotFound { run_id: Arc::clone(run_id) })?;
        if run.epoch == lease.epoch { Ok(run) } else { Err(lease.lost()) }
    }

    /// Returns the runs forgotten over it, to be dropped once the lock is free again.
    pub(super) fn append(
        &mut self,
        lease: &Lease,
        status: RunStatus,
        mut record: Record<Vec<u8>>,
        replies: Vec<Reply>,
    ) -> Result<Vec<Run>, StoreError> {
        let document = record.document.take();
        let run_id = &lease.head.run_id;
        match self.runs.get(run_id) {
            Some(run) if run.epoch != lease.epoch => return Err(lease.lost()),
            Some(run) => {
                record.check_follows(run_id, run.row.seq)?;
                if !run.row.status.open {
                    self.uncount_closed(run_id);
                }
            }
            None => {
                record.check_follows(run_id, 0)?;
                self.create(lease, status)?;
                record.document = document.map(|document| self.documents.keep(&document));
            }
        }
        self.notified.add(run_id, mem::take(&mut record.notices));
        let Some(run) = self.runs.get_mut(run_id) else { return Ok(Vec::new()) };
        run.row.status = status;
        run.row.remark = record.remark.take();
        run.row.seq = record.next_seq();
        run.bytes += record.body.len() as u64;
        mem::take(&mut record.logs).into_iter().for_each(|log| run.keep_log(log));
        run.journal.push(record);
        let answers = !replies.is_empty();
        replies.into_iter().for_each(|reply| run.reply(reply));
        if answers && run.letters.is_empty() {
            self.mail.remove(run_id);
        }
        if !status.open {
            self.closed(run_id);
        }
        Ok(self.forget())
    }

    pub(super) fn change(&mut self, change: &Change) -> Result<u64, StoreError> {
        self.catalog.check(change)?;
        Ok(self.catalog.change(change))
    }

    pub(super) fn fire(
        &mut self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Vec<u8>>,
        change: &Change,
    ) -> Result<u64, StoreError> {
        self.catalog.check(change)?;
        self.append(lease, status, record, Vec::new())?;
        Ok(self.catalog.change(change))
    }

    pub(super) fn reply(&mut self, lease: &Lease, replies: Vec<Reply>) -> Result<(), StoreError> {
        let run = self.leased(lease)?;
        replies.into_iter().for_each(|reply| run.reply(reply));
        if run.letters.is_empty() {
            self.mail.remove(&lease.head.run_id);
        }
        Ok(())
    }

    pub(super) fn create(&mut self, lease: &Lease, status: RunStatus) -> Result<(), StoreError> {
        let Lease { head, host, epoch } = lease;
        if let Some(key) = &head.key {
            let key = (Arc::clone(&head.namespace), Arc::clone(key));
            if let Some(run_id) = self.keys.get(&key) {
                return Err(StoreError::Exists { run_id: Arc::clone(run_id) });
            }
            self.keys.insert(key, Arc::clone(&head.run_id));
        }
        self.owners.insert(host.clone());
        self.last_number += 1;
        let (number, head, owner) = (self.last_number, Arc::clone(head), Some(host.clone()));
        let run_id = Arc::clone(&head.run_id);
        let status = RunStatus { open: true, ..status };
        let row = RunRow {
            number,
            head,
            status,
            seq: 0,
            owner,
            wake_at: None,
            note: None,
            remark: None,
            damaged: None,
        };
        let run = Run {
            row,
            epoch: *epoch,
            journal: Vec::new(),
            letters: VecDeque::new(),
            replies: VecDeque::new(),
            logs: BTreeMap::new(),
            bytes: 0,
        };
        self.runs.insert(run_id, run);
        Ok(())
    }

    pub(super) fn release(
        &mut self,
        lease: &Lease,
        at: Option<Timestamp>,
        note: Option<Note>,
    ) -> Result<(), StoreError> {
        self.leased(lease)?;
        let Some(run) = self.runs.get_mut(&lease.head.run_id) else { return Ok(()) };
        run.row.owner = None;
        run.row.note = note;
        let at = at.filter(|_| run.row.status.open);
        wake_at(&mut self.due, &mut run.row, at);
        Ok(())
    }

    pub(super) fn share(&mut self, ask: &ExchangeRequest) -> (ExchangeResponse, bool) {
        let Self { offers, runs, hosts, .. } = self;
        let epoch = |run_id: &str| runs.get(run_id).map(|run| run.epoch);
        offers.share(ask, epoch, |host| hosts.get(host).copied().unwrap_or(Timestamp(0)))
    }

    pub(super) fn lend(&mut self, run_id: &str, host: &HostId) -> Option<Lease> {
        let run = self.runs.get_mut(run_id)?;
        run.epoch += 1;
        self.offers.void(run_id);
        run.row.owner = Some(host.clone());
        run.row.note = None;
        self.owners.insert(host.clone());
        wake_at(&mut self.due, &mut run.row, None);
        Some(run.lease(host))
    }

    /// Since when a run that others may have is to be had, or will be.
    pub(super) fn free_at(&self, row: &RunRow, host: &HostId) -> Option<Timestamp> {
        match &row.owner {
            _ if !row.status.open => None,
            Some(owner) if owner == host => None,
            Some(owner) => Some(self.hosts.get(owner).copied().unwrap_or(Timestamp(0))),
            None if self.mail.contains(&row.head.run_id) => Some(Timestamp(0)),
            None => row.wake_at,
        }
    }

    /// Returns the runs that this host might claim now or later, without visiting those that have an owner.
    pub(super) fn candidates(&self, wanted: &ClaimRequest) -> impl Iterator<Item = (Timestamp, &RunRow)> {
        let due = self.due.iter().map(|(.., run_id)| run_id).take(wanted.limit + wanted.except.len());
        // A single host has no other host to take runs from.
        let alone = self.owners.iter().all(|owner| *owner == wanted.host);
        let of_others = self.runs.iter().filter(move |_| !alone).filter(|(_, run)| run.row.owner.is_some());
        let names: BTreeSet<_> = due.chain(&self.mail).chain(of_others.map(|(run_id, _)| run_id)).collect();
        let rows = names.into_iter().filter_map(|run_id| self.run(run_id)).map(|run| &run.row);
        rows.filter(|row| wanted.admits(row)).filter_map(|row| Some((self.free_at(row, &wanted.host)?, row)))
    }

    pub(super) fn next_due(&self, wanted: &ClaimRequest) -> Option<Timestamp> {
        self.candidates(wanted).map(|(at, _)| at).min()
    }

    /// Runs that only wait lose their owner once its host is gone: they are fenced off, and due when their clock runs out.
    pub(super) fn let_rest(&mut self, at: Timestamp, but: Option<&HostId>) {
        if self.owners.iter().all(|owner| Some(owner) == but) {
            return;
        }
        for run in self.runs.values_mut() {
            let Some(owner) = run.row.owner.as_ref().filter(|owner| Some(*owner) != but) else { continue };
            let is_gone = self.hosts.get(owner).is_none_or(|until| *until <= at);
            let Some(rest) = run.row.status.rest.filter(|_| is_gone) else { continue };
            run.row.owner = None;
            run.epoch += 1;
            wake_at(&mut self.due, &mut run.row, rest.until);
        }
    }

    pub(super) fn claim(&mut self, wanted: &ClaimRequest) -> Vec<Lease> {
        self.let_rest(wanted.now, Some(&wanted.host));
        let due = self.candidates(wanted).filter(|(at, _)| *at <= wanted.now);
        let mut due: Vec<_> =
            due.map(|(at, row)| ((at, urgency(row)), Arc::clone(&row.head.run_id))).collect();
        due.sort_unstable();
        due.truncate(wanted.limit);
        due.iter().filter_map(|(_, run_id)| self.lend(run_id, &wanted.host)).collect()
    }

    pub(super) fn claim_run(
        &mut self,
        host: &HostId,
        run_id: &str,
        at: Timestamp,
    ) -> Result<Claim, StoreError> {
        let is_there = |owner: &HostId| self.hosts.get(owner).is_some_and(|until| *until > at);
        let run = self.run(run_id).ok_or_else(|| StoreError::NotFound { run_id: run_id.into() })?;
        match &run.row.owner {
            _ if !run.row.status.open => return Ok(Claim::Closed),
            Some(owner) if owner != host && is_there(owner) => return Ok(Claim::Held(owner.clone())),
            Some(_) | None => {}
        }
        Ok(self.lend(run_id, host).map_or(Claim::Closed, Claim::Leased))
    }

    pub(super) fn post(&mut self, run_id: &str, body: Vec<u8>) -> Result<u64, StoreError> {
        let named = || Arc::from(run_id);
        if body.len() > MAX_LETTER_BYTES {
            return Err(StoreError::TooLarge { run_id: named(), size: body.len(), limit: MAX_LETTER_BYTES });
        }
        let run = self.runs.get_mut(run_id).ok_or_else(|| StoreError::NotFound { run_id: named() })?;
        if !run.row.status.open {
            return Err(StoreError::Closed { run_id: named() });
        }
        if run.letters.len() >= MAX_WAITING_LETTERS {
            return Err(StoreError::MailboxFull { run_id: named(), limit: MAX_WAITING_LETTERS });
        }
        self.last_letter += 1;
        run.letters.push_back(Letter { id: self.last_letter, body });
        self.mail.insert(named());
        Ok(self.last_letter)
    }

    pub(super) fn settle(&mut self, settle: Settle) -> bool {
        let is_there = self.runs.contains_key(&settle.id.run_id);
        self.notified.settle(settle, is_there)
    }

    pub(super) fn abandon(
        &mut self,
        lease: &Lease,
        at: Timestamp,
        notices: Vec<NewNotice>,
    ) -> Result<(), StoreError> {
        let run_id = &lease.head.run_id;
        self.leased(lease)?;
        let Some(run) = self.runs.get_mut(run_id) else { return Ok(()) };
        if !run.row.status.open {
            return Err(StoreError::Closed { run_id: Arc::clone(run_id) });
        }
        run.row.remark = None;
        run.row.status = RunStatus { phase: Phase::Error, finished_at: Some(at), open: false, rest: None };
        self.notified.add(run_id, notices);
        self.closed(run_id);
        Ok(())
    }

    /// Removes a run that has ended from the indexes of open runs.
    pub(super) fn closed(&mut self, run_id: &Arc<str>) {
        self.mail.remove(run_id);
        let Some(run) = self.runs.get_mut(run_id) else { return };
        run.end_mail();
        run.row.owner = None;
        wake_at(&mut self.due, &mut run.row, None);
        self.closed_events += run.row.seq;
        self.closed.push_back(Arc::clone(run_id));
    }

    pub(super) fn delete(&mut self, run_id: &str) -> Result<bool, StoreError> {
        match self.runs.get(run_id) {
            None => return Ok(false),
            Some(run) if run.row.status.open => return Err(StoreError::StillOpen { run_id: run_id.into() }),
            Some(_) => self.uncount_closed(&Arc::from(run_id)),
        }
        self.remove(run_id);
        Ok(true)
    }

    pub(super) fn remove(&mut self, run_id: &str) -> Option<Run> {
        let run = self.runs.remove(run_id)?;
        self.notified.forget(run_id);
        if let Some(key) = &run.row.head.key {
            self.keys.remove(&(Arc::clone(&run.row.head.namespace), Arc::clone(key)));
        }
        if let Some(document) = run.journal.first().and_then(|first| first.document.as_ref()) {
            self.documents.forget(&document.digest);
        }
        Some(run)
    }

    /// A run that is written to after it was closed counts anew, or no longer.
    pub(super) fn uncount_closed(&mut self, run_id: &Arc<str>) {
        if let Some(run) = self.runs.get(run_id).filter(|run| !run.row.status.open) {
            self.closed_events -= run.row.seq;
            self.closed.retain(|closed| closed != run_id);
        }
    }

    pub(super) fn forget(&mut self) -> Vec<Run> {
        let mut forgotten = Vec::new();
        while self.closed_events > self.limit && self.closed.len() > 1 {
            let oldest = self.closed.pop_front();
            let Some(run) = oldest.and_then(|run_id| self.remove(&run_id)) else { break };
            self.closed_events -= run.row.seq;
            forgotten.push(run);
        }
        forgotten
    }
}
