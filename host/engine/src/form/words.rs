//! Names in a sentence.

/// `a, b or c`, each in backquotes.
pub fn listed(words: &[&str]) -> String {
    joined(words, "or")
}

/// Names that a message lists rather than says where to look for them.
const FEW_WORDS: usize = 8;

/// The names if there are few, else `otherwise`.
pub fn listed_if_few<'n>(names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    let names: Vec<&str> = names.take(FEW_WORDS + 1).collect();
    if (1..=FEW_WORDS).contains(&names.len()) { listed(&names) } else { otherwise.to_owned() }
}

/// Words that a message lists at most.
const MAX_LISTED_WORDS: usize = 24;

/// The words in backquotes, the last two joined by `conjunction`.
pub fn joined(words: &[&str], conjunction: &str) -> String {
    let mut quoted: Vec<_> = words.iter().take(MAX_LISTED_WORDS).map(|word| format!("`{word}`")).collect();
    if words.len() > MAX_LISTED_WORDS {
        quoted.push(format!("{} more", words.len() - MAX_LISTED_WORDS));
    }
    match quoted.as_slice() {
        [] => "no field".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}
