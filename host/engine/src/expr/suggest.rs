//! The word somebody probably meant.

/// How many letters may differ.
const MAX_DISTANCE: usize = 2;

/// The known word nearest to `word`, when one is near.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let near = known.map(|k| (distance(&word, k), k)).filter(|(d, k)| *d <= MAX_DISTANCE && *d < k.len());
    near.min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// Letters to insert, delete or replace to make `a` of `b` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cb, above) in b.chars().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(ca != cb)).min(left + 1).min(*above + 1);
            diagonal = std::mem::replace(above, best);
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
