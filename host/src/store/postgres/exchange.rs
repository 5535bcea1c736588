//! One exchange of what hosts have for each other.

use phasm_engine::time::Timestamp;
use tokio::sync::watch;
use tokio_postgres::Row;

use super::{
    super::{
        Exchange, ExchangeRequest, ExchangeResponse, HostId, IncomingReport, OfferId, Pending, TakenOffer,
    },
    Postgres,
    fault::{Parameter, PostgresError, count, get, saturated},
};

pub(super) const SHARE: &str = "SELECT * FROM share_work($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
    $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)";

impl Exchange for Postgres {
    fn is_shared(&self) -> bool {
        true
    }

    fn share(&self, ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        let (parameters, now) = (parameters(&ask, self.callers_clock(ask.now)), ask.now);
        self.ask(SHARE, parameters, move |rows| shares(rows, now))
    }

    fn shared(&self) -> watch::Receiver<()> {
        self.shared.subscribe()
    }
}

/// Returns the name of the channel on which hosts announce news of shared attempts.
pub(super) fn channel(schema: &str) -> String {
    format!("{schema}.shared")
}

fn column<T, V>(rows: &[T], value: impl Fn(&T) -> V) -> Parameter
where
    Vec<V>: tokio_postgres::types::ToSql + Send + Sync + 'static,
{
    Box::new(rows.iter().map(value).collect::<Vec<V>>())
}

fn ids(ids: &[OfferId]) -> [Parameter; 3] {
    [
        column(ids, |id| id.by.to_string()),
        column(ids, |id| saturated(id.number)),
        column(ids, |id| saturated(id.taking)),
    ]
}

/// In the order of the function's.
pub(super) fn parameters(ask: &ExchangeRequest, clock: Parameter) -> Vec<Parameter> {
    let offers = &ask.offers;
    let reports: Vec<OfferId> = ask.reports.iter().map(|report| report.id.clone()).collect();
    let mut all: Vec<Parameter> = vec![
        Box::new(ask.host.to_string()),
        clock,
        column(offers, |offer| saturated(offer.number)),
        column(offers, |offer| offer.run_id.to_string()),
        column(offers, |offer| saturated(offer.epoch)),
        column(offers, |offer| i64::from(offer.priority)),
        column(offers, |offer| offer.kind.to_string()),
        column(offers, |offer| offer.body.to_vec()),
        column(&ask.withdrawn, |number| saturated(*number)),
        Box::new(i64::from(ask.recalled)),
        column(&ask.heard, |report| saturated(*report)),
    ];
    all.extend(ids(&reports));
    all.push(column(&ask.reports, |report| report.is_last));
    all.push(column(&ask.reports, |report| report.body.to_vec()));
    all.extend(ids(&ask.returned));
    all.push(Box::new(i64::from(ask.room)));
    all.push(column(&ask.except, |kind| kind.to_string()));
    all.push(Box::new(ask.holds.is_some()));
    all.extend(ids(ask.holds.as_deref().unwrap_or_default()));
    all.push(column(offers, |offer| offer.tenant.0.to_string()));
    all.push(column(offers, |offer| i64::from(offer.tenant.1.max(1))));
    all
}

/// Reads the answer of the function; `now` is the time of the host that asked.
pub(super) fn shares(rows: &[Row], now: Timestamp) -> Result<ExchangeResponse, PostgresError> {
    let mut shares = ExchangeResponse::default();
    for row in rows {
        match get(row, "what")? {
            "taken" => shares.taken.push(TakenOffer {
                id: id(row)?,
                kind: get::<&str>(row, "kind")?.into(),
                body: get::<&[u8]>(row, "body")?.into(),
            }),
            "stopped" => shares.stopped.push(id(row)?),
            "recalled" => shares.recalled.push(count(row, "number")?),
            "reported" => shares.reported.push(IncomingReport {
                report: count(row, "taking")?,
                number: count(row, "number")?,
                body: get(row, "body")?,
            }),
            "room" => {
                shares.room = u32::try_from(count(row, "number")?).unwrap_or(u32::MAX);
                let left = get::<Option<i64>>(row, "taking")?.map(|left| u64::try_from(left).unwrap_or(0));
                shares.look_again = left.map(|left| now.after(left));
            }
            other => return Err(PostgresError::Damaged(format!("sharing returned {other}"))),
        }
    }
    Ok(shares)
}

fn id(row: &Row) -> Result<OfferId, PostgresError> {
    let (by, number, taking) = (get::<&str>(row, "host")?, count(row, "number")?, count(row, "taking")?);
    Ok(OfferId { by: HostId::from(by), number, taking })
}
