//! `schedule`, `timezone`, `startAt` and `endAt` of a cron workflow.

use serde_json::json;

use crate::{
    form::{Cursor, Form, Report},
    problem::codes::schedules,
    schedule::{INSTANT_PATTERN, InstantError, Timetable, TimetableError, Zone, instant, pattern},
    time::Timestamp,
};

pub(super) const TIMES: Form<Timetable> =
    Form::new(times, |_| json!({ "type": "string", "pattern": pattern() }));

fn times(cursor: &Cursor<'_>, report: &Report) -> Option<Timetable> {
    let found = cursor.text(report)?;
    let problem = match found.parse() {
        Ok(times) => return Some(times),
        Err(TimetableError::Written(expected)) => cursor
            .problem(&schedules::SCHEDULE, format!("schedule {found:?}; expected {expected}"))
            .with_hint("as in `30 3 * * mon-fri`: at 3:30 from Monday to Friday"),
        Err(TimetableError::NeverComes) => {
            cursor.problem(&schedules::NEVER, format!("schedule {found:?}; expected a day that exists"))
        }
    };
    report.problem(problem);
    None
}

pub(super) const ZONE: Form<Zone> = Form::new(zone, |_| json!({ "enum": Zone::names() }));

fn zone(cursor: &Cursor<'_>, report: &Report) -> Option<Zone> {
    let found = cursor.text(report)?;
    if let Some(zone) = Zone::named(&found) {
        return Some(zone);
    }
    let message = format!("time zone {found:?}; expected a name of the IANA's, as `Europe/Berlin` or `UTC`");
    let problem = cursor.problem(&schedules::ZONE, message);
    report.problem(match Zone::nearest(&found) {
        Some(near) => problem.with_hint(format!("did you mean `{near}`?")),
        None => problem,
    });
    None
}

pub(super) const INSTANT: Form<Timestamp> =
    Form::new(read_instant, |_| json!({ "type": "string", "pattern": INSTANT_PATTERN }));

fn read_instant(cursor: &Cursor<'_>, report: &Report) -> Option<Timestamp> {
    let found = cursor.text(report)?;
    let expected = match instant(&found) {
        Ok(at) => return Some(at),
        Err(InstantError::Written) => "a date, a time of day and an offset from UTC",
        Err(InstantError::NoSuchDay) => "a day that there is, from 1970 on",
    };
    let problem = cursor.problem(&schedules::INSTANT, format!("time {found:?}; expected {expected}"));
    report.problem(problem.with_hint("as in `2026-11-20T08:00:00Z` or `2026-11-20T09:00:00+01:00`"));
    None
}
