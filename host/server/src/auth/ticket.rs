//! Words by which a browser signs in without a key in its address: each is good once, and not for long.

use std::time::{Duration, Instant};

use phasm::fair_queue::{FairQueue, Holder};

use super::token::{TokenError, Tokens};

/// Time that a ticket is valid.
pub(crate) const TICKET_LIFETIME: Duration = Duration::from_secs(60);

/// Valid tickets.
pub(crate) struct Tickets(Tokens);

impl Tickets {
    pub(crate) fn new(places: FairQueue) -> Self {
        Self(Tokens::new(places, TICKET_LIFETIME))
    }

    /// Makes one for a key of that holder; for no key on a server that requires none.
    pub(crate) fn begin(
        &self,
        holder: &Holder,
        key: Option<String>,
        now: Instant,
    ) -> Result<String, TokenError> {
        self.0.begin(holder, key, now)
    }

    /// The key of a ticket that is good, which it is no more; no key where none was asked for.
    pub(crate) fn take(&self, word: &str) -> Option<Option<String>> {
        self.0.take(word, Instant::now())
    }

    /// Returns the key of a valid ticket, which stays valid.
    pub(crate) fn look_at(&self, word: &str) -> Option<Option<String>> {
        self.0.find(word, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A80.
    #[test]
    fn a_ticket_is_good_once_and_not_for_long() {
        let (tickets, now) = (Tickets::new(FairQueue::new(8, 0)), Instant::now());
        let holder = Holder { tenant: "t".into(), key: "k".into(), weight: 1 };
        let one = tickets.begin(&holder, Some("secret".to_owned()), now).unwrap();
        let late = tickets.begin(&holder, None, now).unwrap();
        assert!(!one.contains("secret"));
        assert_eq!(tickets.0.take("00", now), None);
        assert_eq!(tickets.0.take(&one, now), Some(Some("secret".to_owned())));
        assert_eq!(tickets.0.take(&one, now), None);
        assert_eq!(tickets.0.take(&late, now + TICKET_LIFETIME), None);
    }
}
