//! Diagram of a plan or a run: nodes in nodes, level by level.

use phasm_engine::{plan::Plan, run::Run};

use crate::{
    items::Source,
    model::{Limits, Node},
    pick::{self, Selection},
    tally::Tally,
};

/// Diagram of a plan or a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The workflow's name.
    pub name: String,
    /// Id of the run; `None` for a plan.
    pub run_id: Option<String>,
    /// The nodes. The first is the page, and each comes after the node around it.
    pub nodes: Vec<Node>,
    /// Number of lines beyond the limit.
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
        let Selection { nodes, lines_left_out } = pick::pick(source, limits);
        Self { name, run_id, nodes, lines_left_out }
    }

    /// Counts all tasks.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.nodes.iter().for_each(|node| all.add(&node.tally));
        all
    }

    /// Returns the number and depth of each node but the page, in reading order.
    pub(crate) fn in_reading_order(&self) -> Vec<(usize, usize)> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack = vec![(0_usize, 0_usize)];
        while let Some((at, depth)) = stack.pop() {
            if at > 0 {
                order.push((at, depth - 1));
            }
            let inside = self.nodes.get(at).into_iter().flat_map(|node| node.levels.iter().flatten());
            let inside: Vec<_> = inside.map(|inside| (*inside, depth + 1)).collect();
            stack.extend(inside.into_iter().rev());
        }
        order
    }
}
