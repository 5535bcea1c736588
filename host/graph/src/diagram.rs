//! Diagram of a plan or a run: boxes in boxes, level by level.

use phasm_engine::{plan::Plan, run::Run};

use crate::{items::Source, look::Look, pick, tally::Tally};

/// Maximum sizes of a picture. Boxes beyond them are counted in one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Boxes in all, of which those of the root may be more.
    pub boxes: usize,
    /// Boxes on one level of a container.
    pub across: usize,
    /// Levels of a container.
    pub down: usize,
    /// Boxes of a container in which nothing follows anything, as iterations of a loop.
    pub alike: usize,
    /// Lines of a container.
    pub lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { boxes: 400, across: 12, down: 30, alike: 24, lines: 2000 }
    }
}

/// One box after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Follows {
    /// The upper one.
    pub from: usize,
    /// Whether it is a hook of the other.
    pub hook: bool,
    /// The lower one.
    pub to: usize,
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Text and signs of the box.
    pub look: Look,
    /// The box it stands in; of the first, which is the page, itself.
    pub parent: usize,
    /// The boxes in it, level by level; nothing in one that is closed.
    pub levels: Vec<Vec<usize>>,
    /// Which of those in it follow which, downwards, sorted.
    pub follows: Vec<Follows>,
    /// The tasks that it stands for: nothing if it is open.
    pub tally: Tally,
}

/// Diagram of a plan or a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The workflow's name.
    pub name: String,
    /// Id of the run; `None` for a plan.
    pub run_id: Option<String>,
    /// The boxes: the first is the page, and each stands behind the one that it is in.
    pub boxes: Vec<Shown>,
    /// Lines that were too many.
    pub lines_left_out: usize,
}

impl Diagram {
    /// Returns the diagram of a plan.
    #[must_use]
    pub fn of_plan(plan: &Plan, limits: Limits) -> Self {
        Self::of(&Source::plan(plan), plan.name.to_string(), None, limits)
    }

    /// Returns the diagram of a run in its present state.
    #[must_use]
    pub fn of_run(run: &Run, limits: Limits) -> Self {
        Self::of(&Source::run(run), run.plan().name.to_string(), Some(run.id().to_string()), limits)
    }

    fn of(source: &Source<'_>, name: String, run_id: Option<String>, limits: Limits) -> Self {
        let (boxes, lines_left_out) = pick::pick(source, limits);
        Self { name, run_id, boxes, lines_left_out }
    }

    /// The tasks that it stands for.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.boxes.iter().for_each(|shown| all.add(&shown.tally));
        all
    }

    /// The boxes in the order in which one reads them, each with how deep it stands; without the page.
    pub(crate) fn read(&self) -> Vec<(usize, usize)> {
        let mut read = Vec::with_capacity(self.boxes.len());
        let mut ahead = vec![(0_usize, 0_usize)];
        while let Some((at, depth)) = ahead.pop() {
            if at > 0 {
                read.push((at, depth - 1));
            }
            let inside = self.boxes.get(at).into_iter().flat_map(|shown| shown.levels.iter().flatten());
            let inside: Vec<_> = inside.map(|inside| (*inside, depth + 1)).collect();
            ahead.extend(inside.into_iter().rev());
        }
        read
    }
}
