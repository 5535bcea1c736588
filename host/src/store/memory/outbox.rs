//! Notices that are kept in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use phasm_engine::time::Timestamp;

use super::super::{NewNotice, NoticeId, NoticeRow, Notices, Settle};

#[derive(Default)]
pub(super) struct NoticeTable {
    kept: BTreeMap<NoticeId, NoticeRow>,
    /// Notifications to deliver, by endpoint and time.
    due: BTreeMap<Arc<str>, BTreeSet<(Timestamp, NoticeId)>>,
}

impl NoticeTable {
    pub(super) fn due(&self, endpoint: &str, limit: usize) -> Vec<NoticeRow> {
        let first = self.due.get(endpoint).into_iter().flatten().take(limit);
        first.filter_map(|(_, id)| self.kept.get(id)).cloned().collect()
    }

    pub(super) fn endpoint_after(&self, endpoint: &str) -> Option<(Arc<str>, Timestamp)> {
        let behind = (Bound::Excluded(endpoint), Bound::Unbounded);
        let (endpoint, due) = self.due.range::<str, _>(behind).next()?;
        Some((Arc::clone(endpoint), due.last()?.0))
    }

    pub(super) fn of(&self, wanted: &Notices) -> Vec<NoticeRow> {
        let fits = |notice: &&NoticeRow| {
            wanted.endpoint.as_ref().is_none_or(|endpoint| *endpoint == notice.id.endpoint)
                && wanted.before.is_none_or(|before| notice.id.seq < before)
        };
        self.of_run(&wanted.run_id).rev().filter(fits).take(wanted.limit).cloned().collect()
    }

    fn of_run(&self, run_id: &Arc<str>) -> impl DoubleEndedIterator<Item = &NoticeRow> {
        let from = NoticeId { run_id: Arc::clone(run_id), seq: 0, endpoint: "".into() };
        let its = self.kept.range(from..).map(|(_, notice)| notice);
        let its: Vec<_> = its.take_while(|notice| notice.id.run_id == *run_id).collect();
        its.into_iter()
    }

    pub(super) fn add(&mut self, run_id: &Arc<str>, notices: Vec<NewNotice>) {
        for NewNotice { seq, endpoint, due, body } in notices {
            let id = NoticeId { run_id: Arc::clone(run_id), seq, endpoint };
            drop(self.take(&id));
            self.put(NoticeRow { id, revision: 1, due: Some(due), body, damaged: false });
        }
    }

    fn put(&mut self, notice: NoticeRow) {
        let place = |due| (due, notice.id.clone());
        if let Some(due) = notice.due {
            self.due.entry(Arc::clone(&notice.id.endpoint)).or_default().insert(place(due));
        }
        self.kept.insert(notice.id.clone(), notice);
    }

    fn take(&mut self, id: &NoticeId) -> Option<NoticeRow> {
        let notice = self.kept.remove(id)?;
        if let (Some(due), Some(all)) = (notice.due, self.due.get_mut(&id.endpoint)) {
            all.remove(&(due, id.clone()));
            if all.is_empty() {
                self.due.remove(&id.endpoint);
            }
        }
        Some(notice)
    }

    /// A notification that needs no delivery is kept while its run is there.
    pub(super) fn settle(&mut self, settle: Settle, is_there: bool) -> bool {
        let Settle { id, from, due, body } = settle;
        if self.kept.get(&id).is_none_or(|notice| notice.revision != from) {
            return false;
        }
        drop(self.take(&id));
        if due.is_some() || is_there {
            self.put(NoticeRow { id, revision: from + 1, due, body, damaged: false });
        }
        true
    }

    /// A run is deleted: what is to be delivered stays.
    pub(super) fn forget(&mut self, run_id: &str) {
        let settled: Vec<_> = self.of_run(&run_id.into()).filter(|notice| notice.due.is_none()).collect();
        let settled: Vec<_> = settled.into_iter().map(|notice| notice.id.clone()).collect();
        settled.iter().for_each(|id| drop(self.take(id)));
    }
}
