//! `phasm plugin test` and `phasm plugin dev`.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use crate::bench::Bench;

/// A guest that does what its first input says, with inputs up to `most`, and these members of a manifest.
fn as_told(most: u32, more: &str) -> Bench {
    let bench = Bench::new();
    bench.guest("as-told");
    bench.write("plugins/as-told.toml", manifest(most, more));
    bench
}

fn manifest(most: u32, more: &str) -> String {
    format!(
        "name = \"as-told\"\n{more}\n[inputs]\ntype = \"object\"\nrequired = [\"told\"]\n\
         properties.told = {{ type = \"integer\", minimum = 0, maximum = {most} }}\n"
    )
}

const EXAMPLES: &str = "deterministic = true\ncodes = [{ code = 2, meaning = \"As told.\" }]\n\
    examples = [{ name = \"is fine\", inputs = { told = 0 } }, { name = \"fails\", inputs = { told = 2 }, code = 2 }]";

/// R-L126: a plugin that does what its manifest says passes, and the report says how large and how fast it is.
#[test]
fn a_plugin_that_keeps_its_word_passes() {
    let bench = as_told(6, EXAMPLES);
    bench.write("data/in.txt", "");
    bench.write("phasm.toml", "[grants.as-told]\ndirs = [{ host = \"data\", guest = \"/data\" }]\n");
    let test = ["plugin", "test", "as-told", "--config", "phasm.toml", "--junit", "report.xml"];
    let ran = bench.phasm(&test);
    assert_eq!(ran.status, 0, "{ran:?}");
    for says in [
        "✓ example: is fine  code 0",
        "✓ codes: code 2 (As told.)",
        "✓ deterministic: fails",
        "✓ time: ends when it is cancelled",
        "✓ inputs: told: largest number  code 6",
        "✓ grants: is fine, without the directory /data",
        "– manifest: describes its outputs",
        "as-told: ",
        " 0 failed, 1 skipped",
        "first compile",
        "works with ",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
    let report = std::fs::read_to_string(bench.path("report.xml")).unwrap();
    assert!(report.starts_with("<?xml") && report.trim_end().ends_with("</testsuites>"), "{report}");
    assert!(
        report.contains("<testsuite name=\"example\" tests=\"2\" failures=\"0\" skipped=\"0\">")
            && report.contains("classname=\"as-told.inputs\""),
        "{report}"
    );
    let ran = bench.phasm(&["plugin", "test", "as-told", "--json"]);
    let view = ran.json();
    assert!(
        view["figures"]["bytes"].as_u64() > Some(1000) && view["figures"]["warmCallMs"].is_number(),
        "{view}"
    );
    let checks = view["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["verdict"] != "failed" && check["group"] != "grants"), "{view}");
}

/// R-L126: each broken promise is a failure that says what was expected.
#[test]
fn broken_promises_fail() {
    let wrong = "codes = [{ code = 2, meaning = \"As told.\" }, { code = 5, meaning = \"Never.\" }]\n\
        outputs = { type = \"object\", required = [\"digest\"], properties = { digest = { type = \"string\" } } }\n\
        examples = [{ name = \"other\", inputs = { told = 2 }, code = 4 }, { name = \"bare\", inputs = { told = 0 } },\n\
        { name = \"large\", inputs = { told = 70 } }, { name = \"traps\", inputs = { told = 7 }, code = 3, message = \"disk\" }]";
    let ran = as_told(9, wrong).phasm(&["plugin", "test", "as-told"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    for says in [
        "✗ example: other\n    expected code 4, got code 2",
        "✗ example: bare\n    output: nothing for `digest`; expected a value",
        "✗ manifest: inputs of large\n    input told: expected at most 9",
        "✗ manifest: code of other\n    code 4 is not among `codes`",
        "✗ example: traps\n    expected a message with \"disk\"",
        "✗ codes: code 5 (Never.)\n    no example leads to it",
        "– example: succeeds",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
    // A guest that computes for ever, or traps, on an input that its manifest allows.
    let endless = as_told(9, EXAMPLES).phasm(&["plugin", "test", "as-told", "--timeout", "500ms"]);
    assert_eq!(endless.status, 1, "{endless:?}");
    assert!(
        endless.stdout.contains("✗ inputs: told: largest number\n    it did not end in its time"),
        "{endless:?}"
    );
    let traps = as_told(7, EXAMPLES).phasm(&["plugin", "test", "as-told"]);
    assert!(traps.stdout.contains("it trapped instead of returning an outcome"), "{traps:?}");
    let none = as_told(6, "").phasm(&["plugin", "test", "as-told"]);
    assert!(none.status == 1 && none.stdout.contains("✗ manifest: has examples"), "{none:?}");
    let misspelt = as_told(6, "examples = [{ input = { told = 0 } }]").phasm(&["plugin", "test", "as-told"]);
    assert_eq!(misspelt.status, 1, "{misspelt:?}");
    assert!(misspelt.stderr.contains("examples[0]: unknown field `input`"), "{misspelt:?}");
    assert_eq!(as_told(6, EXAMPLES).phasm(&["plugin", "test", "unknown"]).status, 2);
}

/// R-L127: a plugin is called again when its files are saved, and a failure ends nothing.
#[test]
fn a_plugin_is_called_whenever_it_is_saved() {
    let bench = as_told(6, EXAMPLES);
    let mut dev = bench.command(&["plugin", "dev", "plugins/as-told.wasm", "-i", "told=5"]);
    let mut dev = dev.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(dev.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |part: &str| {
        let seen: Vec<_> = lines.by_ref().take_while(|line| !line.contains(part)).collect();
        seen.join("\n")
    };
    let first = until("waiting for a change");
    assert!(first.contains("as-told"), "{first}");
    bench.write("plugins/as-told.toml", manifest(4, EXAMPLES));
    let second = until("waiting for a change");
    assert!(second.contains("expected at most 4"), "{second}");
    bench.write("plugins/as-told.toml", manifest(6, EXAMPLES));
    let third = until("waiting for a change");
    assert!(third.contains("as-told") && !third.contains("at most"), "{third}");
    let id = rustix::process::Pid::from_child(&dev);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(dev.wait().unwrap().code(), Some(130));
}

/// R-L125: codes and examples are part of the page.
#[test]
fn the_page_has_examples() {
    let ran = as_told(6, EXAMPLES).phasm(&["plugin", "docs", "as-told"]);
    for says in [
        "## Codes\n\n- 2: As told.\n",
        "The same inputs always have the same outcome.",
        "fails:\n\n```yaml\ninputs: {\"told\":2}\ncode: 2\n```\n",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
    assert_eq!(ran.status, 0);
}
