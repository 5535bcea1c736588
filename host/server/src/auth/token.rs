//! Tokens that stand for a key for some time: sessions of browsers, and login tickets.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use phasm::fair_queue::{FairQueue, Holder, Place};
use sha2::{Digest as _, Sha256};

type TokenDigest = [u8; 32];

/// Why there is no new token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// The system has no random bytes.
    #[error(transparent)]
    Random(#[from] getrandom::Error),
    /// Other keys have all the places.
    #[error("no more tokens are possible until some of other keys end")]
    Full,
}

/// Valid tokens. For one more than its share a holder loses its own oldest one, and never that of another.
pub(super) struct Tokens {
    places: FairQueue,
    lifetime: Duration,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last_number: u64,
    /// The oldest first, which ends first.
    tokens: BTreeMap<u64, Token>,
    by_digest: HashMap<TokenDigest, u64>,
    by_holder: BTreeMap<(Arc<str>, Arc<str>), BTreeSet<u64>>,
}

/// One token.
struct Token {
    digest: TokenDigest,
    /// Key of the token. `None` on a server that requires no key.
    key: Option<String>,
    until: Instant,
    place: Place,
}

impl Tokens {
    pub(super) fn new(places: FairQueue, lifetime: Duration) -> Self {
        Self { places, lifetime, table: Mutex::default() }
    }

    /// Makes a token for a key of that holder, and returns its word.
    pub(super) fn begin(
        &self,
        holder: &Holder,
        key: Option<String>,
        now: Instant,
    ) -> Result<String, TokenError> {
        let word = random::<32>()?;
        let mut table = self.table();
        table.drop_ended(now);
        let place = loop {
            match self.places.try_enter(holder) {
                Some(place) => break place,
                None if table.drop_oldest(holder) => {}
                None => return Err(TokenError::Full),
            }
        };
        table.add(Token { digest: digest(&word), key, until: now + self.lifetime, place });
        Ok(word)
    }

    /// Returns the key of a valid token.
    pub(super) fn find(&self, word: &str, now: Instant) -> Option<Option<String>> {
        let table = self.table();
        let token = table.tokens.get(table.by_digest.get(&digest(word))?)?;
        (token.until > now).then(|| token.key.clone())
    }

    /// Ends a token, and returns its key if it was valid.
    pub(super) fn take(&self, word: &str, now: Instant) -> Option<Option<String>> {
        let mut table = self.table();
        let number = *table.by_digest.get(&digest(word))?;
        table.remove(number).filter(|token| token.until > now).map(|token| token.key)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn add(&mut self, token: Token) {
        self.last_number += 1;
        self.by_digest.insert(token.digest, self.last_number);
        self.by_holder.entry(name(token.place.holder())).or_default().insert(self.last_number);
        self.tokens.insert(self.last_number, token);
    }

    fn remove(&mut self, number: u64) -> Option<Token> {
        let token = self.tokens.remove(&number)?;
        self.by_digest.remove(&token.digest);
        let name = name(token.place.holder());
        if let Some(own) = self.by_holder.get_mut(&name) {
            own.remove(&number);
            if own.is_empty() {
                self.by_holder.remove(&name);
            }
        }
        Some(token)
    }

    fn drop_ended(&mut self, now: Instant) {
        while let Some((number, _)) = self.tokens.first_key_value().filter(|(_, token)| token.until <= now) {
            let number = *number;
            self.remove(number);
        }
    }

    /// Returns whether the holder had one.
    fn drop_oldest(&mut self, holder: &Holder) -> bool {
        let oldest = self.by_holder.get(&name(holder)).and_then(|own| own.first().copied());
        oldest.and_then(|oldest| self.remove(oldest)).is_some()
    }
}

fn name(holder: &Holder) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&holder.tenant), Arc::clone(&holder.key))
}

/// Returns a random token of `BYTES` bytes, in hexadecimal.
pub(crate) fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut word = [0_u8; BYTES];
    getrandom::fill(&mut word)?;
    Ok(word.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Found by its digest, so that comparing tells nothing of the word.
fn digest(word: &str) -> TokenDigest {
    Sha256::digest(word.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn of(tenant: &str, key: &str) -> Holder {
        Holder { tenant: tenant.into(), key: key.into(), weight: 1 }
    }

    fn tokens(places: usize) -> Tokens {
        Tokens::new(FairQueue::new(places, 0), HOUR)
    }

    /// R-A105.
    #[test]
    fn a_key_that_signs_in_over_and_over_signs_only_itself_out() {
        let (tokens, now) = (tokens(30), Instant::now());
        let begin = |holder: &Holder, key: &str| tokens.begin(holder, Some(key.to_owned()), now).unwrap();
        let other = begin(&of("other", "o"), "other");
        let sibling = begin(&of("busy", "s"), "sibling");
        let words: Vec<_> = (0..1000).map(|_| begin(&of("busy", "b"), "busy")).collect();
        let is_valid = |word: &String| tokens.find(word, now).is_some();
        assert!(is_valid(&other) && is_valid(&sibling));
        let (ended, valid) = words.split_at(words.iter().position(is_valid).unwrap());
        assert!(valid.iter().all(is_valid) && !ended.iter().any(is_valid), "the oldest ones end");
        assert!((5..=10).contains(&valid.len()), "{}", valid.len());
        assert_eq!(tokens.table().tokens.len(), valid.len() + 2);
    }

    /// R-A105.
    #[test]
    fn a_full_table_signs_no_key_out() {
        let (tokens, now) = (tokens(3), Instant::now());
        let begin = |name: &str| tokens.begin(&of(name, "k"), None, now);
        let words: Vec<_> = ["a", "b", "c"].map(|name| begin(name).unwrap()).into();
        assert!(matches!(begin("d"), Err(TokenError::Full)));
        assert!(words.iter().all(|word| tokens.find(word, now) == Some(None)));
        assert_eq!(tokens.take(&words[0], now), Some(None));
        assert!(begin("d").is_ok());
        assert!(tokens.begin(&of("e", "k"), None, now + HOUR).is_ok(), "the others have ended");
        let table = tokens.table();
        assert_eq!((table.tokens.len(), table.by_digest.len(), table.by_holder.len()), (1, 1, 1));
    }
}
