//! `schedule` of a cron workflow: five fields, or a name such as `@daily`.

use std::ops::RangeInclusive;

use serde_json::json;

use crate::{
    form::{Cursor, Form, Report},
    problem::codes::schedules,
};

/// A field: what it is called, the numbers it takes, and words for them, the first for the least.
struct Column {
    name: &'static str,
    numbers: RangeInclusive<u32>,
    words: &'static [&'static str],
}

const FIELDS: [Column; 5] = [
    Column { name: "minute", numbers: 0..=59, words: &[] },
    Column { name: "hour", numbers: 0..=23, words: &[] },
    Column { name: "day of the month", numbers: 1..=31, words: &[] },
    Column {
        name: "month",
        numbers: 1..=12,
        words: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    Column { name: "weekday", numbers: 0..=7, words: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const NAMES: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// A schedule; nothing follows it yet.
pub(super) const SCHEDULE: Form<()> =
    Form::new(schedule, |_| json!({ "type": "string", "pattern": pattern() }));

fn schedule(cursor: &Cursor<'_>, report: &Report) -> Option<()> {
    let found = cursor.text(report)?;
    if let Err(expected) = check(&found) {
        let message = format!("schedule {found:?}; expected {expected}");
        let problem = cursor.problem(&schedules::SCHEDULE, message);
        report.problem(problem.with_hint("as in `30 3 * * mon-fri`: at 3:30 from Monday to Friday"));
    }
    Some(())
}

/// A regular expression for what [`check`] takes, but for ranges that go backwards.
fn pattern() -> String {
    const SPACE: &str = r"[ \t\n\f\r]";
    let fields: Vec<_> = FIELDS.iter().map(Column::pattern).collect();
    format!("^({}|{SPACE}*{}{SPACE}*)$", NAMES.join("|"), fields.join(&format!("{SPACE}+")))
}

/// What was expected instead.
fn check(text: &str) -> Result<(), String> {
    if NAMES.contains(&text) {
        return Ok(());
    }
    let fields: Vec<_> = text.split_ascii_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err("five fields: minute, hour, day of the month, month, weekday".to_owned());
    }
    match fields.iter().zip(&FIELDS).find(|(text, field)| !field.accepts(text)) {
        None => Ok(()),
        Some((text, Column { name, numbers, .. })) => {
            let (least, most) = numbers.clone().into_inner();
            Err(format!("{name} from {least} to {most} in place of `{text}`"))
        }
    }
}

impl Column {
    /// A list of `*`, a number or a range, each with a step or without.
    fn accepts(&self, text: &str) -> bool {
        text == "?" || text.split(',').all(|part| self.accepts_part(part))
    }

    fn accepts_part(&self, part: &str) -> bool {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        if !whole(step).is_some_and(|step| step > 0 && step <= *self.numbers.end()) {
            return false;
        }
        match range.split_once('-') {
            _ if range == "*" => true,
            Some((first, last)) => {
                self.number(first).zip(self.number(last)).is_some_and(|(first, last)| first <= last)
            }
            None => self.number(range).is_some(),
        }
    }

    fn number(&self, text: &str) -> Option<u32> {
        let word = self.words.iter().position(|word| text.eq_ignore_ascii_case(word));
        let word = word.and_then(|at| u32::try_from(at).ok()).map(|at| at + self.numbers.start());
        word.or_else(|| whole(text).filter(|number| self.numbers.contains(number)))
    }

    fn pattern(&self) -> String {
        let numbers = self.numbers.clone().map(|number| format!("0*{number}"));
        let values: Vec<_> = numbers.chain(self.words.iter().map(|word| in_either_case(word))).collect();
        let value = format!("({})", values.join("|"));
        let steps: Vec<_> = (1..=*self.numbers.end()).map(|step| step.to_string()).collect();
        let part = format!("(\\*|{value}(-{value})?)(/0*({}))?", steps.join("|"));
        format!("(\\?|{part}(,{part})*)")
    }
}

/// A number in digits and nothing else.
fn whole(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A regular expression for a word, whatever the case of its letters.
fn in_either_case(word: &str) -> String {
    word.chars().map(|letter| format!("[{letter}{}]", letter.to_ascii_uppercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_checked_field_by_field() {
        let good = [
            "* * * * *",
            "0 3 * * *",
            "*/5 0-23/2 1,15 jan-mar MON-fri",
            "30 3 ? * 7",
            "@daily",
            "59 23 31 12 0",
        ];
        for text in good {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        let bad = [
            ("", "five fields"),
            ("* * * *", "five fields"),
            ("* * * * * *", "five fields"),
            ("@dayly", "five fields"),
            ("60 * * * *", "minute from 0 to 59 in place of `60`"),
            ("* 24 * * *", "hour"),
            ("* * 0 * *", "day of the month from 1 to 31 in place of `0`"),
            ("* * * 13 *", "month"),
            ("* * * * 8", "weekday"),
            ("* * * * mon-", "weekday"),
            ("5-1 * * * *", "minute"),
            ("*/0 * * * *", "minute"),
            ("+5 * * * *", "minute"),
            ("*/+5 * * * *", "minute"),
            ("1,,2 * * * *", "minute"),
            ("1.5 * * * *", "minute"),
        ];
        for (text, expected) in bad {
            let found = check(text).unwrap_err();
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }
}
