//! The pages about security: each promise names tests that there are, each advisory is fixed in what this is built of.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use phasm_tests::hostile;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/docs/understand")
}

fn page(name: &str) -> String {
    fs::read_to_string(docs().join(name)).unwrap()
}

/// Links of a text: what stands in brackets, and where it leads.
fn links(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split('[').skip(1).filter_map(|part| part.split_once("](")).map(|(name, rest)| {
        let (target, _) = rest.split_once(')').unwrap();
        (name.trim_matches('`'), target)
    });
    parts.collect()
}

/// The rows of tables that have something in their last column.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("|---"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

fn is_case(name: &str) -> bool {
    docs().join("../../../tests/hostile").join(format!("{name}.wat")).is_file()
}

/// Every promise is held by tests, and these are there.
#[test]
fn each_promise_is_held_by_a_test() {
    let text = page("security.md");
    let (_, promises) = text.split_once("## Guarantees").unwrap();
    let (promises, _) = promises.split_once("## No guarantees").unwrap();
    let mut tests = 0;
    for row in rows(promises).filter(|row| row.last() != Some(&"held by")) {
        let [promise, held] = row.as_slice() else { panic!("{row:?}") };
        let found = links(held);
        assert!(!found.is_empty(), "nothing holds: {promise}");
        for (name, target) in found {
            let file =
                fs::read_to_string(docs().join(target)).unwrap_or_else(|error| panic!("{target}: {error}"));
            let is_there = match target.rsplit('.').next() {
                Some("rs") => file.contains(&format!("fn {name}(")),
                Some("wat") => target.ends_with(&format!("/{name}.wat")) && is_case(name),
                _ => true,
            };
            assert!(is_there, "{name} is not in {target}");
            tests += 1;
        }
    }
    assert!(tests > 40, "{tests} tests");
}

/// `1.2.3` of a package in `Cargo.lock`.
fn locked(package: &str) -> String {
    let lock = fs::read_to_string(docs().join("../../../Cargo.lock")).unwrap();
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|number| number.parse().unwrap()).collect()
}

/// The page is about the versions that this is built of.
#[test]
fn the_page_is_about_what_is_built() {
    let text = page("advisories.md");
    for package in ["wasmtime", "cap-primitives"] {
        let (_, rest) = text.split_once(&format!("<!-- {package} -->")).unwrap();
        assert_eq!(rest.split_once("<!-- end -->").unwrap().0, locked(package), "{package}");
    }
    for package in ["wasmtime-wasi", "wasmtime-wasi-http", "wasmtime-wasi-io", "wasmtime-environ"] {
        assert_eq!(locked(package), locked("wasmtime"), "{package}");
    }
}

/// Each advisory has a number, is fixed in what this is built of, and says which hostile guests it is about.
#[test]
fn each_advisory_is_fixed_and_tried() {
    let text = page("advisories.md");
    let is_number =
        |word: &str| ["RUSTSEC-20", "GHSA-", "CVE-20"].iter().any(|begin| word.starts_with(begin));
    let (mut seen, mut cases) = (BTreeSet::new(), 0);
    for row in rows(&text).filter(|row| row.len() == 5 && row.first() != Some(&"advisory")) {
        let [advisory, _, fixed, here, of] = row.as_slice() else { panic!("{row:?}") };
        let own: Vec<_> = advisory.split([',', ';']).map(str::trim).collect();
        assert!(own.iter().all(|number| is_number(number)), "{advisory}");
        own.iter().for_each(|number| assert!(seen.insert((*number).to_owned()), "{number} twice"));
        // A vulnerability that is not fixed yet must not be reachable here, or has a test.
        let is_fixed = numbers(fixed) <= numbers(&locked("wasmtime"));
        let is_away = here.starts_with("no: ") || here.starts_with("held off: ") && !of.is_empty();
        assert!(is_away || is_fixed && here.starts_with("fixed"), "{advisory} is fixed in {fixed}: {here}");
        for case in of.split(", ").filter(|case| !case.is_empty()) {
            assert!(is_case(case.trim_matches('`')), "{case}");
            cases += 1;
        }
    }
    assert!(seen.len() > 60 && cases > 25, "{} numbers, {cases} cases", seen.len());
    for case in hostile::cases(&docs().join("../../../tests/hostile")).unwrap() {
        let text = case.guest;
        let named = text.split([' ', '(', ')', ',', '.', '\n']).filter(|word| word.starts_with("RUSTSEC-"));
        named.for_each(|number| {
            assert!(seen.contains(number), "{number} of {} is on the page", case.name);
        });
    }
}
