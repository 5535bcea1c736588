//! Journals of runs.

use std::sync::Arc;

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::oneshot;

use super::{
    super::{AttemptLog, Encode, Journal, Lease, NewNotice, Pending, Record, Reply, RunStatus, StoreError},
    Postgres,
    append::AppendRequest,
    fault::{Parameter, PostgresError, get, saturated},
    follow::{self, TELL},
    leased, one, outbox, run_id,
    writer::WriteJob,
};

pub(super) const KEEP_LOG: &str = "SELECT keep_log($1, $2, $3, $4, $5, $6, $7) AS verdict";
pub(super) const ABANDON: &str = "SELECT abandon_run($1, $2, $3, $4, $5, $6, $7, $8) AS verdict";
pub(super) const DELETE: &str = "SELECT delete_run($1) AS verdict";

impl Journal for Postgres {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        let (answer, answered) = oneshot::channel();
        let run_id = &lease.head.run_id;
        self.thread.send(WriteJob::Append(AppendRequest {
            lease: lease.clone(),
            status,
            record,
            replies,
            answer,
        }));
        if self.audience.wants(run_id) {
            let said: Vec<Parameter> =
                vec![Box::new(follow::written(&self.address.schema)), Box::new(run_id.to_string())];
            // Said with the commit of the record, or of the next.
            drop(self.ask(TELL, said, |_| Ok(())));
        }
        self.tell_of_rows();
        Pending::sent(answered)
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        let lease = lease.clone();
        let AttemptLog { task, attempt, dispatch, cut, text, damaged: _ } = log;
        let parameters: Vec<Parameter> = vec![
            run_id(&lease),
            Box::new(saturated(lease.epoch)),
            Box::new(i64::from(task)),
            Box::new(i64::from(attempt)),
            Box::new(i64::from(dispatch)),
            Box::new(saturated(cut)),
            Box::new(text),
        ];
        self.ask(KEEP_LOG, parameters, move |rows| leased(rows, &lease))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        let mut parameters: Vec<Parameter> = vec![
            run_id(lease),
            Box::new(saturated(lease.epoch)),
            Box::new(Phase::Error.as_str()),
            Box::new(at.0),
        ];
        parameters.extend(outbox::alone(&notices));
        let lease = lease.clone();
        self.tell_of_rows();
        self.ask(ABANDON, parameters, move |rows| match one(rows, |row| get(row, "verdict"))? {
            "closed" => Err(StoreError::Closed { run_id: Arc::clone(&lease.head.run_id) }.into()),
            _ => leased(rows, &lease),
        })
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        let named: Arc<str> = run_id.into();
        self.tell_of_rows();
        self.ask(DELETE, vec![Box::new(run_id.to_owned())], move |rows| {
            match one(rows, |row| get(row, "verdict"))? {
                "open" => Err(StoreError::StillOpen { run_id: named }.into()),
                "damaged" => Err(PostgresError::bad_row(&format!("the row of run {named}"))),
                verdict => Ok(verdict == "done"),
            }
        })
    }
}
