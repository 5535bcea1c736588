//! Catalog entries: saved workflows and schedules.

use std::{collections::HashSet, sync::Arc};

use phasm_engine::time::Timestamp;
use tokio::sync::oneshot;
use tokio_postgres::{Error, Row, types::ToSql};

use super::{
    super::{
        CatalogEntry, CatalogKind, Change, DuePlace, Encode, EntryName, EntryQuery, Lease, MAX_ENTRIES,
        MAX_TEXT_BYTES, Record, RunStatus, StoreError, Text,
    },
    address::Address,
    append::{Append, Chains, encoded},
    fault::{Parameter, PostgresError, count, get, saturated},
    one,
    reconnect::Session,
};

pub(super) const ENTRY: &str = "SELECT *,
    checksum IS NOT DISTINCT FROM checksum_of_entry(shelf, namespace, name, revision, due, body) AS sound
    FROM entries WHERE shelf = $1 AND namespace = $2 AND name = $3";
pub(super) const ENTRIES: &str = "SELECT *,
    checksum IS NOT DISTINCT FROM checksum_of_entry(shelf, namespace, name, revision, due, body) AS sound
    FROM entries
    WHERE shelf = $1 AND (namespace, name) > ($2, $3) AND ($4::text IS NULL OR namespace = $4) ORDER BY namespace, name LIMIT $5";
pub(super) const DUE: &str = "SELECT *, true AS sound FROM entries
    WHERE due IS NOT NULL AND checksum IS NOT DISTINCT FROM checksum_of_entry(shelf, namespace, name, revision, due, body)
        AND (due, shelf, namespace, name) > ($1, $2, $3, $4) ORDER BY due, shelf, namespace, name LIMIT $5";
pub(super) const TEXT: &str = "SELECT bytes FROM texts WHERE digest = $1";
pub(super) const CHANGE: &str = "SELECT * FROM change_entry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
pub(super) const REMOVE: &str = "SELECT remove_entry($1, $2, $3) AS removed";
pub(super) const FIRE: &str = "SELECT * FROM fire_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
    $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, \
    $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49)";

/// Where hosts hear that entries have changed.
pub(super) fn channel(schema: &str) -> String {
    format!("{schema}.entries")
}

/// A change that a new run's first record comes with.
pub(super) struct FireRequest {
    pub(super) lease: Lease,
    pub(super) status: RunStatus,
    pub(super) record: Record<Arc<dyn Encode>>,
    pub(super) change: Change,
    pub(super) answer: oneshot::Sender<Result<u64, StoreError>>,
}

/// One that is encoded.
pub(super) struct Fire {
    size: usize,
    run: Chains,
    change: Change,
    answer: oneshot::Sender<Result<u64, StoreError>>,
}

impl FireRequest {
    /// Encodes it; one that is too large is refused.
    pub(super) fn encode(self) -> Option<Fire> {
        let Self { lease, status, record, change, answer } = self;
        match encoded(&lease, record) {
            Ok(record) => {
                let size = record.body.len();
                Some(Fire { size, run: Chains::of(Append::alone(lease, status, record)), change, answer })
            }
            Err(refused) => {
                drop(answer.send(Err(refused)));
                None
            }
        }
    }
}

impl Fire {
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Sends it, with all that it speaks of.
    pub(super) async fn send(&self, connected: &Session) -> Result<Vec<Row>, Error> {
        let Change { name, from, due, body, texts: _ } = &self.change;
        let EntryName { shelf, namespace, name } = name;
        let (shelf, from, due) = (shelf.as_str(), saturated(*from), due.map(|due| due.0));
        let (namespace, name, body) = (&**namespace, &**name, &**body);
        let kept = HashSet::new();
        let columns = self.run.columns(&kept);
        let own: [&(dyn ToSql + Sync); 6] = [&shelf, &namespace, &name, &from, &due, &body];
        let all: Vec<_> = own.into_iter().chain(columns.parameters()).collect();
        connected.query(FIRE, &all).await
    }

    pub(super) fn answer(self, rows: &[Row], address: &Address) {
        let answer = self.verdict(rows).map_err(|fault| fault.at(address, "written"));
        drop(self.answer.send(answer));
    }

    fn verdict(&self, rows: &[Row]) -> Result<u64, PostgresError> {
        one(rows, |row| match get(row, "verdict")? {
            "moved" => Err(self.change.moved().into()),
            "refused" => Err(self.run.refused(row)?.into()),
            _ => count(row, "revision"),
        })
    }

    pub(super) fn fail(self, error: StoreError) {
        drop(self.answer.send(Err(error)));
    }
}

pub(super) fn name(EntryName { shelf, namespace, name }: &EntryName) -> Vec<Parameter> {
    vec![Box::new(shelf.as_str()), Box::new(namespace.to_string()), Box::new(name.to_string())]
}

pub(super) fn wanted(EntryQuery { shelf, namespace, after, limit }: EntryQuery) -> Vec<Parameter> {
    let (after_namespace, after_name) =
        after.map_or_else(Default::default, |(namespace, name)| (namespace.to_string(), name.to_string()));
    vec![
        Box::new(shelf.as_str()),
        Box::new(after_namespace),
        Box::new(after_name),
        Box::new(namespace.map(|namespace| namespace.to_string())),
        Box::new(saturated(limit as u64)),
    ]
}

pub(super) fn place(after: Option<DuePlace>, limit: usize) -> Vec<Parameter> {
    let Some((at, EntryName { shelf, namespace, name })) = after else {
        let nothing = || Box::new("") as Parameter;
        return vec![Box::new(i64::MIN), nothing(), nothing(), nothing(), Box::new(saturated(limit as u64))];
    };
    vec![
        Box::new(at.0),
        Box::new(shelf.as_str()),
        Box::new(namespace.to_string()),
        Box::new(name.to_string()),
        Box::new(saturated(limit as u64)),
    ]
}

/// Returns the parameters of [`CHANGE`].
pub(super) fn parameters(change: &Change) -> Vec<Parameter> {
    let Change { name: named, from, due, body, texts } = change;
    let texts = texts.as_ref();
    let own: u64 = texts.into_iter().flatten().map(|text| text.size).sum();
    let digests = texts.map(|texts| texts.iter().map(|text| text.digest.to_string()).collect::<Vec<_>>());
    let sizes = texts.map(|texts| texts.iter().map(|text| saturated(text.size)).collect::<Vec<_>>());
    let bytes = |text: &Text| text.bytes.as_ref().map(|bytes| bytes.to_vec());
    let bytes = texts.map(|texts| texts.iter().map(bytes).collect::<Vec<_>>());
    let more: Vec<Parameter> = vec![
        Box::new(saturated(*from)),
        Box::new(due.map(|due| due.0)),
        Box::new(body.to_string()),
        Box::new(digests),
        Box::new(sizes),
        Box::new(bytes),
        Box::new(saturated(MAX_ENTRIES as u64)),
        Box::new(saturated(MAX_TEXT_BYTES) - saturated(own)),
    ];
    name(named).into_iter().chain(more).collect()
}

/// Reads the result of a change.
pub(super) fn changed(rows: &[Row], change: &Change) -> Result<u64, PostgresError> {
    one(rows, |row| match get(row, "verdict")? {
        "moved" => Err(change.moved().into()),
        "crowded" => {
            change.check_room(count(row, "others")?, count(row, "bytes")?)?;
            Err(PostgresError::Damaged("an entry was refused for nothing".into()))
        }
        _ => count(row, "revision"),
    })
}

pub(super) fn entry(row: &Row) -> Result<CatalogEntry, PostgresError> {
    let word: &str = get(row, "shelf")?;
    let shelf = CatalogKind::ALL.into_iter().find(|shelf| shelf.as_str() == word);
    let damaged = !get::<bool>(row, "sound")? || shelf.is_none();
    let name = EntryName {
        shelf: shelf.unwrap_or(CatalogKind::Workflows),
        namespace: get::<&str>(row, "namespace")?.into(),
        name: get::<&str>(row, "name")?.into(),
    };
    let due = get::<Option<i64>>(row, "due")?.map(Timestamp);
    let revision = get::<i64>(row, "revision")?.unsigned_abs();
    let body = if damaged { "".into() } else { get::<&str>(row, "body")?.into() };
    Ok(CatalogEntry { name, revision, due, body, damaged })
}
