//! Iterations of a loop that is one node: counted by phase, in order as a strip, and a list of those to look at.

use phasm_engine::{
    event::{Reason, TaskId},
    phase::{Phase, TaskKind},
    run::{Run, TaskRun},
};

use crate::{
    item_name::short_item,
    label::{Label, detail, task_word},
    sign::phase_word,
    tally::Tally,
};

/// Cells of a strip.
const MAX_CELLS: usize = 60;
/// [`importance`] of phases that are alike to a reader who looks for what happens now.
pub(crate) const ORDINARY: u8 = 3;

/// Iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iterations {
    /// Iterations by phase. An iteration with a suspended task counts as suspended.
    pub tally: Tally,
    /// Cells of a strip, in the order of the iterations. Each has the most important phase of the iterations it stands for.
    pub strip: Vec<Phase>,
}

impl Iterations {
    fn of(phases: &[Phase]) -> Self {
        let tally = phases.iter().copied().collect();
        let cells = phases.len().min(MAX_CELLS);
        let begin = |cell: usize| cell * phases.len() / cells.max(1);
        let slice = |cell| phases.get(begin(cell)..begin(cell + 1)).unwrap_or_default();
        let strip =
            (0..cells).filter_map(|cell| slice(cell).iter().copied().min_by_key(|one| importance(*one)));
        Self { tally, strip: strip.collect() }
    }

    /// Writes `498 of 500 Succeeded · 2 Failed`, or of a loop that has not ended `261 of 502 ended · 2 Failed`.
    pub(crate) fn standing(&self, has_ended: bool) -> String {
        let all = self.tally.tasks();
        let ended = self.tally.phases().filter(|(phase, _)| phase.is_terminal());
        let begin = if has_ended {
            format!("{} of {all} Succeeded", self.tally.count(Phase::Succeeded))
        } else {
            format!("{} of {all} ended", ended.map(|(_, count)| count).sum::<u64>())
        };
        let others = self.counts(|phase| needs_a_look(phase) || (has_ended && phase != Phase::Succeeded));
        std::iter::once(begin).chain(others).collect::<Vec<_>>().join(" · ")
    }

    /// Writes `500 iterations, 2 Failed`.
    pub(crate) fn summary(&self) -> String {
        let all = self.tally.tasks();
        let begin = format!("{all} iteration{}", if all == 1 { "" } else { "s" });
        std::iter::once(begin).chain(self.counts(needs_a_look)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the counts of some phases in words, the most important phase first.
    fn counts(&self, of: impl Fn(Phase) -> bool) -> Vec<String> {
        let mut counts: Vec<_> = self.tally.phases().filter(|(phase, _)| of(*phase)).collect();
        counts.sort_by_key(|(phase, _)| importance(*phase));
        counts.into_iter().map(|(phase, count)| format!("{count} {}", phase_word(phase))).collect()
    }
}

/// Content of a loop that is one node.
pub(crate) struct ClosedLoop {
    pub(crate) iterations: Iterations,
    /// Tasks that are not in the list.
    pub(crate) rest: Tally,
    /// Iterations that failed or are suspended, each with its tasks; the last row may stand for several.
    pub(crate) listed: Vec<(Label, Tally)>,
}

impl ClosedLoop {
    /// Counts the iterations of a loop. `tally` counts the tasks of one.
    pub(crate) fn of(
        run: &Run,
        iterations: &[&TaskRun],
        max_listed: usize,
        tally: impl Fn(&TaskRun) -> Tally,
    ) -> Self {
        let phases: Vec<_> = iterations.iter().map(|iteration| phase_of(run, iteration)).collect();
        let mut chosen: Vec<_> =
            iterations.iter().zip(&phases).filter(|(_, phase)| needs_a_look(**phase)).collect();
        chosen.sort_by_key(|(_, phase)| importance(**phase));
        let mut unlisted = chosen.split_off(chosen.len().min(max_listed));
        let mut listed: Vec<_> = chosen
            .iter()
            .map(|(iteration, phase)| (row(run, iteration, **phase), tally(iteration)))
            .collect();
        if !unlisted.is_empty() && max_listed > 0 {
            let (mut phases, mut tasks) = (Tally::default(), Tally::default());
            for (iteration, phase) in &unlisted {
                phases.add(&Tally::of(**phase, 1));
                tasks.add(&tally(iteration));
            }
            listed.push((Label::unlisted(unlisted.len(), phases.summary_of("iteration")), tasks));
            chosen.append(&mut unlisted);
        }
        let mut is_in_list: Vec<TaskId> = chosen.iter().map(|(iteration, _)| iteration.id).collect();
        is_in_list.sort_unstable();
        let mut rest = Tally::default();
        for iteration in iterations.iter().filter(|one| is_in_list.binary_search(&one.id).is_err()) {
            rest.add(&tally(iteration));
        }
        Self { iterations: Iterations::of(&phases), rest, listed }
    }
}

/// Returns the rank of a phase where there is no room for all: what failed is first, what went well is last.
pub(crate) fn importance(phase: Phase) -> u8 {
    match phase {
        Phase::Failed | Phase::Error | Phase::Timeout => 0,
        Phase::Suspended => 1,
        Phase::Running => 2,
        Phase::Ready => ORDINARY,
        Phase::Created => 4,
        Phase::Cancelled => 5,
        Phase::Skipped => 6,
        Phase::Succeeded => 7,
    }
}

/// Whether a person should see an iteration: it failed, or is suspended.
fn needs_a_look(phase: Phase) -> bool {
    importance(phase) <= importance(Phase::Suspended)
}

/// Returns the phase that an iteration counts as: Suspended if a task in it is.
fn phase_of(run: &Run, iteration: &TaskRun) -> Phase {
    let phase = Reason::counts_as(iteration.phase, iteration.reason);
    let mut queue = vec![iteration];
    while let Some(task) = queue.pop().filter(|_| !phase.is_terminal()) {
        if task.phase == Phase::Suspended {
            return Phase::Suspended;
        }
        queue.extend(run.children(task).filter(|child| !child.phase.is_terminal()));
    }
    phase
}

/// Returns the row of an iteration. It leads to the task that failed or is suspended, if that is one.
fn row(run: &Run, iteration: &TaskRun, phase: Phase) -> Label {
    let cause = cause(run, iteration);
    let word = if phase == iteration.phase { phase_word(phase) } else { task_word(run, cause) };
    let mut parts = vec![word.to_owned()];
    if cause.id != iteration.id {
        parts = vec![format!("{word} in {}", run.label(cause))];
    }
    parts.extend(Some(detail(run, cause)).filter(|detail| !detail.is_empty()));
    // `[37] Ada`
    let name = format!("[{}] {}", iteration.place.position(), short_item(run, iteration));
    let (name, note, detail) = (name.trim_end().to_owned(), parts.join(" · "), String::new());
    Label { name, note, detail, phase: Some(phase), ..Label::of_task(run, cause) }
}

/// Returns the innermost task that failed, or is suspended, if it is the only one in an iteration; otherwise the iteration.
fn cause<'a>(run: &'a Run, iteration: &'a TaskRun) -> &'a TaskRun {
    let mut found = None;
    let mut queue = vec![iteration];
    while let Some(task) = queue.pop() {
        let before = queue.len();
        if run.kind(task) == TaskKind::Wrapper {
            // Earlier attempts were retried.
            queue.extend(run.children(task).next_back());
        } else {
            queue.extend(run.children(task));
        }
        let is_leaf = queue.len() == before;
        let is_cause = is_leaf && needs_a_look(Reason::counts_as(task.phase, task.reason));
        if is_cause && found.replace(task).is_some() {
            return iteration;
        }
    }
    found.unwrap_or(iteration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_most_important_phase_of_its_slice() {
        let mut phases = vec![Phase::Succeeded; 500];
        phases[37] = Phase::Failed;
        phases[499] = Phase::Running;
        let Iterations { tally, strip } = Iterations::of(&phases);
        assert_eq!((strip.len(), tally.tasks()), (MAX_CELLS, 500));
        let others: Vec<_> =
            strip.iter().enumerate().filter(|(_, phase)| **phase != Phase::Succeeded).collect();
        assert_eq!(others, [(4, &Phase::Failed), (59, &Phase::Running)]);
        assert_eq!(Iterations::of(&phases[..3]).strip, [Phase::Succeeded; 3]);
    }

    #[test]
    fn iterations_are_counted_in_words() {
        let mut phases = vec![Phase::Succeeded; 500];
        phases[3] = Phase::Failed;
        phases[4] = Phase::Error;
        let ended = Iterations::of(&phases);
        assert_eq!(ended.standing(true), "498 of 500 Succeeded · 1 Failed · 1 Error");
        assert_eq!(ended.summary(), "500 iterations, 1 Failed, 1 Error");
        phases.extend([Phase::Running, Phase::Suspended]);
        assert_eq!(
            Iterations::of(&phases).standing(false),
            "500 of 502 ended · 1 Failed · 1 Error · 1 Waiting for approval"
        );
        assert_eq!(Iterations::of(&phases[..1]).summary(), "1 iteration");
    }
}
