//! Group commit: how long a commit waits for more jobs.
//!
//! A commit costs one sync of the disk, however much it makes durable. Where many write, a commit that waits a little takes more jobs with
//! it; where few do, waiting only delays them. The rule is that of PostgreSQL's `commit_delay` and `commit_siblings`.

use std::time::Duration;

/// Jobs that the last commit must have had, so that the next one waits for as many.
const MIN_SIBLINGS: usize = 5;
/// Longest wait. A commit waits twice as long as the last one took at most: a fast disk is not worth more.
const MAX_DELAY: Duration = Duration::from_millis(1);

/// Size and duration of the last commit, which decide on the next.
#[derive(Debug, Default)]
pub(super) struct GroupCommit {
    jobs: usize,
    took: Duration,
}

impl GroupCommit {
    /// Returns the number of jobs that the next commit waits for, and how long at most; nothing if it does not wait.
    pub(super) fn delay(&self) -> Option<(usize, Duration)> {
        (self.jobs >= MIN_SIBLINGS).then(|| (self.jobs, (self.took * 2).min(MAX_DELAY)))
    }

    /// Records a commit.
    pub(super) fn committed(&mut self, jobs: usize, took: Duration) {
        self.jobs = jobs;
        self.took = took;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_as_many_jobs_as_the_last_one_had() {
        let delay_after = |jobs, micros| {
            let mut group_commit = GroupCommit::default();
            group_commit.committed(jobs, Duration::from_micros(micros));
            group_commit.delay()
        };
        assert_eq!(GroupCommit::default().delay(), None);
        assert_eq!(delay_after(MIN_SIBLINGS - 1, 300), None);
        assert_eq!(delay_after(7, 300), Some((7, Duration::from_micros(600))));
        assert_eq!(delay_after(7, 30_000), Some((7, MAX_DELAY)));
    }
}
