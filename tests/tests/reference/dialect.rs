//! The table of the dialects' differences, which the engine holds.

use std::{fs, path::Path};

use phasm_engine::document::{DIFFERENCES, Difference};

/// Rows that the table has at most.
const MAX_ROWS: usize = 10;

const HEAD: &str = "| | `aether/v1` | `phasm/v1` |\n|---|---|---|\n";

/// R-W21. `PHASM_ACCEPT=1` rewrites the table of the page.
#[test]
fn the_page_has_the_table_of_the_engine() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/reference/dialect.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(HEAD).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let row =
        |Difference { about, aether, phasm, .. }: &Difference| format!("| {about} | {aether} | {phasm} |\n");
    let table: String = DIFFERENCES.iter().map(row).collect();
    let expected = format!("{before}{HEAD}{table}\n{after}");
    assert!(DIFFERENCES.len() <= MAX_ROWS, "{} rows", DIFFERENCES.len());
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "stale; run this test with PHASM_ACCEPT=1");
    }
}
