//! Number of tasks by phase.

use phasm_engine::phase::Phase;

use crate::sign::phase_word;

/// Phases in the order of bars: what has ended first, what is to come last.
pub(crate) const ORDER: [Phase; Phase::ALL.len()] = [
    Phase::Succeeded,
    Phase::Skipped,
    Phase::Cancelled,
    Phase::Timeout,
    Phase::Error,
    Phase::Failed,
    Phase::Suspended,
    Phase::Running,
    Phase::Ready,
    Phase::Created,
];

/// Number of tasks by phase. A plan has no phases, so its tasks are counted alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    phases: [u64; Phase::ALL.len()],
    planned: u64,
}

impl Tally {
    pub(crate) fn of(phase: Phase, tasks: u64) -> Self {
        let mut tally = Self::default();
        if let Some(count) = tally.phases.get_mut(phase as usize) {
            *count = tasks;
        }
        tally
    }

    pub(crate) fn planned(tasks: u64) -> Self {
        Self { planned: tasks, ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.phases.iter_mut().zip(other.phases) {
            *count = count.saturating_add(more);
        }
        self.planned = self.planned.saturating_add(other.planned);
    }

    /// Number of all tasks.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.phases.iter().fold(self.planned, |all, count| all.saturating_add(*count))
    }

    /// Returns the phases that occur, each with its number of tasks.
    pub fn phases(&self) -> impl Iterator<Item = (Phase, u64)> {
        Phase::ALL.into_iter().zip(self.phases).filter(|(_, count)| *count > 0)
    }

    /// Returns the phases that occur in the order of bars: what has ended first, what is to come last.
    pub fn in_order(&self) -> impl Iterator<Item = (Phase, u64)> {
        ORDER.into_iter().map(|phase| (phase, self.count(phase))).filter(|(_, count)| *count > 0)
    }

    /// Returns the number of those in one phase.
    #[must_use]
    pub fn count(&self, phase: Phase) -> u64 {
        self.phases.get(phase as usize).copied().unwrap_or(0)
    }

    /// Writes `3 tasks`, or `3 tasks: 2 Succeeded, 1 Failed`.
    #[must_use]
    pub fn summary(&self) -> String {
        self.summary_of("task")
    }

    /// Writes the same about something else than tasks.
    pub(crate) fn summary_of(&self, noun: &str) -> String {
        let count = self.tasks();
        let all = format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let phases: Vec<_> =
            self.phases().map(|(phase, count)| format!("{count} {}", phase_word(phase))).collect();
        if phases.is_empty() { all } else { format!("{all}: {}", phases.join(", ")) }
    }
}

impl FromIterator<Phase> for Tally {
    fn from_iter<I: IntoIterator<Item = Phase>>(phases: I) -> Self {
        let mut tally = Self::default();
        phases.into_iter().for_each(|phase| tally.add(&Self::of(phase, 1)));
        tally
    }
}
