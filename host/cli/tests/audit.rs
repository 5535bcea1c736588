//! The main job through the real binary, its numbers checked against what cargo itself says of this repository.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Cargo's metadata for every package in `Cargo.lock`.
fn metadata() -> Value {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--all-features", "--locked", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    serde_json::from_slice(&cargo.stdout).unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The audit's findings, as cargo would report them.
fn expected(metadata: &Value, top: usize) -> Value {
    let packages = list(metadata, "packages");
    let names: BTreeMap<&str, &str> = packages.iter().map(|p| (text(p, "id"), text(p, "name"))).collect();
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let source = package.get("source").and_then(Value::as_str).unwrap_or("workspace");
        *sources.entry(source).or_default() += 1;
        versions.entry(text(package, "name")).or_default().insert(text(package, "version"));
    }
    let mut dependants: BTreeMap<&str, usize> = BTreeMap::new();
    for node in metadata.get("resolve").map_or(&[][..], |resolve| list(resolve, "nodes")) {
        let direct: BTreeSet<&str> = list(node, "dependencies")
            .iter()
            .filter_map(Value::as_str)
            .filter_map(|id| names.get(id).copied())
            .collect();
        for name in direct {
            *dependants.entry(name).or_default() += 1;
        }
    }
    let mut sources: Vec<_> = sources.into_iter().collect();
    sources.sort_by_key(|(source, count)| (usize::MAX - count, *source));
    let mut several: Vec<_> = versions.into_iter().filter(|(_, versions)| versions.len() > 1).collect();
    several.sort_by_key(|(name, versions)| (usize::MAX - versions.len(), *name));
    let mut depended: Vec<_> = dependants.into_iter().collect();
    depended.sort_by_key(|(name, count)| (usize::MAX - count, *name));
    depended.truncate(top);
    json!({
        "bySource": sources.iter().map(|(source, n)| json!({"source": source, "packages": n})).collect::<Vec<_>>(),
        "severalVersions": several.iter().map(|(name, v)| json!({"name": name, "versions": v})).collect::<Vec<_>>(),
        "mostDependedOn": depended.iter().map(|(name, n)| json!({"name": name, "dependants": n})).collect::<Vec<_>>(),
        "missingChecksums": [],
    })
}

#[test]
fn the_audit_reports_what_cargo_reports() {
    let reports = tempfile::tempdir().unwrap();
    let repository = repository();
    let config = reports.path().join("audit.toml");
    let quoted = |path: &Path| format!("'{}'", path.display());
    let grants = format!(
        "[grants.file]\ndirs = [{{ host = {}, guest = \"/repo\", mode = \"ro\" }}, {{ host = {}, guest = \"/reports\", \
         mode = \"rw\" }}]\n[vars]\nreports = {}\n",
        quoted(&repository),
        quoted(reports.path()),
        quoted(reports.path()),
    );
    std::fs::write(&config, grants).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_phasm"))
        .args(["run", "host/examples/dependency-audit.yaml", "--json", "-p", "top=25", "--config"])
        .arg(&config)
        .current_dir(&repository)
        .env_remove("PHASM_STORE")
        .env_remove("PHASM_PLUGINS")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let view: Value = serde_json::from_slice(&run.stdout).unwrap();
    let output = |name: &str| {
        let found = list(&view, "outputs").iter().find(|output| text(output, "name") == name);
        found.and_then(|output| output.get("value")).cloned().unwrap_or_default()
    };
    let metadata = metadata();
    assert_eq!(output("packages"), json!(list(&metadata, "packages").len()));
    assert_eq!(output("findings"), expected(&metadata, 25));

    let task = |name: &str| list(&view, "tasks").iter().find(|task| text(task, "taskName") == name).unwrap();
    assert_eq!((text(task("advisories"), "phase"), &task("advisories")["retries"]), ("Succeeded", &json!(2)));
    assert_eq!((text(task("mirror"), "phase"), &task("mirror")["code"]), ("Timeout", &json!(4)));

    let markdown = std::fs::read_to_string(reports.path().join("dependency-audit.md")).unwrap();
    let html = std::fs::read_to_string(reports.path().join("dependency-audit.html")).unwrap();
    let total = list(&metadata, "packages").len();
    assert!(markdown.contains(&format!("holds {total} packages.")), "{markdown}");
    assert!(markdown.contains("- advisories: Succeeded after 2 retries"), "{markdown}");
    assert!(html.contains(&format!("holds {total} packages.")) && html.ends_with("</html>\n"), "{html}");
}
