//! The word somebody probably meant.

/// Bytes of the longest word that is compared with others: to compare takes time and memory as the product of both
/// lengths.
const LONGEST: usize = 100;

/// The known word nearest to `word`, when one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    // A third of the letters may differ: `limt` is `limit`, but `to` is not `do`.
    let allowed = |known: &str| known.chars().count().max(3) / 3;
    known
        .into_iter()
        .filter(|known| known.len().abs_diff(word.len()) <= 3)
        .map(|known| (distance(&lower, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= allowed(known) && *distance < known.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The hint "did you mean …?", if a known word is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|known| format!("did you mean `{known}`?"))
}

/// Letters to insert, delete, replace or swap with their neighbour to make `a` of `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let at =
                |row: usize, column: usize| rows.get(row).and_then(|r| r.get(column)).copied().unwrap_or(0);
            let left = row.get(j).copied().unwrap_or(0);
            let mut best = (at(i, j) + usize::from(ca != cb)).min(at(i, j + 1) + 1).min(left + 1);
            if i > 0 && j > 0 && Some(ca) == b.get(j - 1) && a.get(i - 1) == Some(cb) {
                best = best.min(at(i - 1, j - 1) + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let fields = ["retry", "timeout", "template", "to", "when", "limit"];
        for (word, expected) in [
            ("rety", Some("retry")),
            ("Timeout", Some("timeout")),
            ("time_out", Some("timeout")),
            ("tmeplate", Some("template")),
            ("limt", Some("limit")),
            ("wehn", Some("when")),
            ("do", Some("to")),
            ("", None),
            ("priority", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, fields), expected, "{word}");
        }
    }

    #[test]
    fn words_of_a_megabyte_are_not_compared() {
        let word = "a".repeat(1 << 20);
        assert_eq!(nearest(&word, [format!("{word}b").as_str()]), None);
    }
}
