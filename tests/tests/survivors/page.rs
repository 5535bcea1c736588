//! The verdicts, as the table in the suite's README.

use std::{env, fs, path::Path};

use super::case::Case;

const BEGIN: &str = "<!-- cases -->\n";
const END: &str = "<!-- end -->";

/// The README lists every case as it is written, and where this host survives it, which the cases then show; `PHASM_ACCEPT=1` has it do
/// so.
pub(crate) fn check(suite: &Path, cases: &[Case]) {
    let file = suite.join("README.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let rows: String = cases
        .iter()
        .map(|case| {
            let Case { name, does, comes, tiers, .. } = case;
            format!("| [{name}]({name}.wat) | {does} | {comes} | {} |\n", tiers.join(", "))
        })
        .collect();
    let head = "| case | what it does | what must come of it | this host survives |\n|---|---|---|---|\n";
    let expected = format!("{before}{BEGIN}{head}{rows}{END}{after}");
    if env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == expected,
        "{} is stale; run with PHASM_ACCEPT=1",
        file.display()
    );
}
