//! Order of the cells on each level, so that few lines cross: sorting by the mean places of their neighbours.

/// Rounds of sorting, each down and up.
const ROUNDS: usize = 4;

/// A line from a cell on one level to a cell on the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) upper: usize,
    pub(crate) lower: usize,
}

/// Puts the levels into an order with few crossings; `gaps` are the lines below each level but the last.
pub(crate) fn reduce(levels: &mut Vec<Vec<usize>>, gaps: &[Vec<Link>], cells: usize) {
    let mut places = vec![0; cells];
    levels.iter().for_each(|level| record(level, &mut places));
    let mut best = (crossings(gaps, &places), levels.clone());
    for _ in 0..ROUNDS {
        if best.0 == 0 {
            break;
        }
        for (at, gap) in gaps.iter().enumerate() {
            sort(levels.get_mut(at + 1), gap.iter().map(|link| (link.lower, link.upper)), &mut places);
        }
        for (at, gap) in gaps.iter().enumerate().rev() {
            sort(levels.get_mut(at), gap.iter().map(|link| (link.upper, link.lower)), &mut places);
        }
        let now = crossings(gaps, &places);
        if now < best.0 {
            best = (now, levels.clone());
        }
    }
    *levels = best.1;
}

fn record(level: &[usize], places: &mut [usize]) {
    for (place, cell) in level.iter().enumerate() {
        if let Some(slot) = places.get_mut(*cell) {
            *slot = place;
        }
    }
}

fn place(places: &[usize], cell: usize) -> f64 {
    places.get(cell).copied().and_then(|place| u32::try_from(place).ok()).map_or(0.0, f64::from)
}

/// Sorts a level by the mean places of the cells on the other level that lines lead to. A line is a cell of this level and one of
/// the other.
fn sort(level: Option<&mut Vec<usize>>, lines: impl Iterator<Item = (usize, usize)>, places: &mut [usize]) {
    let Some(level) = level else { return };
    let mut means = vec![(0.0, 0.0); places.len()];
    for (own, other) in lines {
        if let Some((sum, count)) = means.get_mut(own) {
            *sum += place(places, other);
            *count += 1.0;
        }
    }
    let mean = |cell: usize| match means.get(cell) {
        Some((sum, count)) if *count > 0.0 => sum / count,
        Some(_) | None => place(places, cell),
    };
    level.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
    record(level, places);
}

/// Returns the number of pairs of lines that cross.
fn crossings(gaps: &[Vec<Link>], places: &[usize]) -> usize {
    gaps.iter().map(|gap| crossings_of(gap, places)).sum()
}

fn crossings_of(gap: &[Link], places: &[usize]) -> usize {
    let at = |cell: usize| places.get(cell).copied().unwrap_or(0);
    let mut lines: Vec<_> = gap.iter().map(|link| (at(link.upper), at(link.lower))).collect();
    lines.sort_unstable();
    let mut seen: Vec<usize> = Vec::with_capacity(lines.len());
    let mut crossed = 0;
    for (_, lower) in lines {
        let before = seen.partition_point(|other| *other <= lower);
        crossed += seen.len() - before;
        seen.insert(before, lower);
    }
    crossed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(links: &[(usize, usize)]) -> Vec<Link> {
        links.iter().map(|(upper, lower)| Link { upper: *upper, lower: *lower }).collect()
    }

    #[test]
    fn needless_crossings_are_removed() {
        let mut levels = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let gaps = [gap(&[(0, 5), (1, 4), (2, 3)])];
        assert_eq!(crossings_of(&gaps[0], &[0, 1, 2, 0, 1, 2]), 3);
        reduce(&mut levels, &gaps, 6);
        let mut places = vec![0; 6];
        levels.iter().for_each(|level| record(level, &mut places));
        assert_eq!(crossings(&gaps, &places), 0);
    }

    #[test]
    fn lines_from_one_or_to_one_do_not_cross() {
        assert_eq!(crossings_of(&gap(&[(0, 2), (0, 3), (1, 3)]), &[0, 1, 0, 1]), 0);
        assert_eq!(crossings_of(&gap(&[(0, 3), (1, 2)]), &[0, 1, 0, 1]), 1);
    }
}
