//! `wall-clock` and `random-seed` of a grant.

use std::time::Duration;

use phasm_engine::{
    form::{Cursor, Form, Report, whole},
    problem::codes::shape,
    time::Timestamp,
};
use serde_json::json;

use phasm_sandbox::{Randomness, WallClock};

/// The word for the host's clock.
const REAL: &str = "real";

pub(super) const WALL_CLOCK_FORM: Form<WallClock> = Form::new(wall_clock, |_| {
    let instant = concat!(
        "^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        "[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?Z?$"
    );
    json!({ "anyOf": [{ "const": REAL }, { "type": "string", "pattern": instant }] })
});

fn wall_clock(cursor: &Cursor<'_>, report: &Report) -> Option<WallClock> {
    let text = cursor.text(report)?;
    if *text == *REAL {
        return Some(WallClock::Real);
    }
    let millis = Timestamp::from_rfc3339(&text).and_then(|at| u64::try_from(at.0).ok());
    if millis.is_none() {
        let message = format!("found `{text}`; expected `real`, or a time such as `2026-01-31T08:00:00Z`");
        report.problem(cursor.problem(&shape::UNKNOWN_WORD, message));
    }
    millis.map(|millis| WallClock::Standing(Duration::from_millis(millis)))
}

pub(super) const SEED: Form<Randomness> = Form::new(
    |cursor, report| SEED_NUMBER.read(cursor, report).map(Randomness::Seeded),
    |defs| SEED_NUMBER.schema(defs),
);

const SEED_NUMBER: Form<u64> = whole::<u64, 0, { i64::MAX }>();
