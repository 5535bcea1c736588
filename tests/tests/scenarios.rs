//! Every scenario file against its golden trace. `UPDATE_GOLDEN=1` rewrites the traces.
#![expect(clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use phasm_tests::scenario::run_scenario;

fn scenarios(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of scenarios") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn scenarios_leave_their_golden_traces() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files = Vec::new();
    scenarios(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no scenario under {}", root.display());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let golden = file.with_extension("trace");
        match run_scenario(&file) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(trace) if update => std::fs::write(&golden, trace).expect("the trace is written"),
            Ok(trace) => {
                let expected = std::fs::read_to_string(&golden).unwrap_or_default();
                if trace != expected {
                    wrong.push(format!("{name}: expected\n{expected}but got\n{trace}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
