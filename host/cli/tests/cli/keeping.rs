//! `phasm prune`, `backup` and `abandon`, and finding runs again.

use serde_json::json;

use crate::bench::{Bench, Ran};

fn on_store(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.phasm(&[arguments, &["--store", "runs.db"]].concat())
}

fn listed(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let all = on_store(bench, &[&["list", "--json"], arguments].concat()).json();
    all.as_array().unwrap().iter().map(|row| row["runID"].as_str().unwrap().to_owned()).collect()
}

fn finish(bench: &Bench, times: usize) {
    bench.task("code.yaml", "code", "");
    for _ in 0..times {
        assert_eq!(on_store(bench, &["run", "code.yaml"]).status, 0);
    }
}

/// R-H17.
#[test]
fn runs_that_have_ended_are_deleted_by_age_and_number() {
    let bench = Bench::new();
    finish(&bench, 3);
    bench.task("ask.yaml", "suspend", "");
    assert_eq!(on_store(&bench, &["run", "ask.yaml"]).status, 6);
    let all = listed(&bench, &[]);
    let neither = on_store(&bench, &["prune"]);
    assert_eq!(neither.status, 2, "{neither:?}");
    assert!(neither.stderr.contains("--older-than DURATION"), "{neither:?}");
    let young = on_store(&bench, &["prune", "--older-than", "1h", "--json"]);
    assert_eq!(young.json(), json!({"deleted": 0}), "{young:?}");
    let dry = on_store(&bench, &["prune", "--keep", "1", "--dry-run"]);
    assert_eq!((dry.status, dry.stdout), (0, format!("{}\n{}\n", all[3], all[2])));
    let other = on_store(&bench, &["prune", "--keep", "0", "--namespace", "other", "--json"]);
    assert_eq!(other.json(), json!({"deleted": 0}), "{other:?}");
    let pruned = on_store(&bench, &["prune", "--keep", "1"]);
    assert_eq!((pruned.status, pruned.stderr.as_str()), (0, "2 runs deleted\n"));
    assert_eq!(listed(&bench, &[]), all[..2], "the open one stays");
}

/// R-H17: without options, the configuration says.
#[test]
fn runs_are_deleted_as_configured() {
    let bench = Bench::new();
    finish(&bench, 3);
    bench.write(
        "keep.toml",
        "[retention]\nage = \"1h\"\n[retention.namespaces]\ndefault = { count = 1 }\nother = { count = 0 }\n",
    );
    let other = on_store(&bench, &["prune", "--config", "keep.toml", "--namespace", "other", "--json"]);
    assert_eq!(other.json(), json!({"deleted": 0}), "{other:?}");
    let pruned = on_store(&bench, &["prune", "--config", "keep.toml"]);
    assert_eq!((pruned.status, pruned.stderr.as_str()), (0, "2 runs deleted\n"), "{pruned:?}");
    bench.write("bad.toml", "[retention]\nage = \"long\"\ncounts = 3\n");
    let refused = on_store(&bench, &["prune", "--config", "bad.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    for said in ["bad.toml:2:7", "bad.toml:3:1", "count"] {
        assert!(refused.stderr.contains(said), "{said}: {refused:?}");
    }
}

#[test]
fn a_copy_holds_what_was_recorded() {
    let bench = Bench::new();
    finish(&bench, 1);
    let copied = on_store(&bench, &["backup", "copy.db"]);
    assert_eq!(copied.status, 0, "{copied:?}");
    let [one, other] =
        ["runs.db", "copy.db"].map(|store| bench.phasm(&["list", "--json", "--store", store]).stdout);
    assert_eq!(one, other);
    let again = on_store(&bench, &["backup", "copy.db"]);
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.stderr.contains("copy.db exists already"), "{again:?}");
}

/// R-H18.
#[test]
fn a_run_whose_journal_is_damaged_is_abandoned_and_deleted() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    assert_eq!(on_store(&bench, &["run", "ask.yaml"]).status, 6);
    let file = rusqlite::Connection::open(bench.path("runs.db")).unwrap();
    file.execute("UPDATE journal SET time = time + 1 WHERE first_seq = 0", []).unwrap();
    drop(file);
    assert_eq!(on_store(&bench, &["get", "@last"]).status, 3);
    let abandoned = on_store(&bench, &["abandon", "@last"]);
    assert_eq!(abandoned.status, 0, "{abandoned:?}");
    assert!(abandoned.stderr.contains("the reason is not recorded"), "{abandoned:?}");
    assert_eq!(on_store(&bench, &["recover"]).status, 0);
    assert_eq!(on_store(&bench, &["abandon", "@last"]).status, 2);
    assert_eq!(on_store(&bench, &["prune", "--keep", "0"]).stderr, "1 run deleted\n");
}

#[test]
fn runs_are_found_by_label_and_in_pages() {
    let bench = Bench::new();
    finish(&bench, 3);
    let labelled = std::fs::read_to_string(bench.path("code.yaml")).unwrap();
    let labelled = labelled.replacen("metadata: { ", "metadata: { labels: { team: data }, ", 1);
    assert!(labelled.contains("team: data"), "{labelled}");
    bench.write("labelled.yaml", labelled);
    assert_eq!(on_store(&bench, &["run", "labelled.yaml"]).status, 0);
    let all = listed(&bench, &[]);
    assert_eq!(listed(&bench, &["--label", "team=data"]), all[..1]);
    assert!(listed(&bench, &["--label", "team=other"]).is_empty());
    let page = on_store(&bench, &["list", "--limit", "2"]);
    assert_eq!(page.stderr, format!("there may be more: add --before {}\n", all[1]));
    assert_eq!(listed(&bench, &["--limit", "2", "--before", &all[1]]), all[2..]);
}
