//! Leases of runs.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::Timestamp;
use tokio::sync::watch;
use tokio_postgres::Row;

use super::{
    super::{Claim, ClaimRequest, HostId, Lease, Leases, Note, Pending, StoreError},
    Postgres,
    fault::{Parameter, PostgresError, count, get, saturated},
    leased, one,
    renewals::Heartbeat,
    rows::leased_head,
    run_id,
};

pub(super) const CLAIM: &str = "SELECT * FROM claim_runs($1, $2, $3, $4, $5)";
pub(super) const CLAIM_RUN: &str = "SELECT * FROM claim_run($1, $2, $3)";
pub(super) const RELEASE: &str = "SELECT release_run($1, $2, $3) AS verdict";
pub(super) const LEAVE: &str = "SELECT leave_run($1, $2, $3, $4, $5) AS verdict";
pub(super) const NOTE: &str = "SELECT note_run($1, $2, $3, $4) AS verdict";
pub(super) const NEXT_DUE: &str = "SELECT next_due($1, $2, $3, $4) AS at";
const CLOCK: &str = "SELECT clock() AS at";
pub(super) const OWNED: &str = "SELECT run_id FROM runs WHERE owner = $1 AND open";

impl Leases for Postgres {
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let parameters: Vec<Parameter> = vec![
            Box::new(wanted.host.to_string()),
            Box::new(wanted.now.0),
            self.callers_clock(wanted.now),
            Box::new(i64::try_from(wanted.limit).unwrap_or(i64::MAX)),
            except(&wanted),
        ];
        self.ask(CLAIM, parameters, move |rows| rows.iter().map(|row| lease(row, &wanted.host)).collect())
    }

    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        let parameters: Vec<Parameter> =
            vec![Box::new(host.to_string()), Box::new(run_id.to_owned()), self.callers_clock(now)];
        let (host, run_id) = (host.clone(), Arc::from(run_id));
        self.ask(CLAIM_RUN, parameters, move |rows| {
            let row = rows.first().ok_or(StoreError::NotFound { run_id })?;
            Ok(match get(row, "verdict")? {
                "closed" => Claim::Closed,
                "held" => Claim::Held(get::<&str>(row, "owner")?.into()),
                _ => Claim::Leased(lease(row, &host)?),
            })
        })
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> =
            vec![run_id(&lease), Box::new(saturated(lease.epoch)), Box::new(wake_at.map(|at| at.0))];
        self.ask(RELEASE, parameters, move |rows| leased(rows, &lease))
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(wake_at.map(|at| at.0)),
            Box::new(note.why.to_string()),
            Box::new(note.since.0),
        ];
        self.ask(LEAVE, parameters, move |rows| leased(rows, &lease))
    }

    fn note(&self, lease: &Lease, note: Option<Note>) -> Pending<()> {
        let lease = lease.clone();
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(note.as_ref().map(|note| note.why.to_string())),
            Box::new(note.as_ref().map(|note| note.since.0)),
        ];
        self.ask(NOTE, parameters, move |rows| leased(rows, &lease))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        let parameters: Vec<Parameter> = vec![
            Box::new(wanted.host.to_string()),
            Box::new(wanted.now.0),
            self.callers_clock(wanted.now),
            except(&wanted),
        ];
        self.ask(NEXT_DUE, parameters, |rows| {
            Ok(one(rows, |row| get::<Option<i64>>(row, "at"))?.map(Timestamp))
        })
    }

    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        let lease = i64::try_from(self.address.lease.as_millis()).unwrap_or(i64::MAX);
        let until = (self.by_callers_clock || until <= Timestamp(0)).then_some(until.0);
        self.renewals.send(&Heartbeat { host: host.clone(), until, lease }, &self.thread)
    }

    fn lease_time(&self) -> Option<Duration> {
        Some(self.address.lease)
    }

    fn clock(&self) -> Pending<Option<Timestamp>> {
        self.ask(CLOCK, Vec::new(), |rows| Ok(Some(Timestamp(one(rows, |row| get(row, "at"))?))))
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn reconnected(&self) -> watch::Receiver<()> {
        self.reconnected.subscribe()
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        let name = |row: &Row| Ok(get::<&str>(row, "run_id")?.into());
        self.ask(OWNED, vec![Box::new(host.to_string())], move |rows| rows.iter().map(name).collect())
    }
}

fn except(wanted: &ClaimRequest) -> Parameter {
    Box::new(wanted.except.iter().map(ToString::to_string).collect::<Vec<String>>())
}

fn lease(row: &Row, host: &HostId) -> Result<Lease, PostgresError> {
    Ok(Lease { head: Arc::new(leased_head(row)?), host: host.clone(), epoch: count(row, "epoch")? })
}
