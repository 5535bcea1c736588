//! The server does what the document of the API says: schemathesis sends valid and invalid requests, and checks every
//! response. Streams and long waits are left out there (`hooks.py`); they have tests of their own.
//!
//! `PHASM_CONTRACT=1000` sends so many requests of a kind instead of 20, `PHASM_CONTRACT_SEED` others.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[expect(dead_code, reason = "other tests do more")]
#[path = "../cli/bench.rs"]
mod bench;
#[path = "../../../src/store/tests/server.rs"]
#[expect(dead_code, reason = "other tests ask it")]
mod server;
mod serving;

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use serving::Serving;

/// Checks of every response: all there are, except that removed things stay away, as another client may put them again.
const NOT_CHECKED: &str = "use_after_free,ensure_resource_availability";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Where it is installed: `.ci/run` does that.
fn schemathesis() -> Option<PathBuf> {
    let path = root().join("target/schemathesis/bin/schemathesis");
    if path.exists() {
        return Some(path);
    }
    let said = format!("the API's document was left out: no {} (of the PyPI package)\n", path.display());
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    None
}

fn number(name: &str, usual: u32) -> u32 {
    env::var(name).ok().map_or(usual, |text| text.parse().unwrap())
}

/// Tries what a key may do, and what it may not.
fn check(serving: &Serving, key: &str, examples: u32) {
    let Some(schemathesis) = schemathesis() else { return };
    let config = serving.config();
    let ran = Command::new(schemathesis)
        .args(["--config-file".as_ref(), config.as_os_str()])
        .args(["run", &format!("{}/v1/openapi.json", serving.url), "--no-color", "--checks", "all"])
        .args(["--exclude-checks", NOT_CHECKED, "--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--header", &format!("Authorization: Bearer {key}")])
        .args(["--max-examples", &examples.to_string(), "--generation-database", "none"])
        .args(["--seed", &number("PHASM_CONTRACT_SEED", 1).to_string(), "--request-timeout", "20"])
        // R-A2: no text may have U+0000, which the document cannot say; tests of that are in the server's.
        .args(["--generation-allow-x00", "false"])
        .args(["--suppress-health-check", "all", "--continue-on-failure", "--no-shrink"])
        .current_dir(serving.dir())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let cases = said.lines().find(|line| line.contains("generated,")).unwrap_or_default().trim();
    std::io::stderr().write_all(format!("the API's document: {cases}\n").as_bytes()).unwrap();
}

/// R-A100: of a file, for each role.
#[test]
fn a_server_of_a_file_does_what_the_document_says() {
    let serving = Serving::start("runs.db");
    let examples = number("PHASM_CONTRACT", 20);
    for (role, examples) in [("admin", examples), ("run", examples / 4), ("read", examples / 4)] {
        check(&serving, &serving.key(role, role, &[]), examples);
    }
    check(&serving, &serving.key("bound", "admin", &["default", "other"]), examples / 4);
}

/// R-A100: of a database.
#[test]
fn a_server_of_a_database_does_what_the_document_says() {
    let Some(server) = server::server() else { return };
    let serving = Serving::start(&server.url("contract"));
    let examples = number("PHASM_CONTRACT", 20) / 2;
    check(&serving, &serving.key("admin", "admin", &[]), examples);
    check(&serving, &serving.key("bound", "run", &["default", "other"]), examples / 2);
}
