//! Handing a batch to the store, and everything that follows once it is durable.

use std::{mem, sync::Arc};

use phasm_engine::{event::Command, phase::Phase, text};

use super::{Driver, batch::Effects};
use crate::{
    journal::Body,
    run::message::DriveStatus,
    store::{Document, Pending, Record, RunStatus, StoreError},
    watch::{hub::Notice, spans::Span},
};

/// A batch on its way to the store.
pub(super) struct Commit {
    pub(super) durable: Pending<()>,
    /// Absent where only replies are written.
    record: Option<Publication>,
    /// Whether the run waits for people only, as the batch leaves it.
    is_parked: bool,
    /// Whether replies to requests from the store are in it: until they are durable, reading the requests again would return the
    /// same ones.
    pub(super) has_store_replies: bool,
    pub(super) effects: Effects,
}

/// The parts of a record that watchers and counters need once it is durable.
struct Publication {
    first_seq: u64,
    body: Arc<Body>,
    document: Option<Arc<Document>>,
    spans: Option<Vec<Span>>,
}

impl Driver {
    /// Hands the batch to the store. One without anything to write has its effects at once.
    ///
    /// Returns commands to carry out.
    pub(super) fn flush(&mut self) -> Vec<Command> {
        let mut batch = mem::take(&mut self.batch);
        self.attempts.close_logs(&batch.effects.commands, &mut batch.logs);
        let has_store_replies = !batch.store_replies.is_empty();
        let is_parked = self.run.is_parked();
        let mut body = Body { moments: batch.moments, basis: None };
        let (Some(last), Some(events)) = (body.moments.last(), body.count()) else {
            // Their attempts ended in an earlier record.
            for log in batch.logs {
                self.core.store.keep_log(&self.lease, log).detach();
            }
            // The note goes with the next record.
            self.batch.note = batch.note;
            if !has_store_replies {
                return self.take_effect(batch.effects, is_parked);
            }
            let durable = self.core.store.reply(&self.lease, batch.store_replies);
            let effects = batch.effects;
            self.commit = Some(Commit { durable, record: None, is_parked, has_store_replies, effects });
            return Vec::new();
        };
        let first_seq = batch.first_seq;
        let time = last.time;
        let document = (first_seq == 0).then(|| self.core.planner.document(self.run.plan()));
        body.basis = document.as_ref().map(|document| Arc::clone(&document.digest));
        let notices = self.subscribers.notices(&self.lease.head, &self.run, first_seq, &body.moments);
        let body = Arc::new(body);
        let encode = Arc::clone(&body) as _;
        let (document_of_record, logs) = (document.clone(), batch.logs);
        let record = Record {
            first_seq,
            events,
            time,
            body: encode,
            document: document_of_record,
            notices,
            logs,
            remark: self.remark(),
        };
        let status = RunStatus::of(&self.run);
        let spans = self.spans.as_ref().map(|spans| spans.ended(&self.run, &body.moments));
        let durable = self.core.store.append(&self.lease, status, record, batch.store_replies);
        if let Some(note) = batch.note {
            // The note shares the commit. A row without it only tells its reader less.
            self.core.store.note(&self.lease, note).detach();
        }
        let record = Some(Publication { first_seq, body, document, spans });
        self.commit = Some(Commit { durable, record, is_parked, has_store_replies, effects: batch.effects });
        Vec::new()
    }

    /// Returns the short reason for the run's end, or a remark on it, once it has ended. The task runs are looked at once.
    fn remark(&mut self) -> Option<Arc<str>> {
        if !self.run.phase().is_terminal() {
            return None;
        }
        let run = &self.run;
        let found = self.remark.get_or_insert_with(|| {
            let root = run.tasks().first()?;
            let clock = run.exceeded(root).map(|clock| format!("Timed out: {clock}"));
            let is_good = run.phase() == Phase::Succeeded;
            let told = || if is_good { run.remarks(root).join(", ") } else { run.failure_reason(root) };
            let remark = clock.unwrap_or_else(told);
            (!remark.is_empty()).then(|| text::brief(&remark).into())
        });
        found.clone()
    }

    /// Ends the commit in flight, whose batch is durable. Returns commands to carry out.
    pub(super) fn finish_commit(&mut self) -> Vec<Command> {
        let Some(commit) = self.commit.take() else { return Vec::new() };
        match commit.record {
            Some(record) => self.publish(record),
            None => self.entry.tell_commit(),
        }
        self.take_effect(commit.effects, commit.is_parked)
    }

    /// Ends the commit in flight, which the store has refused: senders of requests are told, inspections are kept for the driver
    /// that continues the run.
    pub(super) fn fail_commit(&mut self, error: &Arc<StoreError>) {
        let Some(mut commit) = self.commit.take() else { return };
        commit.effects.fail(error);
        let kept = &mut self.batch.effects;
        kept.inspections.splice(0..0, commit.effects.inspections);
        // Their slots are in the driver's hand until it leaves.
        kept.commands.splice(0..0, commit.effects.commands);
    }

    /// Shows everybody who waits the run as it is recorded. Returns commands to carry out.
    fn take_effect(&mut self, mut effects: Effects, is_parked: bool) -> Vec<Command> {
        // First, so that a caller that gets a reply finds the run's status changed.
        self.set_parked(is_parked);
        effects.show(&self.run);
        effects.commands
    }

    /// Counts a record that is durable, and passes it to watchers.
    fn publish(&self, record: Publication) {
        let Publication { first_seq, body, document, spans } = record;
        let gauges = &self.core.gauges;
        gauges.recorded(body.moments.iter().flat_map(|moment| moment.events.iter()));
        if first_seq == 0 {
            gauges.submitted();
        }
        // Before a caller learns that the run is over, and ends the process.
        if let (Some(driven), Some(spans)) = (&self.spans, spans) {
            driven.tell(spans);
        }
        self.entry.tell_commit();
        if self.entry.watchers.any() {
            for told in body.told(first_seq, document.as_ref()) {
                self.entry.watchers.send(&Notice::Record(told));
            }
        }
    }

    fn set_parked(&self, is_parked: bool) {
        self.entry.status.send_if_modified(|status| {
            let changed = match (&*status, is_parked) {
                (DriveStatus::Active, true) => DriveStatus::Parked,
                (DriveStatus::Parked, false) => DriveStatus::Active,
                (
                    DriveStatus::Active
                    | DriveStatus::Parked
                    | DriveStatus::Closed
                    | DriveStatus::Ended(_)
                    | DriveStatus::EndedElsewhere
                    | DriveStatus::Lost(_),
                    _,
                ) => return false,
            };
            *status = changed;
            true
        });
    }
}
