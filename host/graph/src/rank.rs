//! Level of each item: below every item that it follows.

use std::collections::VecDeque;

use crate::model::Edge;

/// Returns the level of each of `count` items: the length of the longest path that leads to it.
pub(crate) fn ranks(count: usize, edges: &[Edge]) -> Vec<usize> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut unmet = vec![0_usize; count];
    for Edge { from, to, .. } in edges {
        if let (Some(successors), Some(unmet)) = (successors.get_mut(*from), unmet.get_mut(*to)) {
            successors.push(*to);
            *unmet += 1;
        }
    }
    let mut ranks = vec![0; count];
    let mut queue: VecDeque<usize> =
        unmet.iter().enumerate().filter_map(|(at, unmet)| (*unmet == 0).then_some(at)).collect();
    while let Some(at) = queue.pop_front() {
        let below = ranks.get(at).copied().unwrap_or(0) + 1;
        for to in successors.get(at).into_iter().flatten() {
            let (Some(rank), Some(unmet)) = (ranks.get_mut(*to), unmet.get_mut(*to)) else { continue };
            *rank = below.max(*rank);
            *unmet -= 1;
            if *unmet == 0 {
                queue.push_back(*to);
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_below_their_predecessors() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2), (2, 4)];
        let edges = edges.map(|(from, to)| Edge { from, to, hook: false });
        assert_eq!(ranks(6, &edges), [0, 1, 2, 0, 3, 0]);
        assert_eq!(ranks(0, &[]), Vec::<usize>::new());
    }
}
