//! Level of each item: below every item that it follows.

use std::collections::VecDeque;

use crate::items::After;

/// The level of each of `count`: the length of the longest way that leads to it.
pub(crate) fn ranks(count: usize, after: &[After]) -> Vec<usize> {
    let mut following: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut unmet = vec![0_usize; count];
    for After { from, to, .. } in after {
        if let (Some(following), Some(unmet)) = (following.get_mut(*from), unmet.get_mut(*to)) {
            following.push(*to);
            *unmet += 1;
        }
    }
    let mut ranks = vec![0; count];
    let mut ahead: VecDeque<usize> =
        unmet.iter().enumerate().filter_map(|(at, unmet)| (*unmet == 0).then_some(at)).collect();
    while let Some(at) = ahead.pop_front() {
        let below = ranks.get(at).copied().unwrap_or(0) + 1;
        for to in following.get(at).into_iter().flatten() {
            let (Some(rank), Some(unmet)) = (ranks.get_mut(*to), unmet.get_mut(*to)) else { continue };
            *rank = below.max(*rank);
            *unmet -= 1;
            if *unmet == 0 {
                ahead.push_back(*to);
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_below_what_it_follows() {
        let after = [(0, 1), (1, 2), (0, 2), (3, 2), (2, 4)];
        let after = after.map(|(from, to)| After { from, to, hook: false });
        assert_eq!(ranks(6, &after), [0, 1, 2, 0, 3, 0]);
        assert_eq!(ranks(0, &[]), Vec::<usize>::new());
    }
}
