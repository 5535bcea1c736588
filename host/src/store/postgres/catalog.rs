//! Catalog entries: saved workflows and schedules.

use std::sync::Arc;

use tokio::sync::{oneshot, watch};

use super::{
    super::{Catalog, Change, Encode, EntryName, Lease, Pending, Record, RunStatus},
    Postgres, entries,
    fault::get,
    one,
    writer::WriteJob,
};

impl Catalog for Postgres {
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
        Pending::sent(fired)
    }

    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        self.ask(entries::REMOVE, entries::name(name), |rows| one(rows, |row| get(row, "removed")))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.entries_changed.subscribe()
    }
}
