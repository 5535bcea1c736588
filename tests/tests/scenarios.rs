//! Every scenario against the trace in its file. `PHASM_ACCEPT=1` rewrites the traces.
#![expect(clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use phasm_tests::scenario::{expected_trace, run_scenario, with_trace};

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
    let update = std::env::var_os("PHASM_ACCEPT").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let text = std::fs::read_to_string(&file).expect("a scenario");
        match run_scenario(&file) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(trace) if update => {
                std::fs::write(&file, with_trace(&text, &trace)).expect("the trace is written");
            }
            Ok(trace) => {
                let expected = expected_trace(&text);
                if trace != expected {
                    wrong.push(format!("{name}: expected\n{expected}but got\n{trace}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_trace_is_read_as_it_is_written() {
    let trace = "      0 run submitted\n\nrerun\n     10 run Succeeded\n";
    let text = with_trace("about: x\n", trace);
    assert_eq!(text, "about: x\n\ntrace: |2\n        0 run submitted\n\n  rerun\n       10 run Succeeded\n");
    assert_eq!(expected_trace(&text), trace);
    assert_eq!(with_trace(&with_trace(&text, "other\n"), trace), text);
}
