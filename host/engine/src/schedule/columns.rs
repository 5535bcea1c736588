//! Schedules as they are written: five fields, or a name such as `@daily`.

use std::{ops::RangeInclusive, str::FromStr};

use super::timetable::Timetable;

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

/// Names, and what they stand for.
const NAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimetableError {
    /// Not a schedule; the expected text.
    Written(String),
    /// A schedule, but for a day that never comes.
    NeverComes,
}

/// The numbers of a field, one bit each.
struct Marks {
    numbers: u64,
    /// Whether it is `*` or `?`, or every few of these.
    all: bool,
}

/// A regular expression for what is a schedule, but for ranges that go backwards and days that do not come.
pub(crate) fn pattern() -> String {
    const SPACE: &str = r"[ \t\n\f\r]";
    let fields: Vec<_> = FIELDS.iter().map(Column::pattern).collect();
    let names = NAMES.map(|(name, _)| name).join("|");
    format!("^({names}|{SPACE}*{}{SPACE}*)$", fields.join(&format!("{SPACE}+")))
}

impl FromStr for Timetable {
    type Err = TimetableError;

    fn from_str(text: &str) -> Result<Self, TimetableError> {
        let text = NAMES.iter().find(|(name, _)| *name == text).map_or(text, |(_, fields)| fields);
        let fields: Vec<_> = text.split_ascii_whitespace().collect();
        let Ok(fields) = <[&str; 5]>::try_from(fields) else {
            let expected = "five fields: minute, hour, day of the month, month, weekday";
            return Err(TimetableError::Written(expected.to_owned()));
        };
        let [minutes, hours, days, months, weekdays] = &FIELDS;
        let [minute, hour, day, month, weekday] = fields;
        let (minutes, hours) = (minutes.read(minute)?, hours.read(hour)?);
        let (days, months, weekdays) = (days.read(day)?, months.read(month)?, weekdays.read(weekday)?);
        let times = Self {
            minutes: minutes.numbers,
            hours: hours.numbers,
            days: days.numbers,
            months: months.numbers,
            // Sunday is 0 and 7.
            weekdays: (weekdays.numbers | weekdays.numbers >> 7) & 0x7f,
            every_hour: hours.all,
            either_day: !days.all && !weekdays.all,
        };
        if times.comes() { Ok(times) } else { Err(TimetableError::NeverComes) }
    }
}

impl Column {
    fn read(&self, text: &str) -> Result<Marks, TimetableError> {
        if text == "?" {
            let numbers = self.between(*self.numbers.start(), *self.numbers.end(), 1);
            return Ok(Marks { numbers, all: true });
        }
        let mut numbers = 0;
        for part in text.split(',') {
            numbers |= self.part(part).ok_or_else(|| self.expected(part, text))?;
        }
        // In a list with a step other numbers are named, so that it is no `*/n`.
        let all = text.split(',').any(|part| part == "*") || (text.starts_with('*') && !text.contains(','));
        Ok(Marks { numbers, all })
    }

    /// The text that was expected in place of `part` of the field `text`.
    fn expected(&self, part: &str, text: &str) -> TimetableError {
        let Self { name, numbers, .. } = self;
        let (least, most) = numbers.clone().into_inner();
        TimetableError::Written(match self.forwards(part) {
            Some(instead) => format!("{name} `{instead}` in place of `{part}`, as ranges go forwards"),
            None => format!("{name} from {least} to {most} in place of `{text}`"),
        })
    }

    /// The same numbers as a range that goes backwards, over the end of the field.
    fn forwards(&self, part: &str) -> Option<String> {
        let (first, last) = part.split_once('-')?;
        let (from, to) = (self.number(first)?, self.number(last)?);
        // The weekday 7 is 0 once more.
        let most = if self.name == "weekday" { 6 } else { *self.numbers.end() };
        let is_word = !self.words.is_empty() && whole(first).is_none() && whole(last).is_none();
        let word = |number: u32| {
            let at = number.checked_sub(*self.numbers.start()).and_then(|at| usize::try_from(at).ok());
            let word = at.and_then(|at| self.words.get(at)).filter(|_| is_word);
            word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
        };
        let range =
            |from: u32, to: u32| if from == to { word(from) } else { format!("{}-{}", word(from), word(to)) };
        (to < from).then(|| format!("{},{}", range(from.min(most), most), range(*self.numbers.start(), to)))
    }

    /// `*`, a number or a range, with a step or without. A number with a step goes on to the end.
    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
        let steps = whole(step.unwrap_or("1")).filter(|step| *step > 0 && step <= self.numbers.end())?;
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (*self.numbers.start(), *self.numbers.end()),
            Some((first, last)) => (self.number(first)?, self.number(last)?),
            None if step.is_some() => (self.number(range)?, *self.numbers.end()),
            None => (self.number(range)?, self.number(range)?),
        };
        (first <= last).then(|| self.between(first, last, steps))
    }

    fn between(&self, first: u32, last: u32, step: u32) -> u64 {
        (first..=last).step_by(step as usize).fold(0, |numbers, number| numbers | 1 << number)
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
            "0 0 31 2 mon",
            "0 0 29 2 *",
        ];
        for text in good {
            assert!(text.parse::<Timetable>().is_ok(), "{text}");
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
            ("5-1 * * * *", "minute `5-59,0-1` in place of `5-1`, as ranges go forwards"),
            ("0 22-2 * * *", "hour `22-23,0-2` in place of `22-2`"),
            ("0 6,23-0 * * *", "hour `23,0` in place of `23-0`"),
            ("0 0 28-3 * *", "day of the month `28-31,1-3` in place of `28-3`"),
            ("0 0 1 nov-feb *", "month `nov-dec,jan-feb` in place of `nov-feb`"),
            ("0 0 1 12-1 *", "month `12,1` in place of `12-1`"),
            ("0 0 * * sat-sun", "weekday `sat,sun` in place of `sat-sun`"),
            ("0 0 * * Fri-mon", "weekday `fri-sat,sun-mon` in place of `Fri-mon`"),
            ("0 0 * * 5-1", "weekday `5-6,0-1` in place of `5-1`"),
            ("0 0 * * 7-1", "weekday `6,0-1` in place of `7-1`"),
            ("30-5/2 * * * *", "minute from 0 to 59 in place of `30-5/2`"),
            ("*/0 * * * *", "minute"),
            ("+5 * * * *", "minute"),
            ("*/+5 * * * *", "minute"),
            ("1,,2 * * * *", "minute"),
            ("1.5 * * * *", "minute"),
        ];
        for (text, expected) in bad {
            let Err(TimetableError::Written(found)) = text.parse::<Timetable>() else { panic!("{text}") };
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
            assert_eq!(text.parse::<Timetable>(), Err(TimetableError::NeverComes), "{text}");
        }
    }

    #[test]
    fn a_number_with_a_step_goes_on_to_the_end() {
        let times = |text: &str| text.parse::<Timetable>().unwrap();
        assert_eq!(times("5/20 * * * *"), times("5,25,45 * * * *"));
        assert_eq!(times("0 0 * * 7"), times("@weekly"));
    }
}
