//! Where the journals of the runs being written end, so that appending to them reads nothing.

use std::{collections::HashMap, mem, sync::Arc};

/// The end of one run's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    /// The run's number.
    pub(super) run: i64,
    /// How many events it has.
    pub(super) seq: u64,
    /// The key of its last record.
    pub(super) last_record: Option<i64>,
    /// Whether a restart has to go on with it.
    pub(super) open: bool,
}

/// The tips of the open runs written last: at least as many as the size, at most twice that.
pub(super) struct Tips {
    size: usize,
    recent: HashMap<Arc<str>, Tip>,
    older: HashMap<Arc<str>, Tip>,
}

impl Tips {
    pub(super) fn new(size: usize) -> Self {
        Self { size, recent: HashMap::new(), older: HashMap::new() }
    }

    pub(super) fn get(&self, run_id: &str) -> Option<Tip> {
        self.recent.get(run_id).or_else(|| self.older.get(run_id)).copied()
    }

    pub(super) fn set(&mut self, run_id: &Arc<str>, tip: Tip) {
        if !tip.open {
            self.recent.remove(run_id);
            self.older.remove(run_id);
            return;
        }
        if self.recent.len() >= self.size && !self.recent.contains_key(run_id) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(Arc::clone(run_id), tip);
    }

    pub(super) fn clear(&mut self) {
        self.recent.clear();
        self.older.clear();
    }
}
