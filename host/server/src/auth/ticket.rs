//! Words by which a browser signs in without a key in its address: each is good once, and not for long.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::session::{digest, random};

/// Tickets at once; the oldest is gone for one more.
const MAX_TICKETS: usize = 1000;
/// Time that a ticket is valid.
pub(crate) const TICKET_LIFETIME: Duration = Duration::from_secs(60);

/// One that was given away.
struct Ticket {
    digest: [u8; 32],
    /// Key of the ticket. `None` on a server that requires no key.
    key: Option<String>,
    until: Instant,
}

/// Valid tickets, the oldest first.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<VecDeque<Ticket>>);

impl Tickets {
    pub(crate) fn begin(&self, key: Option<String>, now: Instant) -> Result<String, getrandom::Error> {
        let word = random::<32>()?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|ticket| ticket.until > now);
        if all.len() >= MAX_TICKETS {
            all.pop_front();
        }
        all.push_back(Ticket { digest: digest(&word), key, until: now + TICKET_LIFETIME });
        Ok(word)
    }

    /// The key of a ticket that is good, which it is no more; no key where none was asked for.
    pub(crate) fn take(&self, word: &str) -> Option<Option<String>> {
        self.take_at(word, Instant::now())
    }

    /// Returns the key of a valid ticket, which stays valid.
    pub(crate) fn look_at(&self, word: &str) -> Option<Option<String>> {
        let (digest, now) = (digest(word), Instant::now());
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = all.iter().find(|ticket| ticket.digest == digest && ticket.until > now)?;
        Some(ticket.key.clone())
    }

    fn take_at(&self, word: &str, now: Instant) -> Option<Option<String>> {
        let digest = digest(word);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|ticket| ticket.digest == digest)?;
        all.remove(at).filter(|ticket| ticket.until > now).map(|ticket| ticket.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A80.
    #[test]
    fn a_ticket_is_good_once_and_not_for_long() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let one = tickets.begin(Some("secret".to_owned()), now).unwrap();
        let late = tickets.begin(None, now).unwrap();
        assert!(!one.contains("secret"));
        assert_eq!(tickets.take_at("00", now), None);
        assert_eq!(tickets.take_at(&one, now), Some(Some("secret".to_owned())));
        assert_eq!(tickets.take_at(&one, now), None);
        assert_eq!(tickets.take_at(&late, now + TICKET_LIFETIME), None);
        let first = tickets.begin(None, now).unwrap();
        let last = (0..MAX_TICKETS).map(|_| tickets.begin(None, now).unwrap()).last().unwrap();
        assert_eq!(tickets.take_at(&first, now), None, "the oldest is gone for one more");
        assert_eq!(tickets.take_at(&last, now), Some(None));
    }
}
