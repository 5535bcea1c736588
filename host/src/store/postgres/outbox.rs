//! Notifications about runs.

use std::sync::Arc;

use phasm_engine::time::Timestamp;
use tokio::sync::watch;
use tokio_postgres::Row;

use super::{
    super::{NewNotice, NoticeId, NoticeRow, Notices, Outbox, Pending, Settle},
    Postgres,
    fault::{Parameter, PostgresError, get, saturated},
    one,
};

pub(super) const DUE: &str = "SELECT *, true AS sound FROM notices
    WHERE endpoint = $1 AND due IS NOT NULL AND checksum IS NOT DISTINCT FROM checksum_of_notice(run_id, seq, endpoint, revision, due, body)
    ORDER BY due, run_id, seq LIMIT $2";
pub(super) const ENDPOINT: &str =
    "SELECT endpoint, (SELECT due FROM notices WHERE endpoint = found.endpoint AND due IS NOT NULL
        ORDER BY due DESC LIMIT 1) AS due
    FROM notices AS found WHERE due IS NOT NULL AND endpoint > $1
        AND checksum IS NOT DISTINCT FROM checksum_of_notice(run_id, seq, endpoint, revision, due, body)
    ORDER BY endpoint LIMIT 1";
pub(super) const OF_RUN: &str = "SELECT *,
        checksum IS NOT DISTINCT FROM checksum_of_notice(run_id, seq, endpoint, revision, due, body) AS sound FROM notices
    WHERE run_id = $1 AND ($2::text IS NULL OR endpoint = $2) AND seq < $3 ORDER BY seq DESC, endpoint DESC LIMIT $4";
pub(super) const SETTLE: &str = "SELECT settle_notice($1, $2, $3, $4, $5, $6) AS settled";

impl Outbox for Postgres {
    fn settle(&self, settle: Settle) -> Pending<bool> {
        self.ask(SETTLE, settled(&settle), |rows| one(rows, |row| get(row, "settled")))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.notices_changed.subscribe()
    }
}

/// Where hosts hear that there are new notices.
pub(super) fn channel(schema: &str) -> String {
    format!("{schema}.notices")
}

/// Columns of notifications to send.
#[derive(Default)]
pub(super) struct NoticeColumns<'a> {
    pub(super) chain: Vec<i64>,
    pub(super) seq: Vec<i64>,
    pub(super) endpoint: Vec<&'a str>,
    pub(super) due: Vec<i64>,
    pub(super) body: Vec<&'a str>,
}

impl<'a> NoticeColumns<'a> {
    pub(super) fn add(&mut self, chain: i64, notices: &'a [NewNotice]) {
        for NewNotice { seq, endpoint, due, body } in notices {
            self.chain.push(chain);
            self.seq.push(saturated(*seq));
            self.endpoint.push(endpoint);
            self.due.push(due.0);
            self.body.push(body);
        }
    }
}

/// Returns the columns of notifications that come without a record.
pub(super) fn alone(notices: &[NewNotice]) -> [Parameter; 4] {
    let seq: Vec<_> = notices.iter().map(|notice| saturated(notice.seq)).collect();
    let endpoint: Vec<_> = notices.iter().map(|notice| notice.endpoint.to_string()).collect();
    let due: Vec<_> = notices.iter().map(|notice| notice.due.0).collect();
    let body: Vec<_> = notices.iter().map(|notice| notice.body.to_string()).collect();
    [Box::new(seq), Box::new(endpoint), Box::new(due), Box::new(body)]
}

/// Returns the parameters of [`OF_RUN`].
pub(super) fn wanted(Notices { run_id, endpoint, before, limit }: &Notices) -> Vec<Parameter> {
    vec![
        Box::new(run_id.to_string()),
        Box::new(endpoint.as_ref().map(ToString::to_string)),
        Box::new(before.map_or(i64::MAX, saturated)),
        Box::new(saturated(*limit as u64)),
    ]
}

/// Returns the parameters of [`SETTLE`].
pub(super) fn settled(
    Settle { id: NoticeId { run_id, seq, endpoint }, from, due, body }: &Settle,
) -> Vec<Parameter> {
    vec![
        Box::new(run_id.to_string()),
        Box::new(saturated(*seq)),
        Box::new(endpoint.to_string()),
        Box::new(saturated(*from)),
        Box::new(due.map(|due| due.0)),
        Box::new(body.to_string()),
    ]
}

/// Reads a row of [`ENDPOINT`].
pub(super) fn endpoint(row: &Row) -> Result<(Arc<str>, Timestamp), PostgresError> {
    Ok((get::<&str>(row, "endpoint")?.into(), Timestamp(get(row, "due")?)))
}

pub(super) fn notice(row: &Row) -> Result<NoticeRow, PostgresError> {
    let number = |column| Ok::<_, PostgresError>(get::<i64>(row, column)?.unsigned_abs());
    let id = NoticeId {
        run_id: get::<&str>(row, "run_id")?.into(),
        seq: number("seq")?,
        endpoint: get::<&str>(row, "endpoint")?.into(),
    };
    let due = get::<Option<i64>>(row, "due")?.map(Timestamp);
    let damaged = !get::<bool>(row, "sound")?;
    Ok(NoticeRow { id, revision: number("revision")?, due, body: get::<&str>(row, "body")?.into(), damaged })
}
