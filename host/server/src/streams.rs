//! How many streams each key has open.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use axum::http::StatusCode;

use crate::{auth::caller::Caller, problem_response::ProblemResponse};

type Counts = Arc<Mutex<HashMap<Arc<str>, usize>>>;

/// Counts streams by key.
pub(crate) struct Streams {
    most: usize,
    counts: Counts,
    dropped: Arc<AtomicU64>,
}

/// One of them, until dropped.
pub(crate) struct StreamGuard {
    of: Arc<str>,
    counts: Counts,
    dropped: Arc<AtomicU64>,
}

impl Streams {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default(), dropped: Arc::default() }
    }

    /// # Errors
    /// 429 if the key has as many as it may.
    pub(crate) fn enter(&self, caller: &Caller) -> Result<StreamGuard, ProblemResponse> {
        let of = Arc::from(caller.name());
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(Arc::clone(&of)).or_default();
        if *count >= self.most {
            let detail =
                format!("{} streams are open, which is the most for one key; end some of them", self.most);
            return Err(ProblemResponse::new(StatusCode::TOO_MANY_REQUESTS, detail).again_after(1));
        }
        *count += 1;
        Ok(StreamGuard { of, counts: Arc::clone(&self.counts), dropped: Arc::clone(&self.dropped) })
    }

    /// How many were ended as their reader did not read.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    pub(crate) fn open(&self) -> usize {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl StreamGuard {
    /// Counts a stream that was ended because its client does not read.
    pub(crate) fn dropped(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.of);
            }
        }
    }
}
