//! `limits` of a tenant, a plugin or a manifest: what each of its attempts may use, where that is less than others may.

use phasm_engine::{
    form::{Cursor, Field, Form, Object, Report, SIZE, Site, TIMEOUT, Table, whole},
    problem::codes::Entry,
    time::Millis,
    tree::Tree,
};

use phasm_sandbox::{Allowance, Limit};

static TABLE: Table = Table::closed(
    "allowance",
    "Limits of each attempt. The smallest of several values counts, so none of these raises the limits of `[limits]` and `[http]`; the \
     message of an attempt that meets one says who set it.",
    &[
        &MEMORY,
        &CPU,
        &OUTPUT,
        &OUTPUT_VALUES,
        &LOG,
        &TABLE_ELEMENTS,
        &RANDOM,
        &DESCRIPTORS,
        &HTTP_REQUESTS,
        &HTTP_SENT,
        &HTTP_RECEIVED,
        &HTTP_CONNECTIONS,
        &TCP_CONNECTS,
        &TCP_CONNECTIONS,
        &TCP_SENT,
        &TCP_RECEIVED,
    ],
    &[],
);

const COUNT: Form<u32> = whole::<u32, 1, { u32::MAX as i64 }>();

static MEMORY: Field<u64> = Field::optional("memory", SIZE, "Linear memory.");
static CPU: Field<Millis> = Field::optional("cpu", TIMEOUT, "CPU time; waiting is not counted.");
static OUTPUT: Field<u64> = Field::optional("output", SIZE, "Outputs, message and detail together.");
static OUTPUT_VALUES: Field<u32> =
    Field::optional("output-values", COUNT, "JSON values in outputs and detail together.");
static LOG: Field<u64> = Field::optional("log", SIZE, "Log text.");
static TABLE_ELEMENTS: Field<u32> = Field::optional("table-elements", COUNT, "Elements of a table.");
static RANDOM: Field<u64> = Field::optional("random", SIZE, "Random bytes in one call.");
static DESCRIPTORS: Field<u32> =
    Field::optional("descriptors", COUNT, "Files, directories and streams of them that are open at once.");
static HTTP_REQUESTS: Field<u32> = Field::optional("http-requests", COUNT, "HTTP requests.");
static HTTP_SENT: Field<u64> = Field::optional("http-sent", SIZE, "Sent bytes, headers included.");
static HTTP_RECEIVED: Field<u64> =
    Field::optional("http-received", SIZE, "Received bytes, headers included.");
static HTTP_CONNECTIONS: Field<u32> =
    Field::optional("http-connections", COUNT, "Connections at once; one more is refused.");
static TCP_CONNECTS: Field<u32> =
    Field::optional("tcp-connects", COUNT, "TCP connections that are begun, and look-ups for them.");
static TCP_CONNECTIONS: Field<u32> =
    Field::optional("tcp-connections", COUNT, "TCP connections at once; one more is refused.");
static TCP_SENT: Field<u64> = Field::optional("tcp-sent", SIZE, "Bytes sent by TCP.");
static TCP_RECEIVED: Field<u64> = Field::optional("tcp-received", SIZE, "Bytes received by TCP.");

const SIZES: [(&Field<u64>, Limit); 8] = [
    (&MEMORY, Limit::Memory),
    (&OUTPUT, Limit::Output),
    (&LOG, Limit::Log),
    (&RANDOM, Limit::Random),
    (&HTTP_SENT, Limit::HttpSent),
    (&HTTP_RECEIVED, Limit::HttpReceived),
    (&TCP_SENT, Limit::TcpSent),
    (&TCP_RECEIVED, Limit::TcpReceived),
];

const COUNTS: [(&Field<u32>, Limit); 7] = [
    (&OUTPUT_VALUES, Limit::OutputValues),
    (&TABLE_ELEMENTS, Limit::TableElements),
    (&DESCRIPTORS, Limit::Descriptors),
    (&HTTP_REQUESTS, Limit::HttpRequests),
    (&HTTP_CONNECTIONS, Limit::HttpConnections),
    (&TCP_CONNECTS, Limit::TcpConnects),
    (&TCP_CONNECTIONS, Limit::TcpConnections),
];

/// A table of limits, and where each stands.
#[derive(Default)]
pub(crate) struct AllowanceTable {
    pub(crate) allowance: Allowance,
    sites: Vec<(Limit, Site)>,
}

/// A table of limits.
pub(crate) const ALLOWANCE: Form<AllowanceTable> =
    Form::new(|cursor, report| Some(read(&cursor.object(&TABLE, report)?)), |defs| defs.object(&TABLE));

impl AllowanceTable {
    /// Warns of limits that bound nothing: `others` says what is counted instead, and whose that is.
    pub(crate) fn warn(
        &self,
        entry: &Entry,
        report: &Report,
        others: impl Fn(Limit) -> Option<(u64, String)>,
    ) {
        for (limit, site) in &self.sites {
            let own = self.allowance.get(*limit);
            let Some((own, (most, whose))) = own.zip(others(*limit)).filter(|(own, (most, _))| own > most)
            else {
                continue;
            };
            let (own, most) = (limit.shown(own), limit.shown(most));
            let message = format!("{own} is above {whose}, {most}, which counts; expected {most} or less");
            report.warning(site.problem(entry, message));
        }
    }
}

fn read(object: &Object<'_, '_>) -> AllowanceTable {
    let site = |limit: Limit| Some((limit, object.key_site(limit.key())?));
    AllowanceTable { allowance: said(object), sites: Limit::ALL.into_iter().filter_map(site).collect() }
}

fn said(object: &Object<'_, '_>) -> Allowance {
    let sizes = SIZES.into_iter().map(|(field, limit)| (limit, object.optional(field)));
    let counts = COUNTS.into_iter().map(|(field, limit)| (limit, object.optional(field).map(u64::from)));
    let micros = |millis: Millis| millis.saturating_mul(1000);
    let cpu = (Limit::Cpu, object.optional(&CPU).map(micros));
    let said = sizes.chain(counts).chain([cpu]).filter_map(|(limit, most)| Some((limit, most?)));
    said.fold(Allowance::default(), |all, (limit, most)| all.with(limit, most))
}

/// Reads the limits of a manifest.
///
/// # Errors
/// Every problem, one a line.
pub(crate) fn of_manifest(limits: &Tree) -> Result<Allowance, String> {
    let report = Report::default();
    let allowance = ALLOWANCE.read(&Cursor::root(limits), &report);
    let problems = report.into_parts().0;
    if problems.is_empty() {
        return Ok(allowance.unwrap_or_default().allowance);
    }
    Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use phasm_engine::value::Value;

    use super::*;

    /// R-I40: whatever may be lowered has a key, and every key lowers what it is called after.
    #[test]
    fn every_limit_has_its_key() {
        for limit in Limit::ALL {
            let text = format!(r#"{{"{}": 7}}"#, limit.key());
            let read = of_manifest(&Tree::from(&Value::from_json(&text).unwrap()));
            let most = if limit == Limit::Cpu { 7_000 } else { 7 };
            assert_eq!(read, Ok(Allowance::default().with(limit, most)), "{text}");
        }
        let wrong = Value::from_json(r#"{"memory": "much", "stack": 1}"#).unwrap();
        let problems = of_manifest(&Tree::from(&wrong)).unwrap_err();
        assert!(problems.contains("memory") && problems.contains("stack"), "{problems}");
    }
}
