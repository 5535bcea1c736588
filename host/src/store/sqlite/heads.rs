//! Where the journals of the runs being written end, so that appending to them reads nothing.

use std::{collections::HashMap, mem, sync::Arc};

/// The end of one run's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournalHead {
    /// The run's number.
    pub(super) run: i64,
    /// Where what it keeps is added up.
    pub(super) namespace: Arc<str>,
    /// How many events it has.
    pub(super) seq: u64,
    /// The epoch of the lease that may write to it.
    pub(super) epoch: u64,
    /// The key of its last record.
    pub(super) last_record: Option<i64>,
    /// Whether a restart has to continue the run.
    pub(super) open: bool,
}

/// The heads of the open runs written last: at least as many as the size, at most twice that.
pub(super) struct JournalHeads {
    size: usize,
    recent: HashMap<Arc<str>, JournalHead>,
    older: HashMap<Arc<str>, JournalHead>,
}

impl JournalHeads {
    pub(super) fn new(size: usize) -> Self {
        Self { size, recent: HashMap::new(), older: HashMap::new() }
    }

    pub(super) fn get(&self, run_id: &str) -> Option<JournalHead> {
        self.recent.get(run_id).or_else(|| self.older.get(run_id)).cloned()
    }

    pub(super) fn set(&mut self, run_id: &Arc<str>, journal_head: JournalHead) {
        if !journal_head.open {
            return self.forget(run_id);
        }
        if self.recent.len() >= self.size && !self.recent.contains_key(run_id) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(Arc::clone(run_id), journal_head);
    }

    pub(super) fn forget(&mut self, run_id: &str) {
        self.recent.remove(run_id);
        self.older.remove(run_id);
    }

    pub(super) fn clear(&mut self) {
        self.recent.clear();
        self.older.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal_head(run: i64, seq: u64) -> JournalHead {
        JournalHead { run, namespace: "n".into(), seq, epoch: 1, last_record: None, open: true }
    }

    #[test]
    fn the_tips_written_last_are_known() {
        let mut heads = JournalHeads::new(3);
        let ids: Vec<Arc<str>> = (0..10).map(|run| run.to_string().into()).collect();
        for (run, id) in (0..).zip(&ids) {
            heads.set(id, journal_head(run, 1));
        }
        let known: Vec<bool> = ids.iter().map(|id| heads.get(id).is_some()).collect();
        assert_eq!(known, [false, false, false, false, false, false, true, true, true, true]);
    }

    #[test]
    fn a_newer_tip_hides_an_older_one() {
        let mut heads = JournalHeads::new(1);
        let [a, b]: [Arc<str>; 2] = ["a".into(), "b".into()];
        heads.set(&a, journal_head(1, 1));
        heads.set(&b, journal_head(2, 1));
        heads.set(&a, journal_head(1, 2));
        assert_eq!(heads.get("a"), Some(journal_head(1, 2)));
        heads.set(&a, JournalHead { open: false, ..journal_head(1, 3) });
        assert_eq!(heads.get("a"), None, "a closed run is written no more");
        heads.set(&a, journal_head(1, 4));
        heads.clear();
        assert_eq!(heads.get("a"), None);
    }
}
