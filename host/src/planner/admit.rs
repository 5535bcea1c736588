//! Admission of submissions by the quotas of their tenant.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;
use tokio::sync::{OwnedMutexGuard, mpsc};

use super::{Planner, SubmitError};
use crate::{
    dispatch::slots::Slots,
    run::{message::Message, ownership_doubt::OwnershipDoubt},
    store::{Filter, ReadStore, RunRow, Store, StoreError},
    tenants::tenant::{self, KnownTenants, QuotaCache, Quotas},
};
use phasm_sandbox::{Limit, Tenants};

/// A minute, in milliseconds.
const MINUTE: u64 = 60_000;

/// Rows that are read at once.
const PAGE: usize = 1000;

/// A quota of a tenant's that is used up: nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tenant `{tenant}` has {} {quota}, of at most {} (`{}` under `[tenants.{tenant}.quotas]` of the configuration); it can be tried again {}",
    quota.shown(*used),
    quota.shown(*limit),
    quota.key(),
    again(*retry_at, *quota)
)]
pub struct QuotaExceeded {
    /// Tenant that the quota belongs to.
    pub tenant: Arc<str>,
    /// Exhausted quota.
    pub quota: SubmitQuota,
    /// Its value, which the configuration sets.
    pub limit: u64,
    /// How much of it there is.
    pub used: u64,
    /// When the submission would be taken if nothing else came; otherwise once one of them has ended.
    pub retry_at: Option<Timestamp>,
}

/// Quotas of submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmitQuota {
    /// Tasks that wait for a slot of this host.
    Queued,
    /// Runs that have not ended.
    OpenRuns,
    /// Runs submitted within the last minute.
    RunsPerMinute,
    /// Bytes of its runs in the store.
    Stored,
}

impl SubmitQuota {
    /// The key of the configuration.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::OpenRuns => "open-runs",
            Self::RunsPerMinute => "runs-per-minute",
            Self::Stored => "stored",
        }
    }

    fn shown(self, amount: u64) -> String {
        match self {
            Self::Stored => Limit::Memory.shown(amount),
            Self::Queued | Self::OpenRuns | Self::RunsPerMinute => amount.to_string(),
        }
    }
}

impl fmt::Display for SubmitQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "tasks that wait for a slot",
            Self::OpenRuns => "runs that have not ended",
            Self::RunsPerMinute => "runs of the last minute",
            Self::Stored => "of runs in the store",
        })
    }
}

fn again(retry_at: Option<Timestamp>, quota: SubmitQuota) -> String {
    match (retry_at, quota) {
        (Some(at), _) => format!("at {}", at.to_rfc3339()),
        (None, SubmitQuota::Queued) => "when fewer wait".to_owned(),
        (None, SubmitQuota::Stored) => "when some that have ended were deleted (phasm prune)".to_owned(),
        (None, _) => "when one of them has ended".to_owned(),
    }
}

/// Permission to submit one run. Other submissions of the tenant wait until this is dropped, so that each counts those before it.
pub(crate) struct Admission(#[expect(dead_code, reason = "held for its lock")] Option<OwnedMutexGuard<()>>);

/// The store that a run is submitted to, and what the submitting process knows of its tenants.
pub(crate) struct AdmissionTarget<'a> {
    pub(crate) store: &'a dyn Store,
    /// Cache of the quotas that are saved in the store; present where the store is the host's own.
    pub(crate) saved_quotas: Option<&'a QuotaCache>,
    /// The slots that tasks of this process wait for; absent where this process runs nothing.
    pub(crate) slots: Option<&'a Slots<mpsc::UnboundedSender<Message>>>,
    /// Raised if a run may have stayed with the submitting host; absent where this process runs nothing, whose runs go to others.
    pub(crate) ownership_doubt: Option<&'a OwnershipDoubt>,
}

impl<'a> AdmissionTarget<'a> {
    /// A store that this process submits to without running anything.
    pub(crate) fn of(store: &'a dyn Store) -> Self {
        Self { store, saved_quotas: None, slots: None, ownership_doubt: None }
    }

    /// Notes that a submitted run may have stayed with this host.
    pub(super) fn doubt(&self, error: &StoreError) {
        if let Some(doubt) = self.ownership_doubt {
            doubt.raise(error);
        }
    }

    /// Returns when a run that begins at that time is due: at once, also where the clock of this process is ahead of the store's.
    pub(super) async fn due(&self, begins: Timestamp) -> Timestamp {
        if self.ownership_doubt.is_some() {
            // A host goes by the store's clock.
            return begins;
        }
        // A store that fails here fails at the submission.
        let now = self.store.clock().await.ok().flatten();
        now.map_or(begins, |now| begins.min(now))
    }

    /// Notes how the release of a new run ended, which is due for any host that claims it.
    pub(super) fn note_release(&self, run_id: &str, released: Result<(), StoreError>) {
        match released {
            // A fenced release: a host runs it already.
            Ok(()) | Err(StoreError::LeaseLost { .. }) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "failed to release run {run_id}; it starts once a host finds it"
                );
                self.doubt(&error);
            }
        }
    }

    /// Quotas that were saved with the store.
    async fn quotas(&self) -> Result<Arc<KnownTenants>, StoreError> {
        if let Some(known) = self.saved_quotas.and_then(QuotaCache::fresh) {
            return Ok(known);
        }
        let saved = self.store.tenants().await?;
        // Quotas that another version saved and this one cannot read bound nothing.
        let known: Arc<KnownTenants> =
            saved.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        if let Some(cache) = self.saved_quotas {
            cache.keep(&known);
        }
        Ok(known)
    }
}

/// The tenants whose quotas bound a submission.
struct Judge {
    known: Arc<KnownTenants>,
    tenants: Tenants,
    tenant: Arc<str>,
}

impl Planner {
    /// Admits one run of a namespace.
    ///
    /// # Errors
    /// [`SubmitError::Quota`], or when the store cannot be read.
    pub(crate) async fn admit(
        &self,
        target: &AdmissionTarget<'_>,
        namespace: &Arc<str>,
    ) -> Result<Admission, SubmitError> {
        let judge = self.judge(target, namespace).await?;
        let quotas = judge.known.get(&judge.tenant).map(|known| known.quotas).unwrap_or_default();
        if !quotas.bound_submissions() {
            return Ok(Admission(None));
        }
        let alone = Arc::clone(&self.environments.of(namespace).admitting).lock_owned().await;
        let exceeded = self.exceeded(target, quotas, &judge).await?;
        let tenant = judge.tenant;
        match exceeded {
            None => Ok(Admission(Some(alone))),
            Some((quota, limit, used, retry_at)) => {
                Err(QuotaExceeded { tenant, quota, limit, used, retry_at }.into())
            }
        }
    }

    /// The tenants of this process's configuration, else those that were saved with the store.
    async fn judge(&self, target: &AdmissionTarget<'_>, namespace: &Arc<str>) -> Result<Judge, StoreError> {
        let own = self.environments.known();
        let known = if own.is_empty() { target.quotas().await? } else { Arc::clone(own) };
        let tenants = tenant::known(&known);
        let tenant = tenants.of(namespace);
        Ok(Judge { known, tenants, tenant })
    }

    async fn exceeded(
        &self,
        target: &AdmissionTarget<'_>,
        quotas: Quotas,
        judge: &Judge,
    ) -> Result<Option<(SubmitQuota, u64, u64, Option<Timestamp>)>, StoreError> {
        let store = target.store;
        let queued = target.slots.map_or(0, |slots| slots.queued(&judge.tenant));
        if let Some(limit) = quotas.queued.map(u64::from).filter(|most| queued >= *most) {
            return Ok(Some((SubmitQuota::Queued, limit, queued, None)));
        }
        if let Some(limit) = quotas.stored {
            let used = judge.stored(store).await?;
            if used >= limit {
                return Ok(Some((SubmitQuota::Stored, limit, used, None)));
            }
        }
        if let Some(limit) = quotas.runs_per_minute {
            let since = Timestamp(self.clock.now().0.saturating_sub(MINUTE.cast_signed() - 1));
            let filter = Filter { since: Some(since), ..Filter::default() };
            if let Some(last) = judge.nth(store, filter, limit).await? {
                let (retry_at, limit) = (last.head.submitted_at.after(MINUTE), limit.into());
                return Ok(Some((SubmitQuota::RunsPerMinute, limit, limit, Some(retry_at))));
            }
        }
        if let Some(limit) = quotas.open_runs {
            let filter = Filter { open: true, ..Filter::default() };
            if judge.nth(store, filter, limit).await?.is_some() {
                return Ok(Some((SubmitQuota::OpenRuns, limit.into(), limit.into(), None)));
            }
        }
        Ok(None)
    }
}

impl Judge {
    /// How many bytes the store keeps of the tenant's runs.
    async fn stored(&self, store: &dyn Store) -> Result<u64, StoreError> {
        let own = self.known.get(&self.tenant).map(|known| known.namespaces(&self.tenant));
        let stored = store.stored(own.unwrap_or_default()).await?;
        let own = stored.iter().filter(|(namespace, _)| self.tenants.of(namespace) == self.tenant);
        Ok(own.map(|(_, bytes)| bytes).sum())
    }

    /// The run of the tenant that is number `nth` of those that fit, the newest being the first.
    async fn nth(
        &self,
        store: &dyn Store,
        mut filter: Filter,
        nth: u32,
    ) -> Result<Option<RunRow>, StoreError> {
        let reader: &dyn ReadStore = store;
        let mut found = 0;
        loop {
            let rows = reader.list(filter.clone(), PAGE).await?;
            let (count, last) = (rows.len(), rows.last().map(|row| row.number));
            for row in rows {
                found += u32::from(self.tenants.of(&row.head.namespace) == self.tenant);
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
