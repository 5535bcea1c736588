//! Orders and cycles of directed graphs.

use std::collections::{BTreeMap, BTreeSet};

/// Vertices in the order of their dependencies.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::plan) struct Order {
    /// All vertices; each one behind what it waits for, cycles aside.
    pub(in crate::plan) order: Vec<usize>,
    /// Disjoint cycles, each vertex waiting for the next and the last for the first.
    pub(in crate::plan) cycles: Vec<Vec<usize>>,
}

/// Puts the vertices in order; `waits_for[v]` are those that come before `v`.
pub(in crate::plan) fn order(waits_for: &[Vec<usize>]) -> Order {
    let mut open: Vec<usize> = waits_for.iter().map(Vec::len).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); waits_for.len()];
    for (vertex, before) in waits_for.iter().enumerate() {
        for first in before {
            if let Some(list) = waiting.get_mut(*first) {
                list.push(vertex);
            }
        }
    }
    let mut left: BTreeSet<usize> = (0..waits_for.len()).collect();
    let mut ready: Vec<usize> = left.iter().copied().filter(|v| open.get(*v) == Some(&0)).collect();
    let mut found = Order { order: Vec::with_capacity(waits_for.len()), cycles: Vec::new() };
    loop {
        while let Some(vertex) = ready.pop() {
            if !left.remove(&vertex) {
                continue;
            }
            found.order.push(vertex);
            for next in waiting.get(vertex).into_iter().flatten() {
                if let Some(count) = open.get_mut(*next) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        ready.push(*next);
                    }
                }
            }
        }
        let Some(start) = left.first().copied() else { return found };
        let cycle = cycle_from(start, waits_for, &left);
        ready.extend(&cycle);
        found.cycles.push(cycle);
    }
}

/// A cycle among `left`, each of which waits for another of them, reached from `start`; its least vertex first.
fn cycle_from(start: usize, waits_for: &[Vec<usize>], left: &BTreeSet<usize>) -> Vec<usize> {
    let mut position = BTreeMap::new();
    let mut path = Vec::new();
    let mut at = start;
    while !position.contains_key(&at) {
        position.insert(at, path.len());
        path.push(at);
        let next = waits_for.get(at).into_iter().flatten().find(|next| left.contains(next));
        at = next.copied().unwrap_or(start);
    }
    let mut cycle = path.split_off(position.get(&at).copied().unwrap_or(0));
    let least = cycle.iter().enumerate().min_by_key(|(_, vertex)| **vertex).map_or(0, |(index, _)| index);
    cycle.rotate_left(least);
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_later() {
        let found = order(&[vec![1, 2], vec![2], vec![], vec![0]]);
        assert_eq!(found, Order { order: vec![2, 1, 0, 3], cycles: vec![] });
    }

    #[test]
    fn every_cycle_is_found_and_the_rest_is_in_order() {
        let found = order(&[vec![0], vec![3], vec![1], vec![2], vec![3], vec![]]);
        assert_eq!(found.cycles, [vec![0], vec![1, 3, 2]]);
        let mut all = found.order;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn long_chains_take_no_stack() {
        let chain: Vec<Vec<usize>> =
            (0..200_000).map(|n: usize| n.checked_sub(1).into_iter().collect()).collect();
        assert!(order(&chain).order.iter().copied().eq(0..200_000));
    }
}
