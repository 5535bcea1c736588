//! One record by itself: what each run that is alone sends.

use std::{collections::HashSet, sync::Arc};

use tokio_postgres::{Error, types::ToSql};

use super::{
    super::{Lease, Record, RunStatus, checksum::checksum},
    append::{Append, place},
    fault::saturated,
    link::Connected,
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
        let taken = if self.record.first_seq == 0 {
            self.send_first(connected).await?
        } else {
            self.send_next(connected).await?
        };
        Ok(taken)
    }

    async fn send_first(&self, connected: &Connected) -> Result<bool, Error> {
        let Lease { head, host, epoch } = self.lease;
        let document = self.record.document.as_deref().map(|document| &*document.digest);
        let (rest, until) = self.rest();
        taken(
            connected,
            FIRST,
            &[
                &&*head.run_id,
                &saturated(*epoch),
                &saturated(self.record.next_seq()),
                &self.status.phase.as_str(),
                &self.status.finished_at.map(|at| at.0),
                &self.status.open,
                &rest,
                &until,
                &host.as_str(),
                &&*head.workflow,
                &&*head.namespace,
                &i64::from(head.priority),
                &head.submitted_at.0,
                &head.key.as_deref(),
                &document,
                &i64::from(self.record.events.get()),
                &self.record.time.0,
                &self.record.body,
                &self.checksum(),
            ],
        )
        .await
    }

    async fn send_next(&self, connected: &Connected) -> Result<bool, Error> {
        let (rest, until) = self.rest();
        taken(
            connected,
            NEXT,
            &[
                &&*self.lease.head.run_id,
                &saturated(self.lease.epoch),
                &saturated(self.record.first_seq),
                &saturated(self.record.next_seq()),
                &self.status.phase.as_str(),
                &self.status.finished_at.map(|at| at.0),
                &self.status.open,
                &rest,
                &until,
                &i64::from(self.record.events.get()),
                &self.record.time.0,
                &self.record.body,
                &self.checksum(),
            ],
        )
        .await
    }

    fn rest(&self) -> (Option<bool>, Option<i64>) {
        let rest = self.status.rest;
        (rest.map(|rest| rest.parked), rest.and_then(|rest| rest.until).map(|at| at.0))
    }

    fn checksum(&self) -> i64 {
        let Record { first_seq, events, time, body, .. } = self.record;
        checksum(place(&self.lease.head.run_id), *first_seq, events.get(), *time, body)
    }
}

async fn taken(
    connected: &Connected,
    sql: &'static str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<bool, Error> {
    let rows = connected.query(sql, parameters).await?;
    rows.first().map_or(Ok(false), |row| row.try_get("taken"))
}
