//! The word the author probably meant.

/// Bytes of the longest word that is compared with others.
const MAX_WORD_BYTES: usize = 100;
/// Known words that are looked at.
const MAX_CANDIDATES: usize = 10_000;
/// Known words that are compared letter by letter, which takes time as the product of both lengths.
const MAX_COMPARED: usize = 200;

/// The known word nearest to `word`, when one is near. Does a bounded amount of work, however many words are known.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut search = Search::new(word)?;
    known.into_iter().take(MAX_CANDIDATES).for_each(|known| search.look_at(known));
    search.best.map(|(_, known)| known)
}

/// The search for the word nearest to one.
struct Search<'a> {
    word: String,
    letters: Letters,
    best: Option<(usize, &'a str)>,
    compared: usize,
}

impl<'a> Search<'a> {
    fn new(word: &str) -> Option<Self> {
        let word = Some(word).filter(|word| word.len() <= MAX_WORD_BYTES)?.to_lowercase();
        Some(Self { letters: Letters::of(&word), word, best: None, compared: 0 })
    }

    fn look_at(&mut self, known: &'a str) {
        if known.len().abs_diff(self.word.len()) > 3 || self.compared >= MAX_COMPARED {
            return;
        }
        // A third of the letters may differ: `limt` is `limit`, but `to` is not `do`.
        let allowed = (known.chars().count().max(3) / 3).min(known.len().saturating_sub(1));
        let most = self.best.map_or(allowed, |(distance, _)| allowed.min(distance.saturating_sub(1)));
        let lower = known.to_lowercase();
        if self.best.is_some_and(|(distance, _)| distance == 0) || self.letters.apart(&lower) > most {
            return;
        }
        self.compared += 1;
        let distance = distance(&self.word, &lower);
        if distance <= most {
            self.best = Some((distance, known));
        }
    }
}

/// How often each letter occurs in a word, in a few classes of letters.
struct Letters([i32; 64]);

impl Letters {
    fn of(word: &str) -> Self {
        let mut letters = Self([0; 64]);
        letters.add(word, 1);
        letters
    }

    fn add(&mut self, word: &str, times: i32) {
        for letter in word.chars() {
            if let Some(count) = self.0.get_mut(letter as usize % 64) {
                *count += times;
            }
        }
    }

    /// How many letters differ whatever their order: the distance is no less.
    fn apart(&self, other: &str) -> usize {
        let mut left = Self(self.0);
        left.add(other, -1);
        let sum = |sign: i32| left.0.iter().map(|count| (count * sign).max(0)).sum::<i32>();
        usize::try_from(sum(1).max(sum(-1))).unwrap_or(0)
    }
}

/// The hint "did you mean …?", if a known word is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|known| format!("did you mean `{known}`?"))
}

/// Letters to insert, delete, replace or swap with their neighbour to make `a` of `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut above): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    let mut last = None;
    for (i, ca) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(0);
            let left = at(&row, j);
            let mut best = (at(&above, j) + usize::from(ca != *cb)).min(at(&above, j + 1) + 1).min(left + 1);
            if j > 0 && last == Some(*cb) && b.get(j - 1) == Some(&ca) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        (before, above, last) = (above, row, Some(ca));
    }
    above.last().copied().unwrap_or(0)
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

    /// However many words are known, few are compared, and the nearest is found among many that are near.
    #[test]
    fn few_words_are_compared() {
        let known: Vec<String> = (0..100_000).map(|n| format!("task-number-{n}")).collect();
        let mut search = Search::new("task-numbr-417").unwrap();
        known.iter().take(MAX_CANDIDATES).for_each(|known| search.look_at(known));
        assert_eq!(search.best, Some((1, "task-number-417")));
        assert!(search.compared <= MAX_COMPARED, "{}", search.compared);
        let alike: Vec<String> = (0..100_000).map(|n| format!("{n:05}{}", "x".repeat(90))).collect();
        let mut search = Search::new(&format!("abcde{}", "x".repeat(90))).unwrap();
        alike.iter().for_each(|known| search.look_at(known));
        assert!(search.compared <= MAX_COMPARED, "{}", search.compared);
    }

    #[test]
    fn words_of_a_megabyte_are_not_compared() {
        let word = "a".repeat(1 << 20);
        assert_eq!(nearest(&word, [format!("{word}b").as_str()]), None);
    }
}
