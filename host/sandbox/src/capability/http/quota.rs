//! Quota of requests per minute, for tenants.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::tenants::Tenants;

const MINUTE: Duration = Duration::from_secs(60);

/// Tenants with a quota, and the times of their last requests.
pub(super) struct RequestQuota(BTreeMap<Arc<str>, Mutex<Window>>);

struct Window {
    most: usize,
    /// Requests of the last minute, the oldest first.
    at: VecDeque<Instant>,
}

/// Error of a tenant that has used up its quota.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OverQuota {
    tenant: Arc<str>,
    most: usize,
    /// Time until the next request is allowed.
    left: Duration,
}

impl fmt::Display for OverQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant, most, left } = self;
        let seconds = left.as_millis().div_ceil(1000);
        write!(
            f,
            "tenant `{tenant}` has made its {most} requests of a minute (`requests-per-minute` under `[tenants.{tenant}.quotas]`); \
             the next may be made in {seconds} s"
        )
    }
}

impl RequestQuota {
    pub(super) fn new(tenants: &Tenants) -> Self {
        let window = |most: u32| Mutex::new(Window { most: most as usize, at: VecDeque::new() });
        Self(tenants.requests().map(|(tenant, most)| (Arc::clone(tenant), window(most))).collect())
    }

    /// Takes one request.
    pub(super) fn take(&self, tenant: &Arc<str>, now: Instant) -> Result<(), OverQuota> {
        let Some(window) = self.0.get(tenant) else { return Ok(()) };
        let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |at: &Instant| now.saturating_duration_since(*at);
        while window.at.front().is_some_and(|at| age(at) >= MINUTE) {
            window.at.pop_front();
        }
        match window.at.front().filter(|_| window.at.len() >= window.most) {
            Some(first) => {
                let left = MINUTE.saturating_sub(age(first));
                Err(OverQuota { tenant: Arc::clone(tenant), most: window.most, left })
            }
            None => {
                window.at.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-Q5.
    #[test]
    fn a_tenants_requests_within_a_minute_are_limited() {
        let mut tenants = Tenants::default();
        tenants.add(&"acme".into(), 1, []);
        tenants.limit_requests(&"acme".into(), 2);
        let (quota, begin) = (RequestQuota::new(&tenants), Instant::now());
        let take =
            |tenant: &str, seconds: u64| quota.take(&tenant.into(), begin + Duration::from_secs(seconds));
        assert_eq!((take("acme", 0), take("acme", 20)), (Ok(()), Ok(())));
        let over_quota = take("acme", 50).unwrap_err();
        assert!(
            over_quota.to_string().ends_with("`[tenants.acme.quotas]`); the next may be made in 10 s"),
            "{over_quota}"
        );
        assert_eq!((take("acme", 60), take("other", 60)), (Ok(()), Ok(())));
        assert!(take("acme", 79).is_err() && take("acme", 80).is_ok());
    }
}
