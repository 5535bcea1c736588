//! Which tasks come before which: only asked where an expression reads another task.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    document::{DagDoc, KindDoc, OverDoc, ReadAt},
    plan::NodeIndex,
};

use super::index::{Callee, Index};

/// Pairs of a task and one that comes before it.
pub(in crate::plan) type Upstream = BTreeSet<(NodeIndex, NodeIndex)>;

/// Targets followed through the graph at once, one bit each.
type Bits = u128;

/// Returns those pairs of a task and a task it reads in which the second comes before the first; `order` has every task behind
/// the tasks it waits for.
///
/// One pass through the graph answers for as many targets as there are bits, so that a hostile document costs little more than a
/// long one.
pub(in crate::plan) fn resolve(
    asked: &BTreeSet<(NodeIndex, NodeIndex)>,
    dependencies: &[Vec<NodeIndex>],
    order: &[NodeIndex],
) -> Upstream {
    let mut by_target: BTreeMap<NodeIndex, Vec<NodeIndex>> = BTreeMap::new();
    for (task, target) in asked {
        by_target.entry(*target).or_default().push(*task);
    }
    let targets: Vec<_> = by_target.into_iter().collect();
    let mut found = Upstream::new();
    for batch in targets.chunks(usize::try_from(Bits::BITS).unwrap_or(1)) {
        let reached = follow(batch.iter().map(|(target, _)| *target), dependencies, order);
        for (bit, (target, tasks)) in batch.iter().enumerate() {
            let before = |task: &&NodeIndex| reached.get(**task).is_some_and(|bits| bits >> bit & 1 == 1);
            found.extend(tasks.iter().filter(before).map(|task| (*task, *target)));
        }
    }
    found
}

/// For each task, which of `targets` come before it.
fn follow(
    targets: impl Iterator<Item = NodeIndex>,
    dependencies: &[Vec<NodeIndex>],
    order: &[NodeIndex],
) -> Vec<Bits> {
    let mut own = vec![0; dependencies.len()];
    for (bit, target) in targets.enumerate() {
        if let Some(bits) = own.get_mut(target) {
            *bits |= 1 << bit;
        }
    }
    let mut reached: Vec<Bits> = vec![0; dependencies.len()];
    for task in order {
        let bits = |first: &NodeIndex| {
            reached.get(*first).copied().unwrap_or(0) | own.get(*first).copied().unwrap_or(0)
        };
        let before = dependencies.get(*task).into_iter().flatten().fold(0, |all, first| all | bits(first));
        if let Some(slot) = reached.get_mut(*task) {
            *slot = before;
        }
    }
    reached
}

/// Every pair of a task and another task that it reads, in its own expressions or in the itemsFrom of a loop it calls.
pub(in crate::plan) fn asked(index: &Index<'_>, dag: &DagDoc) -> BTreeSet<(NodeIndex, NodeIndex)> {
    let mut asked = BTreeSet::new();
    for (position, task) in dag.tasks.list.iter().enumerate() {
        let mut ask = |found: ReadAt<'_>| asked.extend(target(dag, &found).map(|target| (position, target)));
        task.each_read(&mut ask);
        if let Callee::Container(_, template) = index.callee(task)
            && let KindDoc::Loop(read) = &template.kind
            && let OverDoc::ItemsFrom(expr) = &read.over
        {
            expr.reads().for_each(ask);
        }
    }
    asked
}

fn target(dag: &DagDoc, found: &ReadAt<'_>) -> Option<NodeIndex> {
    match found.read.path.as_slice() {
        [root, name, ..] if matches!(&**root, "tasks" | "steps") => dag.tasks.position(name),
        // A problem, whose hint depends on it.
        [name, ..] => dag.tasks.position(name),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_answered_across_batches() {
        let count = 300;
        let chain: Vec<Vec<NodeIndex>> =
            (0..count).map(|n: usize| n.checked_sub(1).into_iter().collect()).collect();
        let order: Vec<_> = (0..count).collect();
        let asked = (0..count).flat_map(|task| (0..count).map(move |target| (task, target))).collect();
        let found = resolve(&asked, &chain, &order);
        let expected = (0..count).flat_map(|task| (0..task).map(move |target| (task, target))).collect();
        assert_eq!(found, expected);
    }
}
