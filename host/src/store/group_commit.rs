//! How long a commit waits for what else is to be written.
//!
//! A commit takes its time and a sync of the disk, however much it makes durable. Where many write, one that waits a little takes more with
//! it, and leaves the processor to those who compute meanwhile; where a few do, all of them wait for nothing. Which of the two it is shows in
//! what is written in a time, so both ways are tried, and what was better is kept.
//!
//! ```text
//!  at once … at once │ gathers │ at once … at once …      the trial was no better: the next comes later
//!  at once … at once │ gathers │ gathers … │ at once │ …   it was
//! ```

use std::time::{Duration, Instant};

/// Length of a measurement: the bytes written in this time are compared, by at least the minimum number of commits.
const WINDOW: Duration = Duration::from_millis(20);
const COMMITS: u32 = 8;
/// A window that took so many times as long had pauses in it, or a slow disk, whose commits are large by themselves.
const LONGEST: u32 = 4;
/// Factor by which gathering must be better, as other writers wait for it.
const BETTER: f64 = 1.05;
/// Windows before the first trial.
const FIRST: u32 = 2;
/// Windows from one trial to the next, doubled as long as nothing changes.
const REST: (u32, u32) = (8, 64);
/// A commit waits twice as long as the last one took, and no longer than this.
const PATIENCE: Duration = Duration::from_millis(1);

/// Decides it for one who commits.
#[derive(Debug)]
pub(super) struct GroupCommit {
    gathers: bool,
    /// The other way is being tried.
    tries: bool,
    /// Bytes per second of the current choice.
    kept: Option<f64>,
    since: Option<Instant>,
    jobs: usize,
    commits: u32,
    /// Windows until the next trial, and from that to the one after.
    left: u32,
    rest: u32,
    /// How much the last commit took with it, and how long that was.
    last: (usize, Duration),
}

impl Default for GroupCommit {
    fn default() -> Self {
        let (jobs, commits, last) = (0, 0, (0, Duration::ZERO));
        let (left, rest) = (FIRST, REST.0);
        Self { gathers: false, tries: false, kept: None, since: None, jobs, commits, left, rest, last }
    }
}

impl GroupCommit {
    /// For how many jobs the next commit waits, and how long at most; nothing, if it does not.
    pub(super) fn waits(&self) -> Option<(usize, Duration)> {
        let (jobs, took) = self.last;
        (self.gathers && jobs > 1).then(|| (jobs, (took * 2).min(PATIENCE)))
    }

    /// A commit of so many jobs is over, which took so long.
    pub(super) fn committed(&mut self, jobs: usize, took: Duration, now: Instant) {
        self.last = (jobs, took);
        self.jobs += jobs;
        self.commits += 1;
        let length = self.since.map(|since| now.saturating_duration_since(since));
        match length {
            None => self.next(now),
            Some(length) if length > WINDOW * LONGEST => *self = Self { since: Some(now), ..Self::default() },
            Some(length) if length < WINDOW || self.commits < COMMITS => {}
            Some(length) => {
                self.judge(self.jobs as f64 / length.as_secs_f64());
                self.next(now);
            }
        }
    }

    fn next(&mut self, now: Instant) {
        self.since = Some(now);
        self.jobs = 0;
        self.commits = 0;
    }

    /// Takes the measured bytes per second of the last window.
    fn judge(&mut self, rate: f64) {
        if self.tries {
            let kept = self.kept.unwrap_or(0.0);
            let is_better = if self.gathers { rate > kept * BETTER } else { rate * BETTER >= kept };
            self.tries = false;
            if is_better {
                self.kept = Some(rate);
                self.rest = REST.0;
            } else {
                self.gathers = !self.gathers;
                self.rest = (self.rest * 2).min(REST.1);
            }
            self.left = self.rest;
            return;
        }
        self.kept = Some(self.kept.map_or(rate, |kept| f64::midpoint(kept, rate)));
        let are_several = self.jobs > self.commits as usize * 3 / 2;
        if self.gathers && !are_several {
            *self = Self::default();
        } else if are_several {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                self.gathers = !self.gathers;
                self.tries = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CommitCounters for so long, of so many jobs each and so far apart, at once and gathered; how long it gathered, in hundredths.
    fn commits(
        group_commit: &mut GroupCommit,
        now: &mut Instant,
        at_once: (usize, u64),
        gathered: (usize, u64),
    ) -> u128 {
        let (began, mut gathers) = (*now, Duration::ZERO);
        while now.duration_since(began) < Duration::from_secs(10) {
            let (jobs, micros) = if group_commit.waits().is_some() { gathered } else { at_once };
            let apart = Duration::from_micros(micros);
            gathers += if group_commit.waits().is_some() { apart } else { Duration::ZERO };
            *now += apart;
            group_commit.committed(jobs, apart / 2, *now);
        }
        gathers.as_millis() * 100 / now.duration_since(began).as_millis()
    }

    #[test]
    fn what_writes_more_is_kept_and_the_other_tried_now_and_then() {
        let (mut group_commit, mut now) = (GroupCommit::default(), Instant::now());
        assert!(commits(&mut group_commit, &mut now, (5, 250), (32, 1000)) > 95);
        // Fewer write now, and wait for each other.
        assert!(commits(&mut group_commit, &mut now, (4, 250), (8, 900)) < 10);
        // No better is not better.
        assert!(commits(&mut group_commit, &mut now, (4, 250), (16, 1000)) < 10);
    }

    #[test]
    fn nobody_waits_where_nobody_else_writes() {
        let (mut group_commit, mut now) = (GroupCommit::default(), Instant::now());
        assert_eq!(commits(&mut group_commit, &mut now, (1, 250), (9, 250)), 0);
        commits(&mut group_commit, &mut now, (5, 250), (32, 1000));
        assert!(group_commit.waits().is_some());
        now += Duration::from_secs(60);
        group_commit.committed(5, Duration::from_millis(1), now);
        assert_eq!(group_commit.waits(), None);
        // Nor where a disk is so slow that what waits is much anyway.
        assert_eq!(commits(&mut group_commit, &mut now, (200, 20_000), (400, 20_000)), 0);
    }

    #[test]
    fn a_commit_waits_for_as_many_as_the_last_and_a_bounded_time() {
        let (mut group_commit, mut now) = (GroupCommit::default(), Instant::now());
        commits(&mut group_commit, &mut now, (5, 250), (32, 1000));
        group_commit.committed(7, Duration::from_micros(300), now);
        assert_eq!(group_commit.waits(), Some((7, Duration::from_micros(600))));
        group_commit.committed(7, Duration::from_millis(30), now);
        assert_eq!(group_commit.waits(), Some((7, PATIENCE)));
        group_commit.committed(1, Duration::from_millis(30), now);
        assert_eq!(group_commit.waits(), None);
    }
}
