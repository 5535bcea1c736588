//! One record by itself: what each run that is alone sends.

use std::{collections::HashSet, sync::Arc};

use tokio_postgres::{Error, types::ToSql};

use super::{
    super::{Lease, Record, RunStatus, checksum::checksum},
    append::{Append, place},
    fault::saturated,
    reconnect::Connected,
};

pub(super) const NEXT: &str =
    "SELECT append_next($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS taken";
pub(super) const FIRST: &str = "SELECT append_first($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
    AS taken";

/// A record that one of these statements takes.
pub(super) struct Alone<'a> {
    lease: &'a Lease,
    status: RunStatus,
    record: &'a Record<Vec<u8>>,
}

impl<'a> Alone<'a> {
    /// Nothing, if there is more to it than they know of.
    pub(super) fn of(append: &'a Append, kept: &HashSet<Arc<str>>) -> Option<Self> {
        let (lease, status, record) = append.without_replies()?;
        let document = record.document.as_deref().filter(|_| record.first_seq == 0);
        let is_known = document.map_or(record.first_seq > 0, |document| kept.contains(&document.digest));
        let is_new_and_labelled = record.first_seq == 0 && !lease.head.labels.is_empty();
        (record.notices.is_empty() && is_known && !is_new_and_labelled).then_some(Self {
            lease,
            status,
            record,
        })
    }

    /// Sends it; false if it was refused, by whatever was in its way.
    pub(super) async fn send(&self, connected: &Connected) -> Result<bool, Error> {
        let Lease { head, host, .. } = self.lease;
        if self.record.first_seq > 0 {
            return self.is_taken(connected, NEXT, &[&saturated(self.record.first_seq)]).await;
        }
        let document = self.record.document.as_deref().map(|document| &*document.digest);
        let of_new: [&(dyn ToSql + Sync); 7] = [
            &host.as_str(),
            &&*head.workflow,
            &&*head.namespace,
            &i64::from(head.priority),
            &head.submitted_at.0,
            &head.key.as_deref(),
            &document,
        ];
        self.is_taken(connected, FIRST, &of_new).await
    }

    /// By a statement that wants `more` than both say.
    async fn is_taken(
        &self,
        connected: &Connected,
        sql: &'static str,
        more: &[&(dyn ToSql + Sync)],
    ) -> Result<bool, Error> {
        let Self { lease, status, record } = self;
        let RunStatus { phase, finished_at, open, rest } = status;
        let Record { first_seq, events, time, body, .. } = record;
        let both: [&(dyn ToSql + Sync); 12] = [
            &&*lease.head.run_id,
            &saturated(lease.epoch),
            &saturated(record.next_seq()),
            &phase.as_str(),
            &finished_at.map(|at| at.0),
            open,
            &rest.map(|rest| rest.parked),
            &rest.and_then(|rest| rest.until).map(|at| at.0),
            &i64::from(events.get()),
            &time.0,
            body,
            &checksum(place(&lease.head.run_id), *first_seq, events.get(), *time, body),
        ];
        let all: Vec<_> = both.iter().chain(more).copied().collect();
        let rows = connected.query(sql, &all).await?;
        rows.first().map_or(Ok(false), |row| row.try_get("taken"))
    }
}
