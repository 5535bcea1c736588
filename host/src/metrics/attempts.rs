//! Attempts by executor and result. The number of executors is bounded: attempts of further ones are counted together.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use phasm_engine::{outcome::code, time::Millis};

use super::{
    Count,
    histogram::{Buckets, TIMES},
};

/// Executors that are counted apart: the first that are used. All others are counted together.
pub const MAX_EXECUTORS: usize = 32;
/// Twice as many places, so that a name is found at once.
const PLACES: usize = 2 * MAX_EXECUTORS;
/// Longest executor name that is counted by itself, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptResult {
    /// Code 0.
    Succeeded,
    /// Code 1.
    Suspended,
    /// Code 2.
    Failed,
    /// Code 3: what the host reports for traps, limits and faults, too.
    Error,
    /// Code 4, or a clock ended it.
    Timeout,
    /// Any other code.
    Other,
    /// Stopped from outside, or lost.
    Stopped,
}

impl AttemptResult {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Succeeded,
        Self::Suspended,
        Self::Failed,
        Self::Error,
        Self::Timeout,
        Self::Other,
        Self::Stopped,
    ];

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Suspended => "suspended",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Other => "other",
            Self::Stopped => "stopped",
        }
    }

    /// The result for an executor's code.
    #[must_use]
    pub const fn of(code: i32) -> Self {
        match code {
            code::SUCCEEDED => Self::Succeeded,
            code::SUSPENDED => Self::Suspended,
            code::FAILED => Self::Failed,
            code::ERROR => Self::Error,
            code::TIMEOUT => Self::Timeout,
            _ => Self::Other,
        }
    }
}

/// How many attempts of an executor have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorUse {
    /// Its name without a version; none stands for all that are not counted apart.
    pub executor: Option<Arc<str>>,
    /// How many came to what.
    pub ended: Vec<(AttemptResult, u64)>,
}

#[derive(Debug, Default)]
struct Codes([Count; AttemptResult::ALL.len()]);

impl Codes {
    fn add(&self, ended: AttemptResult) {
        let found = AttemptResult::ALL.iter().zip(&self.0).find(|(of, _)| **of == ended);
        found.into_iter().for_each(|(_, count)| count.one_more());
    }

    fn of(&self, executor: Option<Arc<str>>) -> ExecutorUse {
        let ended = AttemptResult::ALL.into_iter().zip(&self.0).map(|(ended, count)| (ended, count.get()));
        ExecutorUse { executor, ended: ended.collect() }
    }
}

/// An executor that is counted apart.
#[derive(Debug)]
struct Tally {
    name: Arc<str>,
    codes: Codes,
}

impl Tally {
    fn new(name: &str) -> Self {
        Self { name: name.into(), codes: Codes::default() }
    }
}

/// The attempts that this process has executed.
#[derive(Debug)]
pub(crate) struct Attempts {
    hasher: RandomState,
    /// A name is at the first place from its own on that had none before it, and stays there.
    known: [OnceLock<Tally>; PLACES],
    names: AtomicUsize,
    others: Codes,
    begun: Count,
    /// From when an attempt could have begun to its start.
    pub(crate) dispatch: Buckets<{ TIMES.len() }>,
    /// From its start to its end.
    pub(crate) took: Buckets<{ TIMES.len() }>,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            known: [const { OnceLock::new() }; PLACES],
            names: AtomicUsize::new(0),
            others: Codes::default(),
            begun: Count::default(),
            dispatch: Buckets::new(&TIMES),
            took: Buckets::new(&TIMES),
        }
    }
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptTimer {
    place: Option<usize>,
    began: u64,
}

impl AttemptTimer {
    /// When it began, as its clock has it.
    pub(crate) const fn began(self) -> Millis {
        self.began / 1000
    }
}

impl Attempts {
    /// An attempt begins, `now` microseconds after its clock was started; it could have when `due` milliseconds had elapsed.
    pub(crate) fn begin(&self, executor: &str, due: Option<Millis>, now: u64) -> AttemptTimer {
        self.begun.one_more();
        if let Some(due) = due {
            self.dispatch.add(now.saturating_sub(due.saturating_mul(1000)));
        }
        AttemptTimer { place: self.place(executor), began: now }
    }

    pub(crate) fn end(&self, attempt: AttemptTimer, ended: AttemptResult, now: u64) {
        self.took.add(now.saturating_sub(attempt.began));
        match attempt.place.and_then(|place| self.known.get(place)?.get()) {
            Some(known) => known.codes.add(ended),
            None => self.others.add(ended),
        }
    }

    pub(crate) fn begun(&self) -> u64 {
        self.begun.get()
    }

    /// Counts of executors in the order of their names, followed by the counts of all others together.
    pub(crate) fn ended(&self) -> Vec<ExecutorUse> {
        let known = self.known.iter().filter_map(OnceLock::get);
        let mut all: Vec<_> = known.map(|known| known.codes.of(Some(Arc::clone(&known.name)))).collect();
        all.sort_unstable_by(|a, b| a.executor.cmp(&b.executor));
        all.push(self.others.of(None));
        all
    }

    fn place(&self, executor: &str) -> Option<usize> {
        let name = executor.split('@').next().unwrap_or_default();
        let first = usize::try_from(self.hasher.hash_one(name) % PLACES as u64).unwrap_or(0);
        for place in (first..PLACES).chain(0..first) {
            let kept = self.known.get(place)?;
            let is_there = |kept: &OnceLock<Tally>| kept.get().is_some_and(|known| *known.name == *name);
            if is_there(kept) || (kept.get().is_none() && self.keep(kept, name)? && is_there(kept)) {
                return Some(place);
            }
        }
        None
    }

    /// Stores a name in a free place. Returns whether the place is now of that name, or nothing if the name is not stored
    /// anywhere.
    fn keep(&self, place: &OnceLock<Tally>, name: &str) -> Option<bool> {
        if name.len() > MAX_NAME_BYTES {
            return None;
        }
        let one_more = |names: usize| (names < MAX_EXECUTORS).then_some(names + 1);
        self.names.fetch_update(Relaxed, Relaxed, one_more).ok()?;
        if place.set(Tally::new(name)).is_err() {
            self.names.fetch_sub(1, Relaxed);
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(attempts: &Attempts) -> Vec<(Option<String>, u64)> {
        let count = |of: ExecutorUse| {
            (of.executor.map(|name| name.to_string()), of.ended.iter().map(|(_, count)| count).sum())
        };
        attempts.ended().into_iter().map(count).collect()
    }

    fn one(attempts: &Attempts, executor: &str) {
        attempts.end(attempts.begin(executor, None, 0), AttemptResult::Succeeded, 0);
    }

    /// R-A50: ten thousand executor names grow nothing, and displace none that were counted before.
    #[test]
    fn ten_thousand_executors_take_the_room_of_a_few() {
        let attempts = Attempts::default();
        one(&attempts, "echo");
        for number in 0..10_000 {
            one(&attempts, &format!("e{number}"));
        }
        one(&attempts, "echo@1.2");
        one(&attempts, "echo@sha256:0123");
        let found = ended(&attempts);
        assert_eq!(found.len(), MAX_EXECUTORS + 1);
        assert!(found.contains(&(Some("echo".to_owned()), 3)), "{found:?}");
        assert_eq!(found.last(), Some(&(None, 10_000 - (MAX_EXECUTORS as u64 - 1))));
    }

    #[test]
    fn a_name_that_is_too_long_is_one_of_the_others() {
        let attempts = Attempts::default();
        one(&attempts, &"x".repeat(MAX_NAME_BYTES + 1));
        assert_eq!(ended(&attempts), [(None, 1)]);
    }

    /// R-A50: a name that several threads bring at once has one place.
    #[test]
    fn names_that_come_at_once_are_kept_once() {
        let attempts = Attempts::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|at| one(&attempts, ["a", "b", "c"][at % 3])));
            }
        });
        let found = ended(&attempts);
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 4000);
        assert_eq!(found.iter().filter(|(name, _)| name.is_some()).count(), 3, "{found:?}");
        assert_eq!(attempts.names.load(Relaxed), 3);
    }

    /// R-A51: an attempt's times are by its host's clock.
    #[test]
    fn times_are_told_by_what_has_elapsed() {
        let attempts = Attempts::default();
        let attempt = attempts.begin("a", Some(5), 7_300);
        attempts.end(attempt, AttemptResult::of(3), 10_300);
        let (dispatch, took) = (attempts.dispatch.get(), attempts.took.get());
        assert_eq!((dispatch.sum, dispatch.count(), took.sum, took.count()), (2_300, 1, 3_000, 1));
        assert_eq!(attempt.began(), 7);
    }

    #[test]
    fn codes_have_words() {
        let codes = [0, 1, 2, 3, 4, 5, -1].map(|code| AttemptResult::of(code).word());
        assert_eq!(codes, ["succeeded", "suspended", "failed", "error", "timeout", "other", "other"]);
    }
}
