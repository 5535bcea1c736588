//! The rules hold for the repository: no figure is above its limit.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;

use phasm_tidy::{figures::figures, source::root};

/// Most places of each figure. The second number is the aim: a limit goes down to it and never up.
const LIMITS: [(&str, usize, usize); 8] = [
    ("modules directly in host/src", 20, 20),
    ("modules directly in host/cli/src", 18, 25),
    ("files of the library above 500 lines", 0, 0),
    ("types named by a participle", 1, 10),
    ("parameters packed into tuples", 0, 0),
    ("lines against the language rule", 0, 0),
    ("circles of files", 0, 0),
    ("impl blocks outside the folder of their type", 0, 0),
];

#[test]
fn no_figure_is_above_its_limit() {
    let mut report = String::new();
    let figures = figures(&root()).unwrap();
    assert_eq!(figures.iter().map(|one| one.name).collect::<Vec<_>>(), LIMITS.map(|(name, ..)| name));
    for (figure, (name, limit, _)) in figures.iter().zip(LIMITS) {
        let count = figure.places.len();
        if count > limit {
            writeln!(report, "{count} {name}, at most {limit}:\n  {}", figure.places.join("\n  ")).unwrap();
        }
    }
    assert!(report.is_empty(), "{report}");
}
