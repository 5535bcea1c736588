//! Durations (seed 003, R-U1 to R-U3): whatever is written by the grammar reads as its sum, and one slip is refused
//! where it stands.

use phasm_engine::duration::{MAX_MILLIS, parse};
use phasm_tests::fuzz;
use proptest::{prelude::*, sample::Index};

const UNITS: [(&str, u64); 23] = [
    ("milliseconds", 1),
    ("millisecond", 1),
    ("millis", 1),
    ("milli", 1),
    ("ms", 1),
    ("seconds", 1000),
    ("second", 1000),
    ("secs", 1000),
    ("sec", 1000),
    ("s", 1000),
    ("minutes", 60_000),
    ("minute", 60_000),
    ("mins", 60_000),
    ("min", 60_000),
    ("m", 60_000),
    ("hours", 3_600_000),
    ("hour", 3_600_000),
    ("hrs", 3_600_000),
    ("hr", 3_600_000),
    ("h", 3_600_000),
    ("days", 86_400_000),
    ("day", 86_400_000),
    ("d", 86_400_000),
];

/// A pair as written: space, number with leading zeros, space, unit.
#[derive(Clone, Debug)]
struct Pair {
    space: String,
    number: u64,
    digits: String,
    between: String,
    unit: &'static str,
    length: u64,
}

impl Pair {
    fn text(&self) -> String {
        let Self { space, digits, between, unit, .. } = self;
        format!("{space}{digits}{between}{unit}")
    }
}

prop_compose! {
    fn pair()(
        space in "[ \t\n\r]{0,3}", number in 0..100_000_u64, zeros in 0..3_usize, between in "[ \t\n\r]{0,3}",
        unit in any::<Index>(),
    ) -> Pair {
        let (unit, length) = UNITS[unit.index(UNITS.len())];
        Pair { space, number, digits: format!("{}{number}", "0".repeat(zeros)), between, unit, length }
    }
}

fn pairs() -> impl Strategy<Value = Vec<Pair>> {
    prop::collection::vec(pair(), 1..8)
}

fn text(pairs: &[Pair]) -> String {
    pairs.iter().map(Pair::text).collect()
}

/// Text to write into a duration so that it is none, and how far behind the place the fault is.
#[derive(Clone, Debug)]
enum Slip {
    /// Before a number.
    Sign(char),
    /// Behind a number.
    Fraction(String),
    /// In place of a unit.
    Unit(String),
    /// Behind everything.
    NumberAlone(String),
    /// Before a pair.
    UnitAlone(&'static str),
    /// In place of a number.
    Overflow,
}

fn slip() -> impl Strategy<Value = Slip> {
    prop_oneof![
        prop::sample::select(vec!['-', '+']).prop_map(Slip::Sign),
        "[.,][0-9]{0,3}".prop_map(Slip::Fraction),
        "weeks?|w|y|us|µs|ns|S|MS|H|Min|DAYS|mss|hs|[a-z]{3,5}x|\\p{L}s?|[!-*/:-@−]"
            .prop_filter("no unit", not_a_unit)
            .prop_map(Slip::Unit),
        " ?[0-9]{1,5} ?".prop_map(Slip::NumberAlone),
        prop::sample::select(vec!["s", "min", "days"]).prop_map(Slip::UnitAlone),
        Just(Slip::Overflow),
    ]
}

fn not_a_unit(word: &String) -> bool {
    UNITS.iter().all(|(unit, _)| unit != word)
}

/// The text with a slip at the pair `at`, and the byte at which it must be noticed at the latest.
fn spoiled(pairs: &[Pair], at: usize, slip: &Slip) -> (String, usize) {
    let (before, after) = (text(&pairs[..at]), text(&pairs[at + 1..]));
    let Pair { space, digits, between, unit, .. } = &pairs[at];
    let number = before.len() + space.len();
    match slip {
        Slip::Sign(sign) => (format!("{before}{space}{sign}{digits}{between}{unit}{after}"), number),
        Slip::Fraction(fraction) => {
            (format!("{before}{space}{digits}{fraction}{between}{unit}{after}"), number + digits.len())
        }
        Slip::Unit(wrong) => {
            let place = number + digits.len() + between.len();
            (format!("{before}{space}{digits}{between}{wrong}{after}"), place)
        }
        Slip::NumberAlone(number) => {
            let all = text(pairs);
            let place = all.len() + number.len() - number.trim_start().len();
            (format!("{all}{number}"), place)
        }
        Slip::UnitAlone(word) => (format!("{before} {word} {}{after}", pairs[at].text()), before.len() + 1),
        Slip::Overflow => (format!("{before}{space}{MAX_MILLIS}0{between}{unit}{after}"), number),
    }
}

proptest! {
    #[test]
    fn pairs_add_up(pairs in pairs(), end in "[ \t\n\r]{0,3}") {
        let total: u64 = pairs.iter().map(|pair| pair.number * pair.length).sum();
        prop_assert_eq!(parse(&format!("{}{end}", text(&pairs))), Ok(total));
    }

    #[test]
    fn a_number_standing_alone_is_milliseconds(number in 0..=MAX_MILLIS, zeros in "0{0,30}", space in "[ \t]{0,2}") {
        prop_assert_eq!(parse(&format!("{space}{zeros}{number}{space}")), Ok(number));
    }

    #[test]
    fn one_slip_is_refused_where_it_stands(pairs in pairs(), at in any::<Index>(), slip in slip()) {
        let (text, place) = spoiled(&pairs, at.index(pairs.len()), &slip);
        let error = parse(&text).unwrap_err();
        prop_assert_eq!(error.offset, place, "{:?}: {}", text, error);
        prop_assert!(error.to_string().contains("expected") || matches!(slip, Slip::NumberAlone(_)), "{}", error);
    }

    /// The bound is 2^63 − 1 ms in all, not one more.
    #[test]
    fn the_longest_is_a_bound_of_the_sum(first in 0..=MAX_MILLIS, more in 1..1000_u64) {
        let rest = MAX_MILLIS - first;
        prop_assert_eq!(parse(&format!("{first}ms {rest} millis")), Ok(MAX_MILLIS));
        let error = parse(&format!("{first}ms {}ms", rest + more)).unwrap_err();
        prop_assert_eq!(error.offset, format!("{first}ms ").len());
    }

    #[test]
    fn any_text_is_read_as_the_grammar_says(text in "\\PC{0,30}|[0-9hmsd .+-]{0,24}|([0-9]{1,3} ?(ms|s|m|h|d|x) ?){1,5}") {
        fuzz::duration(text.as_bytes());
    }
}
