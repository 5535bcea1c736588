//! Decisions of a run that are not durable yet, and everything that follows once they are.

use std::sync::Arc;

use phasm_engine::{event::Command, run::Run, run::Step, time::Timestamp};

use crate::{
    journal::Moment,
    run::message::Inspection,
    store::{AttemptLog, Note, Reply, StoreError},
};

/// Bytes after which a batch takes no more inputs: what fits into a record by itself must not fail for what came at the same
/// time.
pub(super) const MAX_BATCH_BYTES: usize = 16 << 20;

/// Replies to a request once its batch is durable, or with the error that kept it from being so.
pub(super) type DeferredReply = Box<dyn FnOnce(Option<&Arc<StoreError>>) + Send>;

/// Decisions that are not handed to the store yet.
#[derive(Default)]
pub(super) struct Batch {
    /// Number of the first event.
    pub(super) first_seq: u64,
    /// Events in order; no moment is without events.
    pub(super) moments: Vec<Moment>,
    /// Estimate of the encoded size in bytes.
    bytes: usize,
    /// Logs of attempts that have ended; they become durable with the events that end them.
    pub(super) logs: Vec<AttemptLog>,
    /// Replies to requests from the store, which become durable together with their effects.
    pub(super) store_replies: Vec<Reply>,
    /// A new note for the run's row; the inner `None` clears it.
    pub(super) note: Option<Option<Note>>,
    pub(super) effects: Effects,
}

/// Effects of a batch, once it is durable (R-D2).
#[derive(Default)]
pub(super) struct Effects {
    /// Commands whose execution something outside can tell.
    pub(super) commands: Vec<Command>,
    pub(super) replies: Vec<DeferredReply>,
    /// Inspections, which see the run as it is once the batch is durable.
    pub(super) inspections: Vec<Inspection>,
}

impl Effects {
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty() && !self.are_observed()
    }

    /// Whether a caller waits to see the run as the batch leaves it. Until it has, the run must not advance.
    pub(super) fn are_observed(&self) -> bool {
        !(self.replies.is_empty() && self.inspections.is_empty())
    }

    /// Answers everybody who waits for the batch, which is durable.
    pub(super) fn show(&mut self, run: &Run) {
        self.replies.drain(..).for_each(|reply| reply(None));
        self.inspections.drain(..).for_each(|inspect| inspect(run));
    }

    /// Tells the senders of requests that the batch was not recorded.
    pub(super) fn fail(&mut self, error: &Arc<StoreError>) {
        self.replies.drain(..).for_each(|reply| reply(Some(error)));
    }
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.moments.is_empty()
            && self.logs.is_empty()
            && self.store_replies.is_empty()
            && self.effects.is_empty()
    }

    /// Whether it takes no more inputs.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_BATCH_BYTES
    }

    /// The flush rule. One commit at a time: everything that is decided meanwhile makes the next batch, so that a busy run commits
    /// in groups.
    pub(super) fn must_flush(&self, is_commit_in_flight: bool) -> bool {
        !is_commit_in_flight && !self.is_empty()
    }

    /// Adds the log of an attempt that the next step ends.
    pub(super) fn add_log(&mut self, log: AttemptLog) {
        self.bytes = self.bytes.saturating_add(log.text.len());
        self.logs.push(log);
    }

    /// Adds the events of a step that has taken the run to `seq` events at `time`.
    pub(super) fn add(&mut self, seq: u64, time: Timestamp, step: Step) -> Vec<Command> {
        let Step { events, commands, bytes } = step;
        self.bytes = self.bytes.saturating_add(bytes);
        if events.is_empty() {
            return commands;
        }
        if self.moments.is_empty() {
            self.first_seq = seq.saturating_sub(u64::try_from(events.len()).unwrap_or(u64::MAX));
        }
        match self.moments.last_mut() {
            Some(moment) if moment.time == time => Arc::make_mut(&mut moment.events).extend(events),
            Some(_) | None => self.moments.push(Moment { time, events: Arc::new(events) }),
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use phasm_engine::event::Event;

    use super::*;

    fn step(events: usize, bytes: usize) -> Step {
        Step { events: vec![Event::CancelRequested; events], commands: Vec::new(), bytes }
    }

    #[test]
    fn a_batch_is_flushed_when_it_has_anything_and_no_commit_is_in_flight() {
        let with = |fill: fn(&mut Batch)| {
            let mut batch = Batch::default();
            fill(&mut batch);
            batch
        };
        let rows = [
            ("nothing", with(|_| {}), false),
            ("only a note", with(|batch| batch.note = Some(None)), false),
            ("an event", with(|batch| drop(batch.add(1, Timestamp(0), step(1, 1)))), true),
            ("a step without events", with(|batch| drop(batch.add(1, Timestamp(0), step(0, 0)))), false),
            ("a reply", with(|batch| batch.effects.replies.push(Box::new(|_| {}))), true),
            ("an inspection", with(|batch| batch.effects.inspections.push(Box::new(|_| {}))), true),
        ];
        for (what, batch, expected) in rows {
            assert_eq!((batch.must_flush(false), batch.must_flush(true)), (expected, false), "{what}");
        }
    }

    #[test]
    fn events_of_one_time_are_one_moment_and_the_first_has_its_number() {
        let mut batch = Batch::default();
        for (seq, time, events) in [(7, 1, 2), (8, 1, 1), (8, 2, 0), (10, 3, 2)] {
            batch.add(seq, Timestamp(time), step(events, MAX_BATCH_BYTES / 4));
        }
        let moments: Vec<_> =
            batch.moments.iter().map(|moment| (moment.time.0, moment.events.len())).collect();
        assert_eq!((batch.first_seq, moments, batch.is_full()), (5, vec![(1, 3), (3, 2)], true));
    }
}
