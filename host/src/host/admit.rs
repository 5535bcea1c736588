//! Whether a tenant may submit another run.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;
use tokio::sync::OwnedMutexGuard;

use super::SubmitError;
use crate::{
    realm::Realm,
    shared::Shared,
    store::{Filter, ReadStore, RunRow, Store, StoreError},
};

/// A minute, in milliseconds.
const MINUTE: u64 = 60_000;

/// Rows that are read at once.
const PAGE: usize = 1000;

/// A quota of a tenant's that is used up: nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tenant `{tenant}` has {limit} {quota}, of at most {limit} (`{}` under `[tenants.{tenant}.quotas]` of the configuration); it can be tried again {}",
    quota.key(),
    again(*retry_at, *quota)
)]
pub struct QuotaExceeded {
    /// Whose it is.
    pub tenant: Arc<str>,
    /// Which one.
    pub quota: SubmitQuota,
    /// Its value, which the configuration sets.
    pub limit: u32,
    /// When the submission would be taken if nothing else came; otherwise once one of them has ended.
    pub retry_at: Option<Timestamp>,
}

/// What bounds submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmitQuota {
    /// Tasks that wait for a slot of this host.
    Queued,
    /// Runs that have not ended.
    OpenRuns,
    /// Runs submitted within the last minute.
    RunsPerMinute,
}

impl SubmitQuota {
    /// The key of the configuration.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::OpenRuns => "open-runs",
            Self::RunsPerMinute => "runs-per-minute",
        }
    }
}

impl fmt::Display for SubmitQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "tasks that wait for a slot",
            Self::OpenRuns => "runs that have not ended",
            Self::RunsPerMinute => "runs of the last minute",
        })
    }
}

fn again(retry_at: Option<Timestamp>, quota: SubmitQuota) -> String {
    match (retry_at, quota) {
        (Some(at), _) => format!("at {}", at.to_rfc3339()),
        (None, SubmitQuota::Queued) => "when fewer wait".to_owned(),
        (None, _) => "when one of them has ended".to_owned(),
    }
}

/// That a run may be submitted now; nobody else's of the tenant is counted until this is dropped.
pub(super) struct Admitted(#[expect(dead_code, reason = "it is held")] Option<OwnedMutexGuard<()>>);

impl Shared {
    /// Whether a run of that namespace may be submitted now.
    ///
    /// # Errors
    /// [`SubmitError::Quota`], or when the store cannot be read.
    pub(super) async fn admit(
        &self,
        store: &dyn Store,
        namespace: &Arc<str>,
    ) -> Result<Admitted, SubmitError> {
        let realm = self.realms.of(namespace);
        let quotas = &realm.quotas;
        if quotas.queued.is_none() && quotas.open_runs.is_none() && quotas.runs_per_minute.is_none() {
            return Ok(Admitted(None));
        }
        let alone = Arc::clone(&realm.admitting).lock_owned().await;
        let tenant = self.realms.tenant(namespace);
        let exceeded = self.exceeded(store, realm, &tenant).await?;
        match exceeded {
            None => Ok(Admitted(Some(alone))),
            Some((quota, limit, retry_at)) => Err(QuotaExceeded { tenant, quota, limit, retry_at }.into()),
        }
    }

    async fn exceeded(
        &self,
        store: &dyn Store,
        realm: &Realm,
        tenant: &Arc<str>,
    ) -> Result<Option<(SubmitQuota, u32, Option<Timestamp>)>, StoreError> {
        let quotas = &realm.quotas;
        let queued = quotas.queued.filter(|most| self.dispatcher.slots.queued(tenant) >= u64::from(*most));
        if let Some(limit) = queued {
            return Ok(Some((SubmitQuota::Queued, limit, None)));
        }
        if let Some(limit) = quotas.runs_per_minute {
            let since = Timestamp(self.clock.now().0.saturating_sub(MINUTE.cast_signed() - 1));
            let filter = Filter { since: Some(since), ..Filter::default() };
            if let Some(last) = self.nth(store, tenant, filter, limit).await? {
                let retry_at = last.head.submitted_at.after(MINUTE);
                return Ok(Some((SubmitQuota::RunsPerMinute, limit, Some(retry_at))));
            }
        }
        if let Some(limit) = quotas.open_runs {
            let filter = Filter { open: true, ..Filter::default() };
            if self.nth(store, tenant, filter, limit).await?.is_some() {
                return Ok(Some((SubmitQuota::OpenRuns, limit, None)));
            }
        }
        Ok(None)
    }

    /// The run of a tenant that is number `nth` of those that fit, the newest being the first.
    async fn nth(
        &self,
        store: &dyn Store,
        tenant: &Arc<str>,
        filter: Filter,
        nth: u32,
    ) -> Result<Option<RunRow>, StoreError> {
        let reader: &dyn ReadStore = store;
        let (mut found, mut filter) = (0, filter);
        loop {
            let rows = reader.list(filter.clone(), PAGE).await?;
            let (count, last) = (rows.len(), rows.last().map(|row| row.number));
            for row in rows {
                found += u32::from(self.realms.tenant(&row.head.namespace) == *tenant);
                if found == nth {
                    return Ok(Some(row));
                }
            }
            if count < PAGE {
                return Ok(None);
            }
            filter.before = last;
        }
    }
}
