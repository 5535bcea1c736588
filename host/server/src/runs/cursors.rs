//! Readers of events between two pages: the next page continues where the one before ended.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use phasm::{Host, Notice, RecoverError, Watch, engine::run::EventView, journal::StepRecord};

/// Readers that are kept for their next pages. Another page reads the journal from its beginning.
const MAX_CURSORS: usize = 32;

/// A reader of a run's events, from some event on.
pub(crate) struct EventCursor {
    run_id: Arc<str>,
    /// The next event that it tells.
    next: u64,
    watch: Watch,
    /// The record of that event, if it was read already.
    record: Option<StepRecord>,
}

impl EventCursor {
    fn new(host: &Host, run_id: &Arc<str>, next: u64) -> Self {
        let watch = host.recorded(run_id, next);
        Self { run_id: Arc::clone(run_id), next, watch, record: None }
    }

    /// The number of the next event.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Shows events in their order, to `each`, until that returns false for one, which is the next one then. Returns whether there
    /// are more.
    ///
    /// # Errors
    /// [`RecoverError`] when the run cannot be read.
    pub(crate) async fn show(
        &mut self,
        mut each: impl FnMut(&EventView<'_>) -> bool,
    ) -> Result<bool, RecoverError> {
        loop {
            let record = match self.record.take() {
                Some(record) => record,
                None => match self.watch.known().await? {
                    Some(Notice::Record(record)) => record,
                    Some(_) => continue,
                    None => return Ok(false),
                },
            };
            let next = self.next;
            let left = self.watch.views(&record).zip(record.first_seq..).filter(|(_, seq)| *seq >= next);
            let stopped_at = { left }.find(|(view, _)| !each(view)).map(|(_, seq)| seq);
            self.next = stopped_at.unwrap_or_else(|| next.max(record.next_seq()));
            if stopped_at.is_some() {
                self.record = Some(record);
                return Ok(true);
            }
        }
    }
}

/// Cursors of runs whose next pages may be asked for.
#[derive(Default)]
pub(crate) struct EventCursors(Mutex<VecDeque<EventCursor>>);

impl EventCursors {
    /// A cursor at an event of a run: the one that a page before has left there, or a new one.
    pub(crate) fn take(&self, host: &Host, run_id: &Arc<str>, next: u64) -> EventCursor {
        let mut known = self.known();
        let at = known.iter().position(|one| one.run_id == *run_id && one.next == next);
        let found = at.and_then(|at| known.remove(at));
        drop(known);
        found.unwrap_or_else(|| EventCursor::new(host, run_id, next))
    }

    /// Keeps a cursor for the next page. The oldest of too many is dropped.
    pub(crate) fn leave(&self, mut cursor: EventCursor) {
        cursor.watch.look_again();
        let mut known = self.known();
        known.push_back(cursor);
        if known.len() > MAX_CURSORS {
            known.pop_front();
        }
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<EventCursor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
